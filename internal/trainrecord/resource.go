package trainrecord

import (
	"bytes"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// PutResource writes the resource attributes of the line decoded last: its resource object and its host. Keys of the
// vocabulary are left out, and were counted with the line's dropped fields: no run id is ever a resource attribute.
func (d *Decoder) PutResource(dst pcommon.Map) {
	if m, ok := d.scan.apart(d.head.resource); ok {
		m.RemoveIf(func(k string, _ pcommon.Value) bool { return isVocabulary(k) })
		m.MoveTo(dst)
	}
	if host, ok := d.head.get(headHost); ok && host.kind == scalarText {
		dst.PutStr(AttrHostName, string(host.text))
	}
}

// apart reads an object again that was checked before, without a change to what is known of the line.
func (s *scanner) apart(raw []byte) (pcommon.Map, bool) {
	if len(raw) == 0 {
		return pcommon.Map{}, false
	}
	line := *s
	s.reset(raw)
	v := pcommon.NewValueEmpty()
	err := s.value(&v, 1)
	line.memory = s.memory
	*s = line
	if err != nil {
		return pcommon.Map{}, false
	}
	return v.Map(), true
}

func isVocabulary(key string) bool { return strings.HasPrefix(key, Namespace+".") }

var vocabularyPrefix = []byte(Namespace + ".")

// vocabularyKeys counts the keys that PutResource leaves out, and keeps them in the body's details. Most resources tell by a look at their bytes that they
// have none; an escape may hide one.
func (s *scanner) vocabularyKeys(raw []byte, body pcommon.Map) (n int) {
	if !bytes.Contains(raw, vocabularyPrefix) && bytes.IndexByte(raw, '\\') < 0 {
		return 0
	}
	m, ok := s.apart(raw)
	if !ok {
		return 0
	}
	for k, v := range m.All() {
		if isVocabulary(k) {
			n++
			putFree(details(body), KeyResource+"."+k, v)
		}
	}
	return n
}
