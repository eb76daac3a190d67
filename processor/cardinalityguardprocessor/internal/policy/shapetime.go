package policy

import "strings"

// findTime looks for times: digits in the range of this century's seconds or milliseconds, or RFC 3339.
func (set shapeSet) findTime(text string) Shape {
	switch {
	case set.has(shapeSeconds) && isEpoch(text, 10):
		return shapeSeconds
	case set.has(shapeMillis) && isEpoch(text, 13):
		return shapeMillis
	case set.has(shapeRFC3339) && isRFC3339(text):
		return shapeRFC3339
	}
	return noShape
}

// isEpoch wants so many digits for a time from September 2001 to the year 2100, and perhaps a fraction.
func isEpoch(text string, digits int) bool {
	if len(text) < digits || len(text) > 32 || text[:2] < "10" || text[:2] > "40" {
		return false
	}
	for i := range len(text) {
		switch {
		case i == digits:
			if text[i] != '.' || i+1 == len(text) {
				return false
			}
		case !isDigit(text[i]):
			return false
		}
	}
	return true
}

// isRFC3339 wants a date and a time of day, which may lack seconds or a zone.
func isRFC3339(text string) bool {
	const form = "0000-00-00T00:00"
	if len(text) < len(form) || len(text) > 48 || !follows(text, form) {
		return false
	}
	rest := text[len(form):]
	if len(rest) >= 3 && follows(rest, ":00") {
		rest = rest[3:]
		if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') && isDigit(rest[1]) {
			rest = strings.TrimLeft(rest[1:], "0123456789")
		}
	}
	rest = strings.TrimPrefix(rest, " ")
	switch {
	case rest == "", rest == "Z", rest == "z", rest == "UTC":
		return true
	case rest[0] == '+' || rest[0] == '-':
		zone := rest[1:]
		return (len(zone) == 5 && follows(zone, "00:00")) || (len(zone) == 4 && follows(zone, "0000"))
	}
	return false
}

// follows says whether a text begins as a form: 0 is any digit, T also a space or small letter.
func follows(text, form string) bool {
	for i := range len(form) {
		c := text[i]
		switch form[i] {
		case '0':
			if !isDigit(c) {
				return false
			}
		case 'T':
			if c != 'T' && c != 't' && c != ' ' {
				return false
			}
		default:
			if c != form[i] {
				return false
			}
		}
	}
	return true
}
