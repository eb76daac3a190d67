package trainjsonlreceiver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/adapter"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/receiver/trainjsonlreceiver/internal/metadata"
)

// got is one delivered record, as far as the tests look at it.
type got struct {
	path   string // last two elements
	offset int64
	run    string
	event  string
	reason string
	text   string // body.message or body.i
	uid    string
	rank   string
	anew   string // number of the text that the file had, and how many before are gone
}

// sink is the pipeline behind the receiver.
type sink struct {
	mu sync.Mutex
	// answer decides about a call before it is recorded; nil accepts.
	answer func(ctx context.Context, call int, ld plog.Logs) error
	calls  int
	all    []got
	runs   []string // of each accepted call, from the client metadata
	logs   []plog.Logs
}

func (*sink) Capabilities() consumer.Capabilities { return consumer.Capabilities{MutatesData: true} }

func (k *sink) ConsumeLogs(ctx context.Context, ld plog.Logs) error {
	k.mu.Lock()
	call, answer := k.calls, k.answer
	k.calls++
	k.mu.Unlock()
	if answer != nil {
		if err := answer(ctx, call, ld); err != nil {
			return err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, records(ld)...)
	k.logs = append(k.logs, ld)
	k.runs = append(k.runs, strings.Join(client.FromContext(ctx).Metadata.Get(trainrecord.MetadataRunID), ","))
	return nil
}

func (k *sink) set(answer func(ctx context.Context, call int, ld plog.Logs) error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answer = answer
}

func (k *sink) got() []got {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]got(nil), k.all...)
}

// of gives "offset text" of the records of the files whose path ends so.
func (k *sink) of(suffix string) []string {
	var out []string
	for _, g := range k.got() {
		if strings.HasSuffix(g.path, suffix) {
			out = append(out, fmt.Sprintf("@%d %s", g.offset, g.text))
		}
	}
	return out
}

func records(ld plog.Logs) []got {
	var out []got
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				out = append(out, record(lr))
			}
		}
	}
	return out
}

func record(lr plog.LogRecord) got {
	attr := func(key string) string {
		if v, ok := lr.Attributes().Get(key); ok {
			return v.AsString()
		}
		return ""
	}
	g := got{
		run: attr(trainrecord.AttrRunID), event: strings.TrimPrefix(lr.EventName(), trainrecord.Namespace+"."),
		reason: attr(trainrecord.AttrRecordError), uid: attr(trainrecord.AttrLogRecordUID), rank: attr(trainrecord.AttrRunRank),
		anew: strings.Trim(attr(trainrecord.AttrStreamText)+"-"+attr(trainrecord.AttrStreamReplaces), "-"),
	}
	path := attr(trainrecord.AttrLogFilePath)
	g.path = filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
	if offset, ok := lr.Attributes().Get(trainrecord.AttrLogFileRecordOffset); ok {
		g.offset = offset.Int()
	}
	for _, key := range []string{trainrecord.BodyMessage, "i"} {
		if v, ok := lr.Body().Map().Get(key); ok {
			g.text = v.AsString()
		}
	}
	return g
}

// rig is a receiver on a folder, with what belongs to it.
type rig struct {
	t    *testing.T
	dir  string
	cfg  *Config
	sink *sink
	host *componentcheck.StorageHost
	tel  *componenttest.Telemetry
	logs *observer.ObservedLogs
	set  receiver.Settings
	r    *trainReceiver

	notify func() (watching, error)
	local  func(folder string) bool
	files  fileSystem // nil = the operating system's
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), sink: &sink{}, host: componentcheck.NewStorageHost(t), tel: componenttest.NewTelemetry()}
	t.Cleanup(func() { _ = r.tel.Shutdown(context.Background()) })
	r.cfg = createDefaultConfig().(*Config)
	r.cfg.Include = []string{filepath.Join(r.dir, "*", "*.jsonl")}
	id := r.host.StorageID()
	r.cfg.Storage = &id
	core, logs := observer.New(zap.InfoLevel)
	r.logs = logs
	r.set = receiver.Settings{ID: component.NewID(metadata.Type()), TelemetrySettings: r.tel.NewTelemetrySettings()}
	r.set.Logger = zap.New(core)
	return r
}

// path gives the path of a file in the folder, and makes its own folder.
func (r *rig) path(name string) string {
	path := filepath.Join(r.dir, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o700))
	return path
}

func (r *rig) write(name, text string) {
	require.NoError(r.t, os.WriteFile(r.path(name), []byte(text), 0o600))
}

func (r *rig) append(name, text string) {
	f, err := os.OpenFile(r.path(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(r.t, err)
	_, err = f.WriteString(text)
	require.NoError(r.t, err)
	require.NoError(r.t, f.Close())
}

func (r *rig) rename(from, to string) {
	require.NoError(r.t, os.Rename(r.path(from), r.path(to)))
}

func (r *rig) remove(name string) { require.NoError(r.t, os.Remove(r.path(name))) }

// start runs the receiver as the collector would.
func (r *rig) start() {
	r.t.Helper()
	require.NoError(r.t, r.cfg.Validate())
	one, err := newReceiver(r.set, r.cfg, r.sink)
	require.NoError(r.t, err)
	one.notify = r.notify // the clock of a bubble stands still while the operating system is waited for
	if r.local != nil {
		one.local = r.local
	}
	if r.files != nil {
		one.files = r.files
	}
	require.NoError(r.t, one.Start(context.Background(), r.host))
	r.r = one
}

func (r *rig) stop() {
	r.t.Helper()
	require.NoError(r.t, r.r.Shutdown(context.Background()))
}

// open makes a tailer without its loops: step does by hand what they do.
func (r *rig) open() *tailer {
	r.t.Helper()
	one, err := newReceiver(r.set, r.cfg, r.sink)
	require.NoError(r.t, err)
	if r.files != nil {
		one.files = r.files
	}
	t, err := one.newTailer(r.host)
	require.NoError(r.t, err)
	t.client, err = adapter.GetStorageClient(context.Background(), r.host, r.cfg.Storage, r.set.ID)
	require.NoError(r.t, err)
	require.NoError(r.t, t.load(context.Background()))
	t.lookers.inline = true
	t.spawn = func(search func()) { search() }
	t.wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return t
}

// step polls once and gives every file its turns until nothing is left to read.
func (t *tailer) step(ctx context.Context) {
	t.nextSearch = time.Time{}
	for _, s := range t.list() {
		s.mu.Lock()
		s.retryAt = time.Time{}
		s.due.Store(0)
		s.mu.Unlock()
	}
	t.statusAt = time.Time{}
	t.poll(ctx, time.Now())
	t.drain(ctx)
}

func (t *tailer) drain(ctx context.Context) {
	for s := t.pop(); s != nil && ctx.Err() == nil; s = t.pop() {
		t.run(ctx, s, &permit{free: func() {}})
	}
}

// close ends a tailer that open made.
func (t *tailer) close(ctx context.Context) error {
	t.handles.closeAll()
	return t.client.Close(ctx)
}

// reopen ends a tailer as a stop does, and makes the next one.
func (r *rig) reopen(tl *tailer) *tailer {
	r.t.Helper()
	require.NoError(r.t, tl.saveLast(context.Background()))
	require.NoError(r.t, tl.close(context.Background()))
	return r.open()
}

// rows gives n record lines, numbered from first on.
func rows(first, n int) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, `{"ts":1790000000,"event":"step.end","body":{"i":%d,"step":%d}}`+"\n", i, i)
	}
	return b.String()
}

// offsets says where the lines of a text begin, as sink.of shows rows.
func rowsAt(text string, first int) []string {
	var out []string
	at := 0
	for i, l := range strings.SplitAfter(text, "\n") {
		if l != "" {
			out = append(out, fmt.Sprintf("@%d %d", at, first+i))
		}
		at += len(l)
	}
	return out
}

// telemetry wants self-metrics, as lines of name{attributes} value, among those that were recorded.
func (r *rig) telemetry(lines ...string) {
	r.t.Helper()
	assert.Subset(r.t, r.lines(), lines)
}

// lines gives the self-metrics that were recorded.
func (r *rig) lines() []string {
	r.t.Helper()
	return componentcheck.FormatTelemetry(r.t, r.tel, "otelcol_train_jsonl_")
}

// offset gives the acknowledged offset of a file.
func (r *rig) offset(tl *tailer, name string) int64 {
	r.t.Helper()
	for _, s := range tl.list() {
		if m, _ := s.get(); m.Path == r.path(name) {
			return m.Offset
		}
	}
	r.t.Fatalf("%s is not known", name)
	return 0
}
