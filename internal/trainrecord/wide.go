package trainrecord

import (
	"encoding/binary"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// WideFrom is the number of keys from which on an object is filled through a Wide: a map of pdata looks at all its keys for each
// that is put.
const WideFrom = 128

// Wide gathers further keys of an object that has many, in time that grows with their number only. Its zero value is ready; an
// object that is being filled must not be used otherwise until Flush.
type Wide struct {
	at     map[string]int // of each key of the object its place, the object's own first
	own    int
	names  []string
	values pcommon.Slice
}

// Put gives the value of a key, and whether the object has it already. The value is valid until the next Put.
func (w *Wide) Put(to pcommon.Map, key string) (v pcommon.Value, found bool) {
	if w.at == nil {
		w.begin(to)
	}
	i, found := w.at[key]
	switch {
	case !found:
		w.at[key] = w.own + len(w.names)
		w.names = append(w.names, key)
		return w.values.AppendEmpty(), false
	case i >= w.own:
		return w.values.At(i - w.own), true
	default:
		v, _ = to.Get(key)
		return v, true
	}
}

func (w *Wide) begin(to pcommon.Map) {
	w.own, w.values, w.names = to.Len(), pcommon.NewSlice(), w.names[:0]
	w.at = make(map[string]int, 2*w.own)
	i := 0
	for key := range to.All() {
		w.at[key] = i
		i++
	}
}

// Flush gives the object what was put, behind what it had. Keys that were put stay in their order.
func (w *Wide) Flush(to pcommon.Map) {
	if w.at == nil {
		return
	}
	keys := make([]string, 0, w.own+len(w.names))
	for key := range to.All() {
		keys = append(keys, key)
	}
	all := emptyMap(append(keys, w.names...))
	old := make([]pcommon.Value, 0, w.own)
	for _, v := range to.All() {
		old = append(old, v)
	}
	i := 0
	for _, v := range all.All() {
		if i < w.own {
			old[i].MoveTo(v)
		} else {
			w.values.At(i - w.own).MoveTo(v)
		}
		i++
	}
	all.MoveTo(to)
	clear(w.names)
	w.at, w.names = nil, w.names[:0]
}

// emptyMap gives a map with these keys, which differ, and no values. What reads the wire format appends keys as they come, while
// each way to put one compares it with all others.
func emptyMap(keys []string) pcommon.Map {
	const field1, field2, field6 = 1<<3 | 2, 2<<3 | 2, 6<<3 | 2 // of the type bytes
	size := 0
	for _, key := range keys {
		size += len(key) + 2*(1+binary.MaxVarintLen32)
	}
	record := make([]byte, 0, size)
	for _, key := range keys {
		record = append(record, field6) // an attribute of the record: its key is field 1
		record = binary.AppendUvarint(record, uint64(1+len(binary.AppendUvarint(nil, uint64(len(key))))+len(key)))
		record = append(record, field1)
		record = binary.AppendUvarint(record, uint64(len(key)))
		record = append(record, key...)
	}
	for _, field := range []byte{field2, field2, field1} { // of a scope, of a resource, of all
		record = slices.Concat(binary.AppendUvarint([]byte{field}, uint64(len(record))), record)
	}
	out := pcommon.NewMap()
	logs, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(record)
	if err != nil { // should what is written above no longer be read, the slow way is still right
		for _, key := range keys {
			out.PutEmpty(key)
		}
		return out
	}
	logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes().MoveTo(out)
	return out
}
