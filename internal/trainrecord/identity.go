package trainrecord

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Identity tells whether two deliveries are one record. With HasUID it is the UID; else it is Key, a text that begins
// with u: (a uid of another writer), s: (run, attempt, rank, event, seq) or h: (a hash of the record).
type Identity struct {
	UID    UID
	HasUID bool
	Key    string
}

// Identity gives the record's identity: log.record.uid; else (run, attempt, rank, event, seq); else the sha256 of (run,
// attempt, part, rank, event, event time, body). The observed time is never part of it.
func (r *Record) Identity() Identity {
	if r.UID != "" {
		if u, ok := ParseUID(r.UID); ok {
			return Identity{UID: u, HasUID: true}
		}
		return Identity{Key: "u:" + r.UID}
	}
	if r.Seq > 0 {
		key := append([]byte("s:"), r.RunID...)
		for _, n := range []int64{r.Attempt, r.Rank, r.Seq} {
			key = append(key, 0)
			key = strconv.AppendInt(key, n, 10)
		}
		return Identity{Key: string(append(append(key, 0), r.Event...))}
	}
	h := sha256.New()
	for _, s := range []string{r.RunID, r.Part, r.Event} {
		hashText(h, s)
	}
	for _, n := range []uint64{uint64(r.Attempt), uint64(r.Rank), uint64(r.Time)} {
		hashNumber(h, n)
	}
	hashMap(h, r.Body)
	return Identity{Key: "h:" + hex.EncodeToString(h.Sum(nil))}
}

func hashNumber(h hash.Hash, n uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	_, _ = h.Write(b[:])
}

func hashText(h hash.Hash, s string) {
	hashNumber(h, uint64(len(s)))
	_, _ = h.Write([]byte(s))
}

// hashMap writes a map independent of the order of its keys.
func hashMap(h hash.Hash, m pcommon.Map) {
	type entry struct {
		key   string
		value pcommon.Value
	}
	entries := make([]entry, 0, m.Len())
	for k, v := range m.All() {
		entries = append(entries, entry{k, v})
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	hashNumber(h, uint64(len(entries)))
	for _, e := range entries {
		hashText(h, e.key)
		hashValue(h, e.value)
	}
}

func hashValue(h hash.Hash, v pcommon.Value) {
	_, _ = h.Write([]byte{byte(v.Type())})
	switch v.Type() {
	case pcommon.ValueTypeStr:
		hashText(h, v.Str())
	case pcommon.ValueTypeInt:
		hashNumber(h, uint64(v.Int()))
	case pcommon.ValueTypeDouble:
		bits := math.Float64bits(v.Double())
		if math.IsNaN(v.Double()) {
			bits = math.Float64bits(math.NaN())
		}
		hashNumber(h, bits)
	case pcommon.ValueTypeBool:
		if v.Bool() {
			hashNumber(h, 1)
		} else {
			hashNumber(h, 0)
		}
	case pcommon.ValueTypeBytes:
		hashText(h, string(v.Bytes().AsRaw()))
	case pcommon.ValueTypeMap:
		hashMap(h, v.Map())
	case pcommon.ValueTypeSlice:
		hashNumber(h, uint64(v.Slice().Len()))
		for _, e := range v.Slice().All() {
			hashValue(h, e)
		}
	default: // empty
	}
}
