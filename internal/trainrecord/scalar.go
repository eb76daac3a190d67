package trainrecord

import (
	"math"
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
		dst := pcommon.NewValueEmpty()
		if err := s.value(&dst, 1); err != nil {
			return err
		}
		v.text = s.buf[start:s.pos]
		switch dst.Type() {
		case pcommon.ValueTypeInt:
			v.kind, v.n = scalarInt, dst.Int()
		case pcommon.ValueTypeDouble:
			v.kind, v.f = scalarFloat, dst.Double()
		default:
			v.kind = scalarBigInt
		}
		return nil
	case c == 'n':
		return s.value(nil, 1)
	default:
		v.kind = scalarOther
		return s.value(nil, 1)
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
