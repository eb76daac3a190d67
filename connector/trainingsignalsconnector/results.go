package trainingsignalsconnector

import (
	"bytes"
	"hash/maphash"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// What becomes of a record besides what the Live layer says.
const (
	resultNoRunID = "no_run_id"
	resultOther   = "other"
)

// sightResults spells what becomes of records; a second end is late, too.
var sightResults = []string{
	trainrun.SightCounted: "counted", trainrun.SightHistory: "history", trainrun.SightDuplicate: "duplicate",
	trainrun.SightRank: "rank", trainrun.SightLate: "late", trainrun.SightFuture: "future", trainrun.SightLateEnd: "late",
}

func paramPath(from string) []string { return strings.Split(from, ".") }

// sources shares the resources of records that wait, which are mostly the same.
type sources map[uint64]*trainrun.Source

var sourceSeed = maphash.MakeSeed()

// of gives the shared copy of a resource.
func (m sources) of(attrs pcommon.Map) *trainrun.Source {
	var b bytes.Buffer
	for k, v := range attrs.All() {
		b.WriteString(k)
		b.WriteByte(0)
		b.WriteString(v.AsString())
		b.WriteByte(0)
	}
	key := maphash.Bytes(sourceSeed, b.Bytes())
	if s, ok := m[key]; ok && s.Attributes.Equal(attrs) {
		return s
	}
	s := &trainrun.Source{Attributes: pcommon.NewMap()}
	attrs.CopyTo(s.Attributes)
	m[key] = s
	return s
}
