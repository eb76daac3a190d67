package trainrecord

import (
	"fmt"
	"math"
	"strconv"

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

	room int // keys that the object has which is read next, as far as is known

	scratch []byte // the text read last, when it could not stay where it stands in the line
	copied  bool   // it is there
	memory
}

// memory is what a scanner keeps from line to line.
type memory struct {
	nonFinite NonFinite
	words     *words
	arena     arena
	body, row word // how many keys the last body and the last row of a framework had
}

func newScanner(o NonFinite) scanner { return scanner{memory: memory{nonFinite: o, words: &words{}}} }

// reset begins a line. It writes each field but those of the memory, which are many: a copy of all would be held against the garbage collector.
func (s *scanner) reset(line []byte) {
	s.buf, s.pos, s.values, s.room = line, 0, 0, 0
	s.badUTF8, s.duplicateKeys, s.arraysCut = 0, 0, 0
	s.scratch, s.copied = s.scratch[:0], false
}

// word gives b as a string.
func (s *scanner) word(b []byte) string { return s.words.get(b).text }

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
			return s.object(nil, depth, 0)
		}
		m := dst.SetEmptyMap()
		room := s.room
		s.room = 0
		return s.object(&m, depth, max(room, 1))
	case '[':
		if dst == nil {
			return s.array(nil, depth)
		}
		l := dst.SetEmptySlice()
		return s.array(&l, depth)
	case '"':
		text, err := s.text()
		if err == nil && dst != nil {
			dst.SetStr(s.arena.text(text))
		}
		return err
	case 't':
		return s.literal("true", dst, func(v pcommon.Value) { v.SetBool(true) })
	case 'f':
		return s.literal("false", dst, func(v pcommon.Value) { v.SetBool(false) })
	case 'n':
		return s.literal("null", dst, func(v pcommon.Value) { pcommon.NewValueEmpty().CopyTo(v) })
	case 'N':
		return s.double("NaN", dst, math.NaN())
	case 'I':
		return s.double("Infinity", dst, math.Inf(1))
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

// double reads one of Python's tokens.
func (s *scanner) double(word string, dst *pcommon.Value, f float64) error {
	return s.literal(word, dst, func(v pcommon.Value) { s.putDouble(v, f) })
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
func (s *scanner) object(m *pcommon.Map, depth, room int) error {
	if err := s.open(depth); err != nil {
		return err
	}
	if m != nil && s.peek() != '}' {
		m.EnsureCapacity(room)
	}
	var wide *Wide
	for n := 0; ; n++ {
		key, more, err := s.nextKey(n)
		if err != nil {
			return err
		}
		if !more {
			if wide != nil {
				wide.Flush(*m)
			}
			return nil
		}
		if m == nil {
			err = s.value(nil, depth+1)
		} else {
			w := s.words.get(key)
			if n == WideFrom {
				wide = &Wide{}
			}
			v, found := put(*m, wide, w.text)
			if found {
				s.duplicateKeys++
			}
			err = s.valueUnder(w, &v, depth+1)
		}
		if err != nil {
			return err
		}
	}
}

// put gives the value of a key of an object; wide is nil while it has few.
func put(m pcommon.Map, wide *Wide, key string) (pcommon.Value, bool) {
	if wide != nil {
		return wide.Put(m, key)
	}
	return m.GetOrPutEmpty(key)
}

// valueUnder reads a value that stands under a key. An object gets room for as many keys as the last one there had.
func (s *scanner) valueUnder(key *word, dst *pcommon.Value, depth int) error {
	if dst == nil || s.peek() != '{' {
		return s.value(dst, depth)
	}
	s.room = key.room
	err := s.value(dst, depth)
	if err == nil {
		key.room = min(dst.Map().Len(), maxRoom)
	}
	return err
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
