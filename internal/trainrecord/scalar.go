package trainrecord

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

var schemaName = []byte(SchemaName)

// scalarKind is the type of a top-level value.
type scalarKind byte

const (
	scalarNone   scalarKind = iota // absent or null
	scalarText                     // text
	scalarInt                      // n
	scalarFloat                    // f; text holds its digits
	scalarBigInt                   // text holds its digits
	scalarOther                    // true, false, an object or an array: no top-level key has such a value
)

// scalar is a top-level value of a line. Its text is valid until the next line.
type scalar struct {
	kind scalarKind
	text []byte
	n    int64
	f    float64
}

// read reads the value that the scanner stands before.
func (v *scalar) read(s *scanner) error {
	*v = scalar{}
	c := s.peek()
	start := s.pos
	switch {
	case c == '"':
		text, err := s.text()
		v.kind, v.text = scalarText, text
		if s.copied {
			v.text = append([]byte(nil), text...) // the next such string takes its place
		}
		return err
	case c == '-' || c >= '0' && c <= '9':
		if err := s.value(nil, 1); err != nil {
			return err
		}
		v.number(s.buf[start:s.pos])
		return nil
	case c == 'n':
		return s.value(nil, 1)
	default:
		v.kind = scalarOther
		return s.value(nil, 1)
	}
}

// number takes a number that was checked.
func (v *scalar) number(text []byte) {
	v.text = text
	if bytes.ContainsAny(text, ".eEI") {
		v.kind = scalarFloat
		v.f, _ = strconv.ParseFloat(string(text), 64) // the only error left is the range, with an infinity as value
		return
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	v.kind, v.n = scalarInt, n
	if err != nil {
		v.kind = scalarBigInt
	}
}

// integer gives an integer, or a float that is one exactly.
func (v *scalar) integer() (int64, bool) {
	switch v.kind {
	case scalarInt:
		return v.n, true
	case scalarFloat:
		return Integer(pcommon.NewValueDouble(v.f))
	default:
		return 0, false
	}
}

// time reads an event time; the digits of a number are read exactly, not through a float.
func (v *scalar) time(loc *time.Location) (pcommon.Timestamp, bool) {
	switch v.kind {
	case scalarText:
		if ts, ok := parseRFC3339(v.text); ok {
			return ts, true
		}
		return ParseTime(string(v.text), loc)
	case scalarInt:
		return unixInt(v.n)
	case scalarFloat:
		if math.IsInf(v.f, 0) {
			return 0, false
		}
		return parseUnix(string(v.text))
	default:
		return 0, false
	}
}
