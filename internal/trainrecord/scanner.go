package trainrecord

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Caps of a line: beyond them it is refused with a reason, arrays excepted, which are cut.
const (
	MaxLine     = 16 << 20 // bytes
	MaxDepth    = 32       // nested objects and arrays
	MaxKeys     = 4096     // keys an object
	MaxValues   = 262144   // values a line
	MaxElements = 1024     // elements an array; what comes after them is cut
)

// lineError says why and where a line was refused.
type lineError struct {
	reason Reason
	offset int
	what   string
}

func (e *lineError) Error() string { return fmt.Sprintf("byte %d: %s", e.offset, e.what) }

// scanner reads one line: RFC 8259 and the tokens NaN, Infinity and -Infinity, as CPython's json.dumps writes them.
type scanner struct {
	buf    []byte
	pos    int
	values int

	badUTF8, duplicateKeys, arraysCut int

	scratch []byte
}

func (s *scanner) reset(line []byte) {
	*s = scanner{buf: line, scratch: s.scratch[:0]}
}

func (s *scanner) fail(reason Reason, what string) error {
	return &lineError{reason: reason, offset: s.pos, what: what}
}

func (s *scanner) space() {
	for s.pos < len(s.buf) {
		switch s.buf[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// peek gives the next byte after white space, 0 at the end (a NUL is no token either).
func (s *scanner) peek() byte {
	s.space()
	if s.pos < len(s.buf) {
		return s.buf[s.pos]
	}
	return 0
}

// value reads a value at nesting depth into dst; a nil dst checks it only.
func (s *scanner) value(dst *pcommon.Value, depth int) error {
	s.values++
	if s.values > MaxValues {
		return s.fail(ReasonTooManyValues, "more values than "+strconv.Itoa(MaxValues))
	}
	switch c := s.peek(); c {
	case '{':
		if dst == nil {
			return s.object(nil, depth)
		}
		m := dst.SetEmptyMap()
		return s.object(&m, depth)
	case '[':
		if dst == nil {
			return s.array(nil, depth)
		}
		l := dst.SetEmptySlice()
		return s.array(&l, depth)
	case '"':
		text, err := s.text()
		if err == nil && dst != nil {
			dst.SetStr(string(text))
		}
		return err
	case 't':
		return s.literal("true", dst, func(v pcommon.Value) { v.SetBool(true) })
	case 'f':
		return s.literal("false", dst, func(v pcommon.Value) { v.SetBool(false) })
	case 'n':
		return s.literal("null", dst, func(v pcommon.Value) { pcommon.NewValueEmpty().CopyTo(v) })
	case 'N':
		return s.literal("NaN", dst, func(v pcommon.Value) { v.SetDouble(math.NaN()) })
	case 'I':
		return s.literal("Infinity", dst, func(v pcommon.Value) { v.SetDouble(math.Inf(1)) })
	default:
		if c == '-' || c >= '0' && c <= '9' {
			return s.number(dst)
		}
		return s.fail(ReasonNotJSON, "want a value")
	}
}

func (s *scanner) literal(word string, dst *pcommon.Value, set func(pcommon.Value)) error {
	if len(s.buf)-s.pos < len(word) || string(s.buf[s.pos:s.pos+len(word)]) != word {
		return s.fail(ReasonNotJSON, "want "+word)
	}
	s.pos += len(word)
	if dst != nil {
		set(*dst)
	}
	return nil
}

// open enters an object or array, whose bracket is the next byte.
func (s *scanner) open(depth int) error {
	if depth >= MaxDepth {
		return s.fail(ReasonTooDeep, "nested deeper than "+strconv.Itoa(MaxDepth))
	}
	s.pos++
	return nil
}

// object reads an object into m; of a repeated key the last value wins. A nil m checks it only.
func (s *scanner) object(m *pcommon.Map, depth int) error {
	if err := s.open(depth); err != nil {
		return err
	}
	if m != nil {
		m.EnsureCapacity(4)
	}
	for n := 0; ; n++ {
		key, more, err := s.nextKey(n)
		if err != nil || !more {
			return err
		}
		if m == nil {
			err = s.value(nil, depth+1)
		} else {
			v, found := m.GetOrPutEmpty(string(key))
			if found {
				s.duplicateKeys++
			}
			err = s.value(&v, depth+1)
		}
		if err != nil {
			return err
		}
	}
}

// nextKey reads key number n of an object and stands before its value; more is false after the last one. The key is valid
// until the next read.
func (s *scanner) nextKey(n int) (key []byte, more bool, err error) {
	c := s.peek()
	if c == '}' {
		s.pos++
		return nil, false, nil
	}
	if n > 0 {
		if c != ',' {
			return nil, false, s.fail(ReasonNotJSON, "want ',' or '}' in an object")
		}
		s.pos++
		c = s.peek()
	}
	if n >= MaxKeys {
		return nil, false, s.fail(ReasonTooManyKeys, "more keys in an object than "+strconv.Itoa(MaxKeys))
	}
	if c != '"' {
		return nil, false, s.fail(ReasonNotJSON, "want a key in double quotes")
	}
	if key, err = s.text(); err != nil {
		return nil, false, err
	}
	if s.peek() != ':' {
		return nil, false, s.fail(ReasonNotJSON, "want ':' after a key")
	}
	s.pos++
	return key, true, nil
}

func (s *scanner) array(l *pcommon.Slice, depth int) error {
	if err := s.open(depth); err != nil {
		return err
	}
	for n := 0; ; n++ {
		c := s.peek()
		if c == ']' {
			s.pos++
			if l != nil && n > MaxElements {
				s.arraysCut++
			}
			return nil
		}
		if n > 0 {
			if c != ',' {
				return s.fail(ReasonNotJSON, "want ',' or ']' in an array")
			}
			s.pos++
		}
		var err error
		if l == nil || n >= MaxElements {
			err = s.value(nil, depth+1)
		} else {
			v := l.AppendEmpty()
			err = s.value(&v, depth+1)
		}
		if err != nil {
			return err
		}
	}
}

// text reads a string. The result is valid until the next call.
func (s *scanner) text() ([]byte, error) {
	start := s.pos + 1
	ascii := true
	for i := start; i < len(s.buf); i++ {
		switch c := s.buf[i]; {
		case c == '"':
			s.pos = i + 1
			if ascii || utf8.Valid(s.buf[start:i]) {
				return s.buf[start:i], nil
			}
			s.scratch = s.appendValid(s.scratch[:0], s.buf[start:i])
			return s.scratch, nil
		case c == '\\':
			return s.escapedText(start, i)
		case c < 0x20:
			s.pos = i
			return nil, s.fail(ReasonNotJSON, "control character in a string")
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	s.pos = len(s.buf)
	return nil, s.fail(ReasonNotJSON, "string without end")
}

// escapedText goes on with a string at its first backslash.
func (s *scanner) escapedText(start, i int) ([]byte, error) {
	b := s.appendValid(s.scratch[:0], s.buf[start:i])
	defer func() { s.scratch = b[:0] }()
	for i < len(s.buf) {
		switch c := s.buf[i]; {
		case c == '"':
			s.pos = i + 1
			return b, nil
		case c == '\\':
			var ok bool
			if b, i, ok = s.escape(b, i); !ok {
				s.pos = i
				return nil, s.fail(ReasonNotJSON, "bad escape in a string")
			}
		case c < 0x20:
			s.pos = i
			return nil, s.fail(ReasonNotJSON, "control character in a string")
		case c < utf8.RuneSelf:
			b = append(b, c)
			i++
		default:
			r, size := utf8.DecodeRune(s.buf[i:])
			if r == utf8.RuneError && size == 1 {
				s.badUTF8++
			}
			b = utf8.AppendRune(b, r)
			i += size
		}
	}
	s.pos = len(s.buf)
	return nil, s.fail(ReasonNotJSON, "string without end")
}

func (s *scanner) appendValid(b, raw []byte) []byte {
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		if r == utf8.RuneError && size == 1 {
			s.badUTF8++
		}
		b = utf8.AppendRune(b, r)
		raw = raw[size:]
	}
	return b
}

// simpleEscapes maps the letter of a two-character escape to its byte.
var simpleEscapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

func (s *scanner) escape(b []byte, i int) ([]byte, int, bool) {
	if i+1 >= len(s.buf) {
		return b, i, false
	}
	if c := simpleEscapes[s.buf[i+1]]; c != 0 {
		return append(b, c), i + 2, true
	}
	r, ok := s.hex4(i)
	if !ok {
		return b, i, false
	}
	i += 6
	if utf16.IsSurrogate(r) {
		low, ok := s.hex4(i)
		if combined := utf16.DecodeRune(r, low); ok && combined != utf8.RuneError {
			return utf8.AppendRune(b, combined), i + 6, true
		}
		s.badUTF8++
		r = utf8.RuneError
	}
	return utf8.AppendRune(b, r), i, true
}

// hex4 reads the escape \uXXXX at i.
func (s *scanner) hex4(i int) (rune, bool) {
	if i+6 > len(s.buf) || s.buf[i] != '\\' || s.buf[i+1] != 'u' {
		return 0, false
	}
	n := rune(0)
	for _, c := range s.buf[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			n = n<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return n, true
}
