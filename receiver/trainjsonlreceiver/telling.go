package trainjsonlreceiver

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const (
	// tellFor is how long a call that tells a state may last.
	tellFor = 10 * time.Second
	// maxTelling is how many of them may last at a time, of each loop.
	maxTelling = 32
)

// tellLoop tells the pipeline of each stream whose state changed, until the context ends. There is one loop for those that
// the pipeline keeps waiting, and one for the others, which must not wait behind them.
func (t *tailer) tellLoop(ctx context.Context, kept bool) {
	tick := time.NewTicker(t.cfg.StreamStatus.Interval)
	defer tick.Stop()
	slots := make(chan struct{}, maxTelling)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, s := range t.untold(time.Now(), kept) {
			select {
			case <-ctx.Done():
				return
			case slots <- struct{}{}:
			}
			told := make(chan struct{})
			t.group.Go(func() {
				t.tell(ctx, s)
				<-slots
				close(told)
			})
			select { // one call at a time, unless one lasts
			case <-told:
			case <-time.After(handOff):
			}
		}
	}
}

// untold gives the streams whose state is another than the one told last. One that is gone is told of too, as long as no
// other is where it was, and as soon as it is known that it is gone.
func (t *tailer) untold(now time.Time, kept bool) []*stream {
	var out []*stream
	there, settled := t.paths(), t.settled.Load()
	for _, s := range append(t.list(), t.departed.list(now)...) {
		s.mu.Lock()
		state := s.state(now, t.cfg.SilentAfter)
		left := s.gone && (there[s.mark.Path] || !settled)
		news := state != s.told || s.mark.Path != s.toldPath
		if news && !left && !s.telling && kept == (state == streamBlocked || s.tellLater) {
			out = append(out, s)
		}
		s.mu.Unlock()
	}
	return out
}

// departed are what streams were before another file took their inode, until their silence is told.
type departed struct {
	mu  sync.Mutex
	all []*stream
}

// add takes leave of a stream whose file turned out to be another one, at another path, than the one that was told of.
func (d *departed) add(s *stream, m mark, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.toldPath == "" || s.toldPath == m.Path || s.told == streamSilent || s.told == streamEnded {
		return
	}
	m.Path, m.GoneTime = s.toldPath, now.Unix()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, &stream{mark: m, size: m.Offset, gone: true, written: s.parted, told: s.told, toldPath: s.toldPath})
}

// list gives those whose silence is not told, for as long as files are remembered.
func (d *departed) list(now time.Time) []*stream {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = slices.DeleteFunc(d.all, func(s *stream) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.told == streamSilent || s.told == streamEnded || s.goneSince(now) >= goneFor
	})
	return slices.Clone(d.all)
}

// tell sends an event of what a stream does. It is not sent again if it is refused: the state of then is, at the next
// interval.
func (t *tailer) tell(ctx context.Context, s *stream) {
	now := time.Now()
	s.mu.Lock()
	state, m, written, unread := s.state(now, t.cfg.SilentAfter), s.mark, s.written, s.unread()
	s.telling = true
	s.mu.Unlock()
	run := m.Run
	if run == "" {
		run = t.pathID(m).run
	}
	call, cancel := context.WithTimeout(client.NewContext(ctx, client.Info{Metadata: client.NewMetadata(
		map[string][]string{trainrecord.MetadataRunID: {run}})}), tellFor)
	defer cancel()
	err := t.next.ConsumeLogs(call, statusEvent(m.Path, run, state, now, written, unread))
	if err != nil && ctx.Err() == nil {
		t.warn("tell", "The pipeline refused the event of a stream's state", zap.String("file", m.Path), zap.Error(err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.telling, s.tellLater = false, err != nil
	if err == nil {
		s.told, s.toldPath = state, m.Path
	}
}

// statusEvent is no record of the run: it has neither a uid nor an event time.
func statusEvent(path, run string, state streamState, now, written time.Time, unread int64) plog.Logs {
	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	rl.SetSchemaUrl(trainrecord.SchemaURL)
	sl := rl.ScopeLogs().AppendEmpty()
	sl.SetSchemaUrl(trainrecord.SchemaURL)
	sl.Scope().SetName(trainrecord.ScopeName)
	sl.Scope().SetVersion(trainrecord.SchemaVersion)
	lr := sl.LogRecords().AppendEmpty()
	lr.SetEventName(trainrecord.EventName(trainrecord.EventStreamStatus))
	lr.SetObservedTimestamp(pcommon.NewTimestampFromTime(now))
	lr.SetSeverityNumber(plog.SeverityNumberInfo)
	if state == streamSilent || state == streamBlocked {
		lr.SetSeverityNumber(plog.SeverityNumberWarn)
	}
	if run != "" {
		lr.Attributes().PutStr(trainrecord.AttrRunID, run)
	}
	lr.Attributes().PutStr(trainrecord.AttrLogFilePath, validText(path))
	body := lr.Body().SetEmptyMap()
	body.PutStr(trainrecord.BodyState, string(state))
	if !written.IsZero() {
		body.PutStr(trainrecord.BodyLastGrowth, written.UTC().Format(time.RFC3339Nano))
	}
	body.PutInt(trainrecord.BodyBytesBehind, unread)
	return logs
}
