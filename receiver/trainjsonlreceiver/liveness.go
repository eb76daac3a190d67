package trainjsonlreceiver

import (
	"time"

	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/receiver/trainjsonlreceiver/internal/metadata"
)

const (
	// lagTold is the lag from which on the log names the file.
	lagTold = time.Minute
	// stalledAfter is how long the pipeline may keep a call waiting before the stream counts as blocked.
	stalledAfter = 10 * time.Second
)

// streamState is what a stream does, in the words of the vocabulary.
type streamState string

// States of a stream; each one that is there is in one of them.
const (
	streamGrowing streamState = trainrecord.StreamGrowing
	streamSilent  streamState = trainrecord.StreamSilent
	streamEnded   streamState = trainrecord.StreamEnded
	streamBlocked streamState = trainrecord.StreamBlocked
)

// state tells what a stream does. One that is gone falls silent before it is forgotten. It is called with the lock.
func (s *stream) state(now time.Time, silentAfter time.Duration) streamState {
	if s.gone {
		silentAfter = min(silentAfter, goneFor/2)
	}
	switch {
	case s.keptWaiting(now), s.failures > 0, s.hanging:
		return streamBlocked
	case s.mark.Ended:
		return streamEnded
	case now.Sub(s.written) >= silentAfter:
		return streamSilent
	default:
		return streamGrowing
	}
}

// keptWaiting says whether the pipeline refuses the stream's records, or does not answer. It is called with the lock.
func (s *stream) keptWaiting(now time.Time) bool {
	return s.stalled || !s.calling.IsZero() && now.Sub(s.calling) >= stalledAfter
}

// observe gives the gauges their values.
func (t *tailer) observe() metadata.Gauges {
	now := time.Now()
	g := metadata.Gauges{Open: int64(t.handles.count()), HungCalls: int64(t.hangs.count()), Silence: -1}
	for _, s := range t.list() {
		s.mu.Lock()
		if !s.gone {
			t.observeOne(s, now, &g)
		}
		s.mu.Unlock()
	}
	return g
}

func (t *tailer) observeOne(s *stream, now time.Time, g *metadata.Gauges) {
	g.Known++
	g.Unread += max(s.size-s.mark.Offset, 0)
	if s.keptWaiting(now) {
		g.Stalled++
	}
	if s.denied {
		g.Unreadable++
	}
	if silence := max(now.Sub(s.written), 0).Seconds(); g.Silence < 0 || silence < g.Silence {
		g.Silence = silence
	}
	if !s.mark.Ended {
		g.Growth[metadata.GrowthClass(now.Sub(s.written))]++
	}
	if !s.behind.IsZero() && s.unread() > 0 {
		g.Lag = max(g.Lag, now.Sub(s.behind).Seconds())
	}
	switch s.state(now, t.cfg.SilentAfter) {
	case streamGrowing:
		g.Growing++
	case streamSilent:
		g.Silent++
	case streamEnded:
		g.Ended++
	case streamBlocked:
		g.Blocked++
	}
}

// tellLag logs, once a minute, the file that has waited longest for the pipeline, if that is long: no metric may name it.
func (t *tailer) tellLag(now time.Time) {
	var worst *stream
	since := now.Add(-lagTold)
	for _, s := range t.list() {
		s.mu.Lock()
		if !s.behind.IsZero() && s.behind.Before(since) && s.unread() > 0 {
			worst, since = s, s.behind
		}
		s.mu.Unlock()
	}
	if worst == nil || !t.seldom.Allow("lag") {
		return
	}
	worst.mu.Lock()
	path, unread, run := worst.mark.Path, worst.unread(), worst.mark.Run
	worst.mu.Unlock()
	t.logger.Warn("A file has bytes that have not been accepted for long, of all files for the longest time",
		zap.String("file", path), zap.String("run", run), zap.Duration("lag", now.Sub(since)), zap.Int64("unread_bytes", unread))
}
