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
	if n, digits, ok := shortNumber(text); ok {
		switch {
		case integer:
			dst.SetInt(n)
		case n == 0 && text[0] == '-':
			dst.SetDouble(math.Copysign(0, -1))
		default:
			dst.SetDouble(float64(n) / powersOfTen[digits])
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
var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// shortNumber reads at most 15 digits, of which some may be behind a point. So many are exact as a double, and so is the
// power of ten they are divided by: the quotient is the nearest double, as strconv would find it.
func shortNumber(text []byte) (n int64, fraction int, ok bool) {
	if len(text) > 16 {
		return 0, 0, false
	}
	point := len(text)
	negative := text[0] == '-'
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			n = n*10 + int64(c-'0')
		case c == '.':
			point = i + 1
		case c == '-' && i == 0:
		default:
			return 0, 0, false
		}
	}
	if n >= 1e15 {
		return 0, 0, false
	}
	if negative {
		n = -n
	}
	return n, len(text) - point, true
}
