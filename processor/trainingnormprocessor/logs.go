package trainingnormprocessor

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/processor/trainingnormprocessor/internal/metadata"
)

// logNormalizer maps log records.
type logNormalizer struct {
	id        component.ID
	storage   *component.ID
	claims    *componentkit.Claims
	set       *trainprofile.Set
	namer     *namer
	streams   *streams
	decisions *decisions
	workers   sync.Pool
	telemetry *metadata.Telemetry
	logger    *zap.Logger
	unmapped  componentkit.Seldom
	malformed componentkit.Seldom
	asWritten componentkit.Seldom
}

// worker is what one batch at a time uses.
type worker struct {
	mapper  *trainprofile.Mapper
	lifted  lifted
	further plog.LogRecordSlice // records that objects were turned into besides their own
	after   []int               // for each of further: the index of the record that it follows
	at      int
	counts  map[count]int64
	mapped  tally

	scope     string      // of the records at hand
	resource  pcommon.Map // empty when no profile's section about attributes concerns it
	file, run string      // the stream of the record before
	entry     *streamEntry
	touched   []*streamEntry // the batch's streams, when their decisions are stored
	keys      []string       // of further streams that the batch touched
	contexts  traceContexts
}

// count is a counter of a batch.
type count struct{ what, profile, reason string }

// tally counts the records of one profile after another: nearly all of a batch are one's.
type tally struct {
	profile string
	n       int64
}

func (t *tally) add(w *worker, profile string) {
	if profile != t.profile {
		t.flush(w)
		t.profile = profile
	}
	t.n++
}

func (t *tally) flush(w *worker) {
	if t.n > 0 {
		w.counts[count{what: "mapped", profile: t.profile}] += t.n
		t.n = 0
	}
}

func newLogNormalizer(cfg *Config, set processor.Settings, claims *componentkit.Claims) (*logNormalizer, error) {
	profiles, err := cfg.profiles()
	if err != nil {
		return nil, err
	}
	location, err := time.LoadLocation(cfg.Timezone)
	if err != nil {
		return nil, err
	}
	telemetry, err := metadata.NewTelemetry(set.TelemetrySettings, set.ID)
	if err != nil {
		return nil, err
	}
	known := newStreams(maxStreams)
	n := &logNormalizer{
		id: set.ID, storage: cfg.Storage, claims: claims,
		set: profiles, namer: newNamer(cfg), streams: known, decisions: &decisions{streams: known},
		telemetry: telemetry, logger: set.Logger,
	}
	n.workers.New = func() any {
		return &worker{
			mapper: trainprofile.NewMapper(location), lifted: newLifted("log"),
			further: plog.NewLogRecordSlice(), counts: map[count]int64{}, contexts: traceContexts{salt: cfg.IDSalt},
		}
	}
	return n, nil
}

func (n *logNormalizer) processLogs(ctx context.Context, ld plog.Logs) (plog.Logs, error) {
	w := n.workers.Get().(*worker)
	defer n.workers.Put(w)
	n.namer.readLogs(ld)
	for _, rl := range ld.ResourceLogs().All() {
		resource := rl.Resource().Attributes()
		w.counts[count{what: "moved"}] += w.lifted.take(resource, w.mapper.Identities(n.set, resource))
		w.resource = nothing
		if w.mapper.Concerns(n.set, resource) {
			w.resource = resource
		}
		for _, sl := range rl.ScopeLogs().All() {
			n.processRecords(w, sl.Scope().Name(), sl.LogRecords())
		}
	}
	w.mapped.flush(w)
	err := n.settle(ctx, w)
	n.namer.writeLogs(ld)
	n.record(ctx, w)
	w.file, w.run, w.entry = "", "", nil
	clear(w.touched)
	clear(w.keys)
	w.touched, w.keys = w.touched[:0], w.keys[:0]
	return ld, err
}

// settle has the storage hold what the batch's streams were recognised as, before the batch goes on. When it refuses, the
// batch comes again: of its counts only those stay that will not be met then.
func (n *logNormalizer) settle(ctx context.Context, w *worker) error {
	if n.storage == nil {
		return nil
	}
	err := n.decisions.settle(ctx, w.touched, w.keys)
	if err != nil {
		n.failed(ctx, "write")
		for c := range w.counts {
			if c.what != "detected" && c.what != "forgotten" && c.what != "revised" {
				delete(w.counts, c)
			}
		}
	}
	return err
}

func (n *logNormalizer) processRecords(w *worker, scope string, records plog.LogRecordSlice) {
	w.scope, w.entry = scope, nil
	for i, lr := range records.All() {
		w.lifted.put(lr.Attributes())
		n.attributes(w, lr)
		if !trainprofile.MayHoldRow(lr) {
			if n.decisions.unsaved.Load() { // it may have been an object when its batch was refused
				w.keys = append(w.keys, streamKey(lr.Attributes(), scope))
			}
			n.pass(w, lr)
			n.context(w, lr, nil)
			continue
		}
		w.at = i
		stream, entry, made := n.streamOf(w, lr), w.entry, w.further.Len()
		out := w.mapper.Process(n.set, stream, lr, w.more)
		n.count(w, out, lr)
		n.context(w, lr, entry)
		for ; made < w.further.Len(); made++ {
			n.context(w, w.further.At(made), entry)
		}
	}
	if len(w.after) > 0 {
		w.insert(records)
	}
}

// pass has a stream know that it was seen from its first line on, when that is a record already.
func (n *logNormalizer) pass(w *worker, lr plog.LogRecord) {
	if trainrecord.AtStart(trainprofile.OffsetOf(lr)) {
		if stream := n.streamOf(w, lr); stream != nil {
			stream.Begin()
		}
		n.beginAnew(w, lr.Attributes())
	}
}

// more gives a log record for a further record of the object that is being mapped.
func (w *worker) more() plog.LogRecord {
	w.after = append(w.after, w.at)
	return w.further.AppendEmpty()
}

// insert puts the further records behind those that they came from.
func (w *worker) insert(records plog.LogRecordSlice) {
	all := plog.NewLogRecordSlice()
	all.EnsureCapacity(records.Len() + len(w.after))
	next := 0
	for i, lr := range records.All() {
		lr.MoveTo(all.AppendEmpty())
		for ; next < len(w.after) && w.after[next] == i; next++ {
			w.further.At(next).MoveTo(all.AppendEmpty())
		}
	}
	drop := func(plog.LogRecord) bool { return true }
	records.RemoveIf(drop)
	w.further.RemoveIf(drop)
	w.after = w.after[:0]
	all.MoveAndAppendTo(records)
}

func text(attrs pcommon.Map, key string) string {
	if v, ok := attrs.Get(key); ok && v.Type() == pcommon.ValueTypeStr {
		return v.Str()
	}
	return ""
}

// attributes maps those of a log record.
func (n *logNormalizer) attributes(w *worker, lr plog.LogRecord) {
	out := w.mapper.MapAttributes(n.set, trainprofile.SignalLog, trainprofile.Item{Attributes: lr.Attributes(), Resource: w.resource})
	if out.Set > 0 {
		w.counts[count{what: "attributes"}] += int64(out.Set)
	}
	for _, e := range out.Errors {
		w.counts[count{what: "field", profile: e.Profile, reason: e.Reason}]++
	}
}
