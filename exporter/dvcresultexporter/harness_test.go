package dvcresultexporter

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/atomicdir"
	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/metadata"
	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// rig is an exporter on a directory and a storage that outlive it.
type rig struct {
	t    *testing.T
	dir  string
	host *componentcheck.StorageHost
	cfg  *Config
	exp  *resultExporter
	tel  *componenttest.Telemetry
	logs *observer.ObservedLogs
	fs   *gateFS
}

// inBubble runs a test whose clock moves only when everything waits.
func inBubble(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) { test(t, newRig(t, dir)) })
}

func newRig(t *testing.T, dir string) *rig {
	t.Helper()
	r := &rig{t: t, dir: dir, host: componentcheck.NewStorageHost(t), cfg: createDefaultConfig().(*Config), fs: &gateFS{}}
	r.cfg.Directory = filepath.Join(dir, "results")
	r.cfg.MinFreeBytes = 0
	id := r.host.StorageID()
	r.cfg.StorageID = &id
	return r
}

func (r *rig) start() {
	r.t.Helper()
	require.NoError(r.t, r.tryStart())
}

func (r *rig) tryStart() error {
	r.t.Helper()
	core, logs := observer.New(zap.DebugLevel)
	r.logs, r.tel = logs, componenttest.NewTelemetry()
	set := exporter.Settings{ID: component.NewID(metadata.Type), TelemetrySettings: r.tel.NewTelemetrySettings()}
	set.Logger = zap.New(core)
	exp, err := newExporter(set, r.cfg)
	require.NoError(r.t, err)
	exp.openFS = func(dir string) (atomicdir.FS, error) {
		if err := r.fs.before("open", dir); err != nil {
			return nil, err
		}
		fsys, err := atomicdir.OpenFS(dir)
		return &gate{FS: fsys, gateFS: r.fs}, err
	}
	r.exp = exp
	return exp.start(r.t.Context(), r.host)
}

func (r *rig) stop() {
	r.t.Helper()
	require.NoError(r.t, r.exp.shutdown(context.Background()))
	require.NoError(r.t, r.tel.Shutdown(context.Background()))
}

// kill ends the exporter as kill -9 would: the storage takes nothing any more.
func (r *rig) kill() {
	r.t.Helper()
	r.host.Crash()
	_ = r.exp.shutdown(context.Background())
	require.NoError(r.t, r.tel.Shutdown(context.Background()))
}

// feed delivers lines of one stream in one batch; line i of a stream keeps its place, whatever the order of delivery.
func (r *rig) feed(lines ...line) {
	r.t.Helper()
	require.NoError(r.t, r.exp.consumeLogs(r.t.Context(), logsOf(r.t, lines...)))
}

// line is a line of a stream with its place; inFile gives it to another stream.
type line struct {
	text  string
	place int64
}

// fileShift is above any place in a stream.
const fileShift = 48

// inFile makes lines those of another stream, whose records bring their host.
func inFile(file int64, lines []line) []line {
	out := slices.Clone(lines)
	for i := range out {
		out[i].place |= file << fileShift
	}
	return out
}

// stream gives lines their places.
func stream(lines ...string) []line {
	out := make([]line, len(lines))
	for i, text := range lines {
		out[i] = line{text, int64(i) * 1000}
	}
	return out
}

func logsOf(t *testing.T, lines ...line) plog.Logs {
	t.Helper()
	d := trainrecord.NewDecoder(trainrecord.DecoderOptions{})
	ld := plog.NewLogs()
	for _, l := range lines {
		own := ld.ResourceLogs().AppendEmpty()
		lr := own.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		decoded := d.Decode([]byte(l.text), lr)
		if l.place >= 1<<fileShift {
			d.PutResource(own.Resource().Attributes())
		}
		require.Equal(t, trainrecord.LineRecord, decoded.Kind, "%s: %v", l.text, decoded.Err)
		if decoded.RunID != "" {
			uid := trainrecord.UID{RunID: decoded.RunID, File: uint32(l.place >> fileShift), Offset: l.place & (1<<fileShift - 1), CRC: trainrecord.LineCRC([]byte(l.text))}
			lr.Attributes().PutStr(trainrecord.AttrLogRecordUID, uid.String())
		}
	}
	return ld
}

var began = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// record writes a line of a run, n seconds after its start.
func record(run string, n int, event, body string, more ...string) string {
	extra := strings.Join(more, ",")
	if extra != "" {
		extra = "," + extra
	}
	return fmt.Sprintf(`{"schema":%q,"ts":%q,"event":%q,"run_id":%q,"body":{%s}%s}`,
		trainrecord.Schema, began.Add(time.Duration(n)*time.Second).Format(time.RFC3339), event, run, body, extra)
}

func epoch(run string, n int, more ...string) string {
	return record(run, 10+n*60, "epoch.end", fmt.Sprintf(
		`"epoch":%d,"durations":{"epoch_s":60,"train_s":50.5},"measurements":{"train/loss":%g,"val/loss":%g}`, n, 2/float64(n+1), 0.5+float64((n-2)*(n-2))/16), more...)
}

// wholeRun is a run of four epochs that says its end.
func wholeRun(id string) []line {
	return stream(
		record(id, 0, "run.start", `"planned_epochs":4,"params":{"lr":1e-05,"betas":[0.9,0.999],"hub_token":"hf_abcdefghijklmnop"},"objective":{"metric":"val/loss","mode":"min"},"versions":{"torch":"2.9"}`, `"host":"gpu-01"`, `"framework":"pytorch"`),
		epoch(id, 0), epoch(id, 1), epoch(id, 2),
		record(id, 195, "checkpoint.save", `"path":"best.pt","kind":"best","epoch":2,"sha256":"00ff","size":12`),
		epoch(id, 3),
		record(id, 300, "run.end", `"outcome":"success","stop_reason":"completed","measurements":{"test/acc":0.75}`),
	)
}

// files reads a run's directory; nil when there is none.
func (r *rig) files(run string) map[string]string {
	r.t.Helper()
	return readTree(r.t, filepath.Join(r.cfg.Directory, run))
}

func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	var out map[string]string
	require.NoError(t, filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		if out == nil {
			out = map[string]string{}
		}
		out[filepath.ToSlash(rel)] = string(text)
		if e.Name() == "result.json" && err == nil {
			keepsSchema(t, text)
		}
		return err
	}))
	return out
}

var schema = sync.OnceValues(func() (*jsonschema.Schema, error) { return jsonschema.NewCompiler().Compile("result.schema.json") })

// keepsSchema holds every result that a test reads to the schema that is shipped.
func keepsSchema(t *testing.T, text []byte) {
	t.Helper()
	s, err := schema()
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return // a test broke it
	}
	require.NoError(t, s.Validate(doc), "%s", text)
}

// result is what the tests ask of a result.json.
type result struct {
	Final, Provisional bool
	Outcome            string
	OutcomeFrom        string `json:"outcome_from"`
	Records            struct{ Count int }
	Attempts           []any
}

func (r *rig) result(run string) *result {
	r.t.Helper()
	text, found := r.files(run)["result.json"]
	if !found {
		return nil
	}
	var res result
	require.NoError(r.t, json.Unmarshal([]byte(text), &res))
	return &res
}

// count is the number of records in a run's result, -1 for no result.
func (r *rig) count(run string) int {
	r.t.Helper()
	if res := r.result(run); res != nil {
		return res.Records.Count
	}
	return -1
}

// says asserts the outcome in a run's result, "" for no result.
func (r *rig) says(run, outcome string, final, provisional bool) {
	r.t.Helper()
	res := r.result(run)
	if assert.NotNil(r.t, res, "no result") {
		assert.Equal(r.t, []any{outcome, final, provisional}, []any{res.Outcome, res.Final, res.Provisional})
	}
}

// pass lets time go by.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// telemetry asserts the self-metrics, all of them; the exporter's id, which each carries, is left out in want.
func (r *rig) telemetry(want ...string) {
	r.t.Helper()
	synctest.Wait() // while the engine is at work, a scrape shows the gauges of the one before
	got := strings.Join(componentcheck.FormatTelemetry(r.t, r.tel, "otelcol_dvc_result_"), "\n")
	for line := range strings.SplitSeq(got, "\n") {
		assert.Contains(r.t, line, `{exporter="dvc_result"`)
	}
	got = strings.NewReplacer(`{exporter="dvc_result"}`, "", `exporter="dvc_result",`, "").Replace(got)
	assert.Equal(r.t, strings.Join(slices.Sorted(slices.Values(want)), "\n"), strings.Join(slices.Sorted(strings.SplitSeq(got, "\n")), "\n"))
}

// metric gives the value of a self-metric, attributes as telemetry writes them; "" when it has none.
func (r *rig) metric(name string) string {
	r.t.Helper()
	synctest.Wait()
	for _, line := range componentcheck.FormatTelemetry(r.t, r.tel, "otelcol_dvc_result_") {
		line = strings.NewReplacer(`{exporter="dvc_result"}`, "", `exporter="dvc_result",`, "").Replace(line)
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return value
		}
	}
	return ""
}

// gateFS puts faults before the operations of every file system that a rig opens.
type gateFS struct {
	mu    sync.Mutex
	fault func(op, name string) error
}

func (g *gateFS) fail(fault func(op, name string) error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fault = fault
}

func (g *gateFS) before(op, name string) error {
	g.mu.Lock()
	fault := g.fault
	g.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(op, name)
}

type gate struct {
	atomicdir.FS
	*gateFS
}

func (g *gate) Create(name string) (atomicdir.File, error) {
	if err := g.before("create", name); err != nil {
		return nil, err
	}
	return g.FS.Create(name)
}

func (g *gate) Lock(name string) (io.Closer, error) {
	if err := g.before("lock", name); err != nil {
		return nil, err
	}
	return g.FS.Lock(name)
}

func (g *gate) Rename(from, to string) error {
	if err := g.before("rename", to); err != nil {
		return err
	}
	return g.FS.Rename(from, to)
}
