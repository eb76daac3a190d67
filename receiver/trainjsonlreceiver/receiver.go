package trainjsonlreceiver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.opentelemetry.io/otel/metric"

	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/internal/trainlines"
	"github.com/pathologize/otelcol-train/receiver/trainjsonlreceiver/internal/metadata"
)

const (
	saveTime    = 5 * time.Second // for the last save
	graceTime   = 500 * time.Millisecond
	searchGrace = 250 * time.Millisecond // for a search to see that it is over
)

// trainReceiver is the component: it makes a tailer at each start.
type trainReceiver struct {
	set  receiver.Settings
	cfg  *Config
	next consumer.Logs
	obs  *receiverhelper.ObsReport
	tel  *metadata.Telemetry

	files  fileSystem
	local  func(folder string) bool
	notify func() (watching, error) // nil = files are polled alone
	tailer *tailer
	cancel context.CancelFunc
	gauges metric.Registration
}

func newReceiver(set receiver.Settings, cfg *Config, next consumer.Logs) (*trainReceiver, error) {
	obs, err := receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{
		ReceiverID: set.ID, Transport: "file", ReceiverCreateSettings: set,
	})
	if err != nil {
		return nil, err
	}
	tel, err := metadata.NewTelemetry(set.TelemetrySettings, set.ID)
	if err != nil {
		return nil, err
	}
	return &trainReceiver{set: set, cfg: cfg, next: next, obs: obs, tel: tel, files: osFiles{}, local: isLocal, notify: watchFiles}, nil
}

// Start begins to read.
func (r *trainReceiver) Start(ctx context.Context, host component.Host) error {
	t, err := r.newTailer(host)
	if err != nil {
		return err
	}
	if t.client, err = r.openStorage(ctx, host); err != nil {
		return err
	}
	if err := t.load(ctx); err != nil {
		return errors.Join(err, t.client.Close(ctx))
	}
	if r.gauges, err = r.tel.ObserveFiles(t.observe); err != nil {
		return errors.Join(err, t.client.Close(ctx))
	}
	r.tel.Begin(ctx)
	if r.notify != nil {
		t.watch.open(r.notify)
	}
	if r.cfg.Storage == nil {
		r.set.Logger.Info("No storage is set: after a restart every file is read from its start")
	}
	run, cancel := context.WithCancel(context.Background())
	r.tailer, r.cancel = t, cancel
	t.start(run)
	return nil
}

func (r *trainReceiver) newTailer(host component.Host) (*tailer, error) {
	prefixes, err := trainlines.CompilePrefixes(r.cfg.LinePrefixes)
	if err != nil {
		return nil, err
	}
	location, err := time.LoadLocation(r.cfg.Timezone)
	if err != nil {
		return nil, fmt.Errorf("timezone: %w", err)
	}
	var pathRegex *regexp.Regexp
	if r.cfg.RunID.PathRegex != "" {
		if pathRegex, err = regexp.Compile(r.cfg.RunID.PathRegex); err != nil {
			return nil, fmt.Errorf("run_id: path_regex: %w", err)
		}
	}
	t := &tailer{
		cfg: r.cfg, pathRegex: pathRegex, globs: newGlobs(r.cfg.Include, r.cfg.Exclude),
		builders: newBuilders(trainlines.Options{Location: location, Prefixes: prefixes, NonFinite: nonFinite[r.cfg.NonFinite]}),
		next:     r.next, obs: r.obs, tel: r.tel, logger: r.set.Logger,
		status: func(e *componentstatus.Event) { componentstatus.ReportStatus(host, e) },
		spawn:  func(search func()) { go search() }, found: make(chan found, 1),
		gate: newGate(), wait: componentkit.Wait, slots: min(max(runtime.GOMAXPROCS(0), 2), 16), turnSize: turnBytes,
		budget: budget{max: int64(r.cfg.MaxInFlightBytes)}, calls: newCalls(),
		work: make(chan struct{}, 1), turned: make(chan struct{}, 1), streams: map[fileKey]*stream{}, waiting: map[*stream]struct{}{}, skipped: map[string]bool{}, orphans: map[string]*stream{}, texts: map[string]*stream{},
	}
	t.packs = slices.ContainsFunc(r.cfg.Include, mayMatchPacked)
	t.packed = newGzipFiles(r.files, t.keyFor)
	t.fs = t.packed
	t.watch = watch{
		local: r.local, fs: r.files, logger: r.set.Logger,
		matches: func(path string) bool { return t.globs.match(path) },
		refused: func(reason string) { r.tel.WatchLimits.Add(context.Background(), 1, r.tel.Reason(reason)) },
	}
	t.handles = handles{fs: t.fs, hangs: &t.hangs, open: map[*stream]*handle{}}
	return t, nil
}

// Shutdown stops reading and saves what was accepted, even if a consumer hangs.
func (r *trainReceiver) Shutdown(ctx context.Context) error {
	if r.tailer == nil {
		return nil
	}
	t := r.tailer
	r.tailer = nil
	r.cancel()
	err := t.waitFor(ctx)
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	t.loseLeft(save, time.Now())
	err = errors.Join(err, t.saveLast(save), t.client.Close(save), r.gauges.Unregister())
	if t.stopped() {
		t.handles.shut()
	}
	return err
}

// openStorage opens the client of the offsets. Its name has no underscores in the type, as that of upstream's receivers.
func (r *trainReceiver) openStorage(ctx context.Context, host component.Host) (storage.Client, error) {
	if r.cfg.Storage == nil {
		return storage.NewNopClient(), nil
	}
	st, err := componentkit.FindStorage(host, *r.cfg.Storage)
	if err != nil {
		return nil, err
	}
	id := component.MustNewIDWithName(strings.ReplaceAll(r.set.ID.Type().String(), "_", ""), r.set.ID.Name())
	client, err := componentkit.OpenClient(ctx, st, r.set.Logger, component.KindReceiver, id, "")
	if err != nil {
		return nil, fmt.Errorf("storage: open the client of %s: %w", r.set.ID, err)
	}
	return client, nil
}
