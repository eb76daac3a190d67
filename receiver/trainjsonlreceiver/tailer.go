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
	packs     bool // packed files may be among those that are found
	turnSize  int64

	packed    *gzipFiles
	unpacking unpacking
	handles   handles
	hangs     hangs
	gate      *gate
	lookers   lookers
	detours   detours
	watch     watch
	budget    budget
	calls     *calls
	buffers   buffers
	twins     twins
	departed  departed
	rewritten rewritten
	stalled   atomic.Int64        // turns that wait for a pipeline that refuses
	seldom    componentkit.Seldom // of log lines
	group     sync.WaitGroup
	work      chan struct{}
	turned    chan struct{} // after each turn
	done      chan struct{} // closed when all loops and turns have ended

	mu         sync.Mutex
	streams    map[fileKey]*stream
	all        []*stream            // the same, nil = to be made; never written to but at its end
	orphans    map[string]*stream   // by the path at which they were, that may have another key now
	texts      map[string]*stream   // by the path at which its reading began, the one with the newest text
	dropped    []string             // storage keys that are not used any more
	ready      []*stream            // in the order of their turns
	waiting    map[*stream]struct{} // for space
	skipped    map[string]bool      // paths that match and are no regular files
	searchedAt time.Time            // when the last search that ended began

	// Of the poll.
	nextSearch    time.Time
	watchedSearch time.Time  // likewise, if the operating system tells of all new files
	found         chan found // what a search found; one runs at a time
	searching     bool
	searchBegan   time.Time
	slow          bool      // the search that runs was counted as slow
	firstFound    time.Time // when the first search ended
	statusAt      time.Time
	unhealthy     bool // as reported last

	settled atomic.Bool // what the first search found was looked at
	denied  atomic.Bool // the last search or a look since, in part
}

func (t *tailer) newStream(k fileKey, m mark) *stream {
	s := &stream{key: k, mark: m, looked: notLooked}
	s.device.Store(k.dev)
	if m.Packed != (unpackedSize{}) {
		t.packed.set(k, m.Packed)
	}
	return s
}

// add takes a stream up, unless its file is known by now; it gives the one that is.
func (t *tailer) add(ctx context.Context, s *stream) *stream {
	if known := t.addUnlessKnown(s); known != s {
		return known
	}
	if m, _ := s.get(); m.Was != nil {
		t.keepRewritten(ctx, *m.Was)
	}
	return s
}

func (t *tailer) addUnlessKnown(s *stream) *stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.streams[s.key]; known != nil {
		return known
	}
	t.streams[s.key] = s
	t.newText(s)
	if t.all != nil {
		t.all = append(t.all, s)
	}
	return s
}

// list gives all streams.
func (t *tailer) list() []*stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = make([]*stream, 0, len(t.streams))
		for _, s := range t.streams {
			t.all = append(t.all, s)
		}
	}
	return t.all[:len(t.all):len(t.all)]
}

func (t *tailer) byKey(k fileKey) *stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.streams[k]
}

// forget drops streams that are gone for long.
func (t *tailer) forget(expired []*stream) {
	if len(expired) == 0 {
		return
	}
	for _, s := range expired {
		t.handles.drop(s)
		t.watch.forget(s)
		t.packed.forget(s.key)
		t.unpacking.end(s)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range expired {
		m, _ := s.get()
		t.twins.forget(t.pathID(m).run, m.Origin)
		if t.streams[s.key] == s {
			delete(t.streams, s.key)
		}
		if t.texts[m.Origin] == s {
			delete(t.texts, m.Origin)
		}
		if t.orphans[m.Path] == s {
			delete(t.orphans, m.Path)
		}
	}
	t.all = nil
}

// start runs the loops until the context ends.
func (t *tailer) start(ctx context.Context) {
	t.group.Go(func() { t.pollLoop(ctx) })
	t.group.Go(func() { t.dispatchLoop(ctx) })
	t.group.Go(func() { t.saveLoop(ctx) })
	t.group.Go(func() { t.watch.loop(ctx) })
	if t.cfg.StreamStatus.Interval > 0 {
		t.group.Go(func() { t.tellLoop(ctx, false) })
		t.group.Go(func() { t.tellLoop(ctx, true) })
	}
	t.done = make(chan struct{})
	go func() {
		t.group.Wait()
		t.gate.close()
		<-t.gate.empty
		close(t.done)
	}()
}

// waitFor waits for the loops and turns, at most as long as ctx allows. It does not wait for what hangs in the file system.
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
