package trainrecord

import (
	"math"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// number reads a number. Integers that fit are exact int64, larger ones keep their digits as text (random seeds are often
// uint64); everything with a point or an exponent is a double, infinite when it is too large for one.
func (s *scanner) number(dst *pcommon.Value) error {
	start := s.pos
	if s.buf[s.pos] == '-' {
		s.pos++
		if s.pos < len(s.buf) && s.buf[s.pos] == 'I' {
			return s.double("Infinity", dst, math.Inf(-1))
		}
	}
	first := s.pos
	if n := s.digits(); n == 0 {
		return s.fail(ReasonNotJSON, "want a digit")
	} else if n > 1 && s.buf[first] == '0' {
		return s.fail(ReasonNotJSON, "number with a leading zero")
	}
	integer := true
	if s.pos < len(s.buf) && s.buf[s.pos] == '.' {
		integer = false
		s.pos++
		if s.digits() == 0 {
			return s.fail(ReasonNotJSON, "want a digit after the point")
		}
	}
	if s.pos < len(s.buf) && (s.buf[s.pos] == 'e' || s.buf[s.pos] == 'E') {
		integer = false
		s.pos++
		if s.pos < len(s.buf) && (s.buf[s.pos] == '+' || s.buf[s.pos] == '-') {
			s.pos++
		}
		if s.digits() == 0 {
			return s.fail(ReasonNotJSON, "want a digit in the exponent")
		}
	}
	if dst != nil {
		s.putNumber(*dst, s.buf[start:s.pos], integer)
	}
	return nil
}

func (s *scanner) digits() int {
	start := s.pos
	for s.pos < len(s.buf) && s.buf[s.pos] >= '0' && s.buf[s.pos] <= '9' {
		s.pos++
	}
	return s.pos - start
}

func (s *scanner) putNumber(dst pcommon.Value, text []byte, integer bool) {
	if n, power, ok := shortNumber(text); ok {
		switch {
		case integer:
			dst.SetInt(n)
		case n == 0 && text[0] == '-':
			dst.SetDouble(math.Copysign(0, -1))
		case power < 0:
			dst.SetDouble(float64(n) / powersOfTen[-power])
		default:
			dst.SetDouble(float64(n) * powersOfTen[power])
		}
		return
	}
	if !integer {
		f, _ := strconv.ParseFloat(string(text), 64) // the only error left is the range, with an infinity as value
		s.putDouble(dst, f)
		return
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		dst.SetInt(n)
		return
	}
	dst.SetStr(string(text))
}

// powersOfTen are exact as doubles.
var powersOfTen = [...]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

const (
	maxExact    = 1 << 53 // up to which each integer is exact as a double
	maxExponent = 99      // far beyond the powers that are exact
)

// shortNumber reads a checked number whose digits, taken as an integer, are exact as a double, and so is the power of ten that they
// are multiplied with or, when it is negative, divided by: the result is the nearest double, as strconv would find it. Times in microseconds
// and most floats as Python writes them are such.
func shortNumber(text []byte) (n int64, power int, ok bool) {
	negative := text[0] == '-'
	point, end := -1, len(text)
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			if n = n*10 + int64(c-'0'); n > maxExact {
				return 0, 0, false
			}
			continue
		case c == '.':
			point = i
			continue
		case c == '-' && i == 0:
			continue
		case c != 'e' && c != 'E':
			return 0, 0, false
		}
		end = i
		if power, ok = shortExponent(text[i+1:]); !ok {
			return 0, 0, false
		}
		break
	}
	if point >= 0 {
		power -= end - point - 1
	}
	if power < -(len(powersOfTen)-1) || power > len(powersOfTen)-1 {
		return 0, 0, false
	}
	if negative {
		n = -n
	}
	return n, power, true
}

// shortExponent reads what follows the letter.
func shortExponent(text []byte) (n int, ok bool) {
	sign := 1
	if text[0] == '-' || text[0] == '+' {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	for _, c := range text {
		if n = n*10 + int(c-'0'); n > maxExponent {
			return 0, false
		}
	}
	return sign * n, true
}
