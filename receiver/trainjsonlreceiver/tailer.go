package trainjsonlreceiver

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/receiver/trainjsonlreceiver/internal/metadata"
)

// formatName is what the standard self-metrics and spans call the input.
const formatName = "train_jsonl"

// notLooked is no size of a file.
const notLooked = -1

// tailer follows the files. Finding them, reading them and saving offsets are loops of their own: none waits for another.
type tailer struct {
	cfg       *Config
	pathRegex *regexp.Regexp
	globs     *globs
	builders  *builders
	next      consumer.Logs
	obs       *receiverhelper.ObsReport
	tel       *metadata.Telemetry
	logger    *zap.Logger
	status    func(*componentstatus.Event)
	client    storage.Client
	fs        fileSystem
	wait      func(context.Context, time.Duration) error
	spawn     func(func()) // runs a search
	slots     int
	turnSize  int64

	packed    *gzipFiles
	unpacking unpacking
	handles   handles
	budget    budget
	seldom    componentkit.Seldom // of log lines
	group     sync.WaitGroup
	work      chan struct{}
	done      chan struct{} // closed when all loops and turns have ended

	mu      sync.Mutex
	streams map[fileKey]*stream
	ready   []*stream            // in the order of their turns
	waiting map[*stream]struct{} // for space

	// Of the poll.
	nextSearch  time.Time
	found       chan found // what a search found; one runs at a time
	searching   bool
	searchBegan time.Time
	slow        bool            // the search that runs was counted as slow
	searchedAt  time.Time       // when the last search that ended began
	skipped     map[string]bool // paths that match and are no regular files
	searched    atomic.Bool     // once at least
	denied      bool            // the last search, in part
	unhealthy   bool            // as reported last
}

func (t *tailer) newStream(k fileKey, m mark) *stream {
	return &stream{key: k, mark: m, looked: notLooked}
}

// list gives all streams.
func (t *tailer) list() []*stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]*stream, 0, len(t.streams))
	for _, s := range t.streams {
		out = append(out, s)
	}
	return out
}

func (t *tailer) byKey(k fileKey) *stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.streams[k]
}

// forget drops streams that are gone for long.
func (t *tailer) forget(expired []*stream) {
	for _, s := range expired {
		t.handles.drop(s)
		t.packed.forget(s.key)
		t.unpacking.end(s)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range expired {
		delete(t.streams, s.key)
	}
}

// start runs the loops until the context ends.
func (t *tailer) start(ctx context.Context) {
	t.group.Go(func() { t.pollLoop(ctx) })
	t.group.Go(func() { t.dispatchLoop(ctx) })
	t.group.Go(func() { t.saveLoop(ctx) })
	t.done = make(chan struct{})
	go func() {
		t.group.Wait()
		close(t.done)
	}()
}

// waitFor waits for the loops and turns, at most as long as ctx allows.
func (t *tailer) waitFor(ctx context.Context) error {
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-t.done:
		return nil
	case <-time.After(graceTime):
		return fmt.Errorf("a consumer did not return in time: %w", ctx.Err())
	}
}

func (t *tailer) stopped() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}
