package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"golang.org/x/tools/txtar"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
)

// normAlone carries streams to a backend and does nothing else with them.
const normAlone = `
extensions:
  file_storage: {directory: "${env:STATE_DIR}", create_directory: true}
receivers:
  train_jsonl: {include: ["${env:RUNS_DIR}/**/*.jsonl"], storage: file_storage}
processors:
  training_norm: {storage: file_storage}
exporters:
  otlp_grpc: {endpoint: "${env:NETDATA_OTLP_ENDPOINT}", tls: {insecure: true}}
service:
  extensions: [file_storage]
  pipelines:
    logs: {receivers: [train_jsonl], processors: [training_norm], exporters: [otlp_grpc]}
`

// fixtureRun is the run that fixtures of profiles speak of.
const fixtureRun = "run-a"

// textProfile reads log records with a text as body, which no file holds; its fixtures spell what is made of them.
const textProfile = "otlp_text"

// frameworkStream is a fixture of a profile, under a run of its own.
type frameworkStream struct {
	run      string
	in, want []string // want: as show gives them, in order
}

// frameworkStreams reads every fixture of internal/trainprofile that says which records its stream becomes.
func frameworkStreams(t *testing.T) []frameworkStream {
	t.Helper()
	dir := filepath.Join(collector.Root(t), "internal", "trainprofile", "testdata")
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*.txt"))
	require.NoError(t, err)
	var all []frameworkStream
	for _, path := range paths {
		if filepath.Base(filepath.Dir(path)) == textProfile {
			continue
		}
		archive, err := txtar.ParseFile(path)
		require.NoError(t, err)
		s := frameworkStream{run: filepath.Base(filepath.Dir(path)) + "-" + strings.TrimSuffix(filepath.Base(path), ".txt")}
		parts := map[string][]string{}
		for _, part := range archive.Files {
			text := strings.ReplaceAll(string(part.Data), fixtureRun, s.run) // also in the text of a message
			parts[part.Name] = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		}
		if parts["out"] == nil {
			continue // it tells the one training of all frameworks, which the unit tests compare
		}
		s.in = parts["in"]
		for _, line := range parts["out"] {
			s.want = append(s.want, expected(t, s.run, line))
		}
		all = append(all, s)
	}
	return all
}

// expected decodes a record as a fixture spells it: without schema and run.
func expected(t *testing.T, run, line string) string {
	t.Helper()
	if line == unmapped {
		return unmapped
	}
	head := fmt.Sprintf("{%q: %q, %q: %q, ", trainrecord.KeySchema, trainrecord.Schema, trainrecord.KeyRunID, run)
	lr := plog.NewLogRecord()
	decoded := trainrecord.NewDecoder(trainrecord.DecoderOptions{}).Decode([]byte(head+strings.TrimPrefix(line, "{")), lr)
	require.Equal(t, trainrecord.LineRecord, decoded.Kind, line)
	return show(lr)
}

// unmapped is how fixtures and show call an object that passes on as it is.
const unmapped = "unmapped"

// show writes a record as a line with sorted keys, without what the receiver says about its place.
func show(lr plog.LogRecord) string {
	if lr.EventName() == "" {
		return unmapped
	}
	attrs := maps.Collect(lr.Attributes().All())
	for _, place := range []string{trainrecord.AttrLogFilePath, trainrecord.AttrLogFileRecordOffset, trainrecord.AttrLogRecordUID} {
		delete(attrs, place)
	}
	return fmt.Sprintf("%s %d %s %s %s", lr.EventName(), lr.Timestamp(), lr.SeverityText(), showMap(attrs), showValue(lr.Body()))
}

func showMap(m map[string]pcommon.Value) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%q: %s", key, showValue(m[key])))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func showValue(v pcommon.Value) string {
	switch v.Type() {
	case pcommon.ValueTypeMap:
		return showMap(maps.Collect(v.Map().All()))
	case pcommon.ValueTypeSlice:
		var parts []string
		for _, e := range v.Slice().All() {
			parts = append(parts, showValue(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case pcommon.ValueTypeDouble:
		return fmt.Sprintf("%g as float", v.Double()) // 3.0 is not 3
	case pcommon.ValueTypeStr:
		text, _ := json.Marshal(v.Str())
		return string(text)
	default:
		return v.AsString()
	}
}

// arrivedByRun gives the records of each stream in the order of its lines, as show writes them. Lines that are no object are left out,
// as in the fixtures.
func arrivedByRun(sink *otlpsink.Sink) map[string][]string {
	type placed struct {
		offset int64
		text   string
	}
	streams := map[string][]placed{}
	for _, lr := range sink.LogRecords() {
		if _, text := lr.Attributes().Get(trainrecord.AttrRecordError); text {
			continue
		}
		file, _ := lr.Attributes().Get(trainrecord.AttrLogFilePath)
		offset, _ := lr.Attributes().Get(trainrecord.AttrLogFileRecordOffset)
		run := filepath.Base(filepath.Dir(file.Str()))
		streams[run] = append(streams[run], placed{offset.Int(), show(lr.LogRecord)})
	}
	out := map[string][]string{}
	for run, all := range streams {
		slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.offset, b.offset) })
		for _, p := range all {
			out[run] = append(out[run], p.text)
		}
	}
	return out
}

// TestEveryFrameworksStreamsArriveAsTheRecordsTheyMean writes the stream of every fixture of every profile to a file, has one collector
// carry them all, and wants at the backend exactly the records that the fixtures say by hand.
func TestEveryFrameworksStreamsArriveAsTheRecordsTheyMean(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	f := newFolders(t)
	env := f.env(t)
	env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
	streams := frameworkStreams(t)
	require.Greater(t, len(streams), 100)
	total := 0
	for _, s := range streams {
		newTrainer(t, f, s.run).lines(s.in...)
		total += len(s.want)
	}
	c := collector.Start(t, collector.Options{YAML: normAlone, Env: env})
	count := func() (n int) {
		for _, records := range arrivedByRun(sink) {
			n += len(records)
		}
		return n
	}
	if !assert.Eventually(t, func() bool { return count() >= total }, resultWithin, 100*time.Millisecond) {
		t.Logf("%d of %d records arrived", count(), total)
	}
	c.Stop()
	got := arrivedByRun(sink)
	for _, s := range streams {
		if !assert.Len(t, got[s.run], len(s.want), s.run) {
			continue
		}
		for i := range s.want {
			assert.Equal(t, s.want[i], got[s.run][i], "%s, record %d", s.run, i+1)
		}
	}
	t.Logf("%d records of %d streams", total, len(streams))
}
