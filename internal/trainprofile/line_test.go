package trainprofile

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const testRun = "run-a"

// decode reads a line as the receiver does: a framework's object, or a record.
func decode(t testing.TB, line string) plog.LogRecord {
	t.Helper()
	lr := plog.NewLogRecord()
	l := trainrecord.NewDecoder(trainrecord.DecoderOptions{}).Decode([]byte(line), lr)
	require.NotEqual(t, trainrecord.LineError, l.Kind, "%s: %v", line, l.Err)
	if _, ok := lr.Attributes().Get(trainrecord.AttrRunID); !ok {
		lr.Attributes().PutStr(trainrecord.AttrRunID, testRun)
	}
	return lr
}

// record reads a record that a fixture spells without its schema and run.
func record(t testing.TB, line string) plog.LogRecord {
	t.Helper()
	rest, ok := strings.CutPrefix(line, "{")
	require.True(t, ok, "no record: %s", line)
	head := fmt.Sprintf("{%q: %q, %q: %q, ", trainrecord.KeySchema, trainrecord.Schema, trainrecord.KeyRunID, testRun)
	return decode(t, head+rest)
}

// show writes a log record as one line with sorted keys, so that NaN equals NaN and 3 differs from 3.0.
func show(lr plog.LogRecord) string {
	var b strings.Builder
	if lr.EventName() != "" {
		fmt.Fprintf(&b, "%s %d %s ", lr.EventName(), lr.Timestamp(), lr.SeverityText())
	}
	showMap(&b, lr.Attributes())
	b.WriteByte(' ')
	showValue(&b, lr.Body())
	return b.String()
}

func showMap(b *strings.Builder, m pcommon.Map) {
	values := map[string]pcommon.Value{}
	for k, v := range m.All() {
		values[k] = v
	}
	b.WriteByte('{')
	for i, k := range slices.Sorted(maps.Keys(values)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(b, "%q: ", k)
		showValue(b, values[k])
	}
	b.WriteByte('}')
}

func showValue(b *strings.Builder, v pcommon.Value) {
	switch v.Type() {
	case pcommon.ValueTypeMap:
		showMap(b, v.Map())
	case pcommon.ValueTypeSlice:
		b.WriteByte('[')
		for _, e := range v.Slice().All() {
			showValue(b, e)
			b.WriteByte(' ')
		}
		b.WriteByte(']')
	case pcommon.ValueTypeDouble:
		s := strconv.FormatFloat(v.Double(), 'g', -1, 64)
		if !strings.ContainsAny(s, ".eIN") && !math.IsInf(v.Double(), 0) {
			s += ".0"
		}
		b.WriteString(s)
	case pcommon.ValueTypeStr:
		b.WriteString(strconv.Quote(v.Str()))
	default:
		b.WriteString(v.AsString())
	}
}

// process maps one log record and gives it and the further ones.
func process(m *Mapper, set *Set, stream *Stream, lr plog.LogRecord) (Outcome, []plog.LogRecord) {
	all := []plog.LogRecord{lr}
	out := m.Process(set, stream, lr, func() plog.LogRecord {
		all = append(all, plog.NewLogRecord())
		return all[len(all)-1]
	})
	return out, all
}

func embeddedSet(t testing.TB) *Set {
	t.Helper()
	profiles, err := Embedded()
	require.NoError(t, err)
	set, err := NewSet("", profiles...)
	require.NoError(t, err)
	return set
}
