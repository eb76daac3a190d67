package trainrecord

import (
	"math"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Limits of event times: a number below the first is no time, and text beyond the second is refused as one.
var (
	minTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	maxTime = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

	minUnix, maxUnix = minTime.Unix(), maxTime.Unix()
)

// Magnitudes of Unix times: the unit of a number follows from its size, as record.ts says.
const (
	maxSeconds      = 1e11
	maxExactSeconds = 4e9 // where doubles are less than half a microsecond apart
	maxMillis       = 1e14
	maxMicros       = 1e17
)

// maxTimeText is the longest text that may be a time.
const maxTimeText = 48

// ParseTime reads an event time: RFC 3339 with zone, a Unix time as text (seconds, milliseconds, microseconds or nanoseconds
// by magnitude), or one of the forms that loggers write; see parseCivil. Where no zone is written it is loc, nil meaning UTC.
// Times before 1980 or after 2200 are none.
func ParseTime(text string, loc *time.Location) (pcommon.Timestamp, bool) {
	text = strings.TrimSpace(text)
	if ts, ok := parseRFC3339(text); ok {
		return ts, true
	}
	if ts, ok := parseUnix(text); ok {
		return ts, true
	}
	if len(text) > maxTimeText {
		return 0, false
	}
	if loc == nil {
		loc = time.UTC
	}
	return parseCivil(text, loc)
}

// TimeFromValue reads an event time from a string or a number (Unix seconds, milliseconds, microseconds or nanoseconds by
// magnitude).
func TimeFromValue(v pcommon.Value, loc *time.Location) (pcommon.Timestamp, bool) {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return ParseTime(v.Str(), loc)
	case pcommon.ValueTypeInt:
		return unixInt(v.Int())
	case pcommon.ValueTypeDouble:
		return unixFloat(v.Double())
	default:
		return 0, false
	}
}

func timestamp(t time.Time) (pcommon.Timestamp, bool) {
	if t.Before(minTime) || t.After(maxTime) {
		return 0, false
	}
	return pcommon.NewTimestampFromTime(t), true
}

func unixInt(n int64) (pcommon.Timestamp, bool) {
	switch {
	case n < 0:
		return 0, false
	case n < maxSeconds:
		return timestamp(time.Unix(n, 0))
	case n < maxMillis:
		return timestamp(time.UnixMilli(n))
	case n < maxMicros:
		return timestamp(time.UnixMicro(n))
	default:
		return timestamp(time.Unix(0, n))
	}
}

// unixFloat reads a number by its shortest decimal spelling. That of seconds with six decimals at most is exact in microseconds: doubles are
// closer together than those there.
func unixFloat(f float64) (pcommon.Timestamp, bool) {
	if micros := math.Round(f * 1e6); f >= 0 && f < maxExactSeconds && micros/1e6 == f {
		return timestamp(time.UnixMicro(int64(micros)))
	}
	// From 2^30 to 2^31 doubles are 2^-22 apart, so a fraction times ten million is exact, and the nearest whole number has the seven decimals
	// that Python's time.time() is spelled with, unless two are equally near.
	if f >= 1<<30 && f < 1<<31 {
		seconds, fraction := math.Modf(f)
		if tenths := fraction * 1e7; tenths-math.Trunc(tenths) != 0.5 {
			return timestamp(time.Unix(int64(seconds), 100*int64(math.Round(tenths))))
		}
	}
	return parseUnix(strconv.FormatFloat(f, 'f', -1, 64))
}

// parseUnix reads a decimal number exactly: a double has no room for nanoseconds.
func parseUnix(text string) (pcommon.Timestamp, bool) {
	whole, fraction, hasFraction := strings.Cut(text, ".")
	if !allDigits(whole) || hasFraction && !allDigits(fraction) {
		return parseUnixFloat(text)
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return 0, false
	}
	ts, ok := unixInt(n)
	if !ok || !hasFraction {
		return ts, ok
	}
	digits := 9 // of the fraction, in nanoseconds
	switch {
	case n < maxSeconds:
	case n < maxMillis:
		digits = 6
	case n < maxMicros:
		digits = 3
	default:
		digits = 0
	}
	if len(fraction) > digits {
		fraction = fraction[:digits]
	}
	if fraction == "" {
		return ts, true
	}
	f, err := strconv.ParseInt(fraction, 10, 64)
	for i := len(fraction); i < digits; i++ {
		f *= 10
	}
	return ts + pcommon.Timestamp(f), err == nil
}

// parseUnixFloat reads the exponent form, which only a float formatter writes: 1.7960452e9.
func parseUnixFloat(text string) (pcommon.Timestamp, bool) {
	if text == "" || text[0] < '0' || text[0] > '9' {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < 0 || f > math.MaxInt64 {
		return 0, false
	}
	return parseUnix(strconv.FormatFloat(f, 'f', 9, 64))
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// parseRFC3339 reads "2006-01-02T15:04:05[.fraction](Z|+hh:mm)", the form of nearly every line, without allocating.
func parseRFC3339[T string | []byte](s T) (pcommon.Timestamp, bool) {
	if len(s) < len("2006-01-02T15:04:05Z") || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return 0, false
	}
	ok := true
	num := func(from, to int) int {
		n := 0
		for i := from; i < to; i++ {
			c := s[i]
			if c < '0' || c > '9' {
				ok = false
			}
			n = n*10 + int(c-'0')
		}
		return n
	}
	year, month, day := num(0, 4), num(5, 7), num(8, 10)
	hour, minute, sec := num(11, 13), num(14, 16), num(17, 19)
	nanos, i := 0, 19
	if s[i] == '.' {
		start := i + 1
		scale := 100_000_000
		for i = start; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			nanos += int(s[i]-'0') * scale
			scale /= 10
		}
		ok = ok && i > start
	}
	offset := 0
	switch {
	case i == len(s)-1 && (s[i] == 'Z' || s[i] == 'z'):
	case i == len(s)-6 && (s[i] == '+' || s[i] == '-') && s[i+3] == ':':
		hh, mm := num(i+1, i+3), num(i+4, i+6)
		ok = ok && hh < 24 && mm < 60
		offset = hh*3600 + mm*60
		if s[i] == '-' {
			offset = -offset
		}
	default:
		return 0, false
	}
	if !ok || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || sec > 60 {
		return 0, false
	}
	unix := int64(daysSinceEpoch(year, month, day))*86400 + int64(hour*3600+minute*60+sec-offset)
	if unix < minUnix || unix > maxUnix || unix == maxUnix && nanos > 0 {
		return 0, false
	}
	return pcommon.Timestamp(unix*1e9 + int64(nanos)), true
}

// daysSinceEpoch counts the days from 1970-01-01 to a date of the proleptic Gregorian calendar, in years that begin in March.
func daysSinceEpoch(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468
}

var monthDays = [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

func daysIn(year, month int) int {
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return monthDays[month-1]
}
