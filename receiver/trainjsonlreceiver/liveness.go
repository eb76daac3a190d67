package trainjsonlreceiver

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/receiver/trainjsonlreceiver/internal/metadata"
)

// lagTold is the lag from which on the log names the file.
const lagTold = time.Minute

// streamState is what a stream does, in the words of the vocabulary.
type streamState string

// States of a stream; each one that is there is in one of them.
const (
	streamGrowing streamState = "growing"
	streamSilent  streamState = "silent"
	streamEnded   streamState = "ended"
	streamBlocked streamState = "blocked"
)

// state tells what a stream does. It is called with the lock.
func (s *stream) state(now time.Time, silentAfter time.Duration) streamState {
	switch {
	case s.stalled, s.failures > 0, s.hanging:
		return streamBlocked
	case s.mark.Ended:
		return streamEnded
	case now.Sub(s.written) >= silentAfter:
		return streamSilent
	default:
		return streamGrowing
	}
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
	if s.stalled {
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

// tellLoop tells the pipeline of each stream whose state changed, until the context ends.
func (t *tailer) tellLoop(ctx context.Context) {
	tick := time.NewTicker(t.cfg.StreamStatus.Interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			t.tell(ctx, time.Now())
		}
	}
}

// tell sends an event for each stream whose state is another than the one told last. Nothing is sent again if it is
// refused; the next change is told, and so is the present state if the event did not arrive.
func (t *tailer) tell(ctx context.Context, now time.Time) {
	for _, s := range t.list() {
		s.mu.Lock()
		state, before, gone := s.state(now, t.cfg.SilentAfter), s.told, s.gone
		m, written, unread := s.mark, s.written, s.unread()
		s.mu.Unlock()
		if gone || state == before || ctx.Err() != nil {
			continue
		}
		run := m.Run
		if run == "" {
			run = t.pathID(m).run
		}
		err := t.next.ConsumeLogs(client.NewContext(ctx, client.Info{Metadata: client.NewMetadata(
			map[string][]string{trainrecord.MetadataRunID: {run}})}), statusEvent(m.Path, run, state, now, written, unread))
		if err != nil {
			t.warn("tell", "The pipeline refused the event of a stream's state", zap.String("file", m.Path), zap.Error(err))
			continue
		}
		s.mu.Lock()
		s.told = state
		s.mu.Unlock()
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
	body.PutStr(trainrecord.BodyLastGrowth, written.UTC().Format(time.RFC3339Nano))
	body.PutInt(trainrecord.BodyBytesBehind, unread)
	return logs
}
