package trainrecord

import (
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string. The result is valid until the next call, and as long as the line when s.copied is false.
func (s *scanner) text() ([]byte, error) {
	s.copied = false
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
			s.copied = true
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
	s.copied = true
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
