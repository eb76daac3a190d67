package trainrecord

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// TestAScannerKeepsNothingButItsMemory holds reset to what a new scanner with that memory is, for fields that come later too.
func TestAScannerKeepsNothingButItsMemory(t *testing.T) {
	t.Parallel()
	s := newScanner(KeepNonFinite)
	s.reset([]byte(`{"a":"\u00e9` + "\xff" + `","a":[1],"b"`))
	s.room, s.arraysCut = 3, 1
	v := pcommon.NewValueEmpty()
	assert.Error(t, s.value(&v, 0))
	assert.NotZero(t, s.badUTF8*s.duplicateKeys*s.pos*s.values)
	s.scratch, s.copied = []byte("x"), true
	memory, line := s.memory, []byte(`{}`)
	s.reset(line)
	assert.Equal(t, scanner{buf: line, scratch: []byte{}, memory: memory}, s)
}

// TestAHeadKeepsNothingOfALineBefore decodes rows between records: nothing of a record's resource is the row's.
func TestAHeadKeepsNothingOfALineBefore(t *testing.T) {
	t.Parallel()
	d := NewDecoder(DecoderOptions{})
	for range 2 {
		lr := plog.NewLogRecord()
		got := d.Decode([]byte(`{"schema":"`+SchemaName+`/1","ts":1795132800,"event":"log","run_id":"r","host":"h","resource":{"a":1},"body":{}}`), lr)
		assert.Equal(t, LineRecord, got.Kind)
		for range 2 {
			assert.Equal(t, LineObject, d.Decode([]byte(`{"loss":1}`), lr).Kind)
			resource := pcommon.NewMap()
			d.PutResource(resource)
			assert.Zero(t, resource.Len())
		}
	}
}
