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

// Why a value is not kept as it came.
const (
	replacedSecret  = "secret"
	replacedOffList = "off_list"
	replacedBad     = "bad_value"
	replacedMisfit  = "bad_attribute"
)

var replacedReasons = []string{replacedSecret, replacedOffList, replacedBad, replacedMisfit}

func paramPath(from string) []string { return strings.Split(from, ".") }

// sources shares the resources of records that wait, which are mostly the same.
type sources map[uint64]known

// known is a resource as it came, what is kept of it, and how many secrets are not.
type known struct {
	came    pcommon.Map
	kept    *trainrun.Source
	secrets int64
}

var sourceSeed = maphash.MakeSeed()

// of gives the shared copy of a resource, without secrets.
func (m sources) of(attrs pcommon.Map) known {
	var b bytes.Buffer
	for k, v := range attrs.All() {
		b.WriteString(k)
		b.WriteByte(0)
		b.WriteString(v.AsString())
		b.WriteByte(0)
	}
	key := maphash.Bytes(sourceSeed, b.Bytes())
	if s, ok := m[key]; ok && s.came.Equal(attrs) {
		return s
	}
	s := known{came: pcommon.NewMap()}
	s.kept, s.secrets = trainrun.SourceOf(attrs)
	attrs.CopyTo(s.came)
	m[key] = s
	return s
}
