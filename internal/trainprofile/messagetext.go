package trainprofile

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Bounds of what is read out of the text of a message.
const (
	maxMessage = 1 << 20
	maxPairs   = 256
)

// jsonIn reads a text that ends in a JSON object into a map; what stands before it is a prefix. An object of the vocabulary
// is left as it stands, so that it can be read as a line.
func (m *Mapper) jsonIn(text string, into pcommon.Map) bool {
	text = strings.TrimSpace(text)
	start := strings.IndexByte(text, '{')
	if start < 0 || len(text) > maxMessage || text[len(text)-1] != '}' {
		return false
	}
	lr := plog.NewLogRecord()
	switch m.decoder.Decode([]byte(text[start:]), lr).Kind {
	case trainrecord.LineObject:
		lr.Body().Map().MoveTo(into)
		return true
	case trainrecord.LineRecord:
		m.line = text[start:]
		return false
	default:
		return false
	}
}

// pairsIn reads a text of pairs, name=value, with white space or commas between them. Two at least must be there, so that a
// sentence with an equals sign is a sentence.
func pairsIn(text string, into pcommon.Map) bool {
	if len(text) > maxMessage || strings.Count(text, "=") < 2 {
		return false
	}
	n := 0
	for len(text) > 0 && n < maxPairs {
		var word string
		if word, text = nextWord(text); word == "" {
			continue
		}
		name, value, ok := strings.Cut(word, "=")
		if !ok || !isName(name) || value == "" {
			continue
		}
		n++
		if _, taken := into.Get(name); !taken {
			putSpelled(into.PutEmpty(name), value)
		}
	}
	return n >= 2
}

// nextWord cuts a text at the next white space or comma that stands in no quotes.
func nextWord(text string) (word, rest string) {
	quote := byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == ' ' || c == '\t' || c == '\n' || c == ',' || c == ';':
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// isName tells whether a word may name a value: it begins with a letter or _.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		later := c >= '0' && c <= '9' || c == '.' || c == '/' || c == '-'
		if !letter && (i == 0 || !later) {
			return false
		}
	}
	return s != "" && len(s) <= maxCachedKey
}

// putSpelled writes a value as its text spells it.
func putSpelled(dst pcommon.Value, text string) {
	if len(text) >= 2 && (text[0] == '"' || text[0] == '\'') && text[len(text)-1] == text[0] {
		dst.SetStr(text[1 : len(text)-1])
		return
	}
	if b, err := strconv.ParseBool(strings.ToLower(text)); err == nil && len(text) > 1 {
		dst.SetBool(b)
		return
	}
	if n, ok := parseNumber(text); ok {
		n.writeTo(dst)
		return
	}
	if f, ok := trainrecord.Number(pcommon.NewValueStr(text)); ok {
		dst.SetDouble(f)
		return
	}
	dst.SetStr(text)
}
