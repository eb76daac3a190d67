package trainrun

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const oneSecond = int64(nanosPerSec)

func liveOptions() LiveOptions {
	return LiveOptions{
		HistoryAge: 300 * oneSecond, IdleTimeout: 60 * oneSecond, AbandonAfter: 600 * oneSecond, FailureGrace: 20 * oneSecond, LateGrace: 10 * oneSecond,
		Attempts: 8, Tombstones: 16, DedupWindow: 16, OpenPhases: 4,
	}
}

// drawSighting draws a record of one of few runs, with anything that a record may tell.
func drawSighting(t *rapid.T, now int64) Sighting {
	n := func(name string, top int) int64 { return int64(rapid.IntRange(0, top).Draw(t, name)) }
	s := Sighting{
		RunID: fmt.Sprint("r", n("run", 3)), Event: Event(1 + n("event", int(eventCount)-2)), Attempt: 1 + n("attempt", 1), Rank: n("rank", 1),
		Part: rapid.SampledFrom([]string{"", "", "fold=0"}).Draw(t, "part"), Framework: "pytorch", Phase: rapid.SampledFrom([]string{"", "train", "test"}).Draw(t, "phase"),
		Time: now - n("age", 400)*oneSecond, Arrived: Moment{now, now}, Progress: noProgress,
	}
	s.noDurations()
	s.ID = ID{Kind: IDUID, File: uint32(s.Rank), Place: n("place", 200), CRC: uint32(n("crc", 2))}
	if rapid.Bool().Draw(t, "epoch") {
		s.Epoch = Int{n("epoch", 4), true}
	}
	if rapid.Bool().Draw(t, "durations") {
		s.TrainS, s.PhaseS, s.DataWaitS = float64(n("train_s", 50)), float64(n("phase_s", 50)), 1
		s.Samples, s.Step = Int{8, true}, Int{n("step", 20), true}
	}
	if s.Event == EventRunStart || s.Event == EventRunEnd || s.Event == EventRunFailure {
		s.Detail = &SightDetail{Outcome: "success", Family: "detection", Emits: Emits(n("emits", 3) / 3), Extra: []string{"a", ""}, Message: "m"}
	}
	s.Source = &Source{Attributes: pcommon.NewMap()}
	s.Source.Attributes.PutStr("service.name", "s")
	s.Trace[0], s.Span[0] = byte(n("trace", 1)), byte(n("span", 1))
	return s
}

// plain makes transitions comparable.
func plain(list []Transition) (out []string) {
	for _, t := range list {
		c := t.Course
		span := ""
		if t.Span != nil {
			span = fmt.Sprint(*t.Span)
		}
		out = append(out, fmt.Sprint(t.Kind, c.RunID, c.Number, t.Phase, t.Seconds, t.Count, t.Counts, span, c.Outcome, c.End, c.Completed(), c.Opened, c.Stalled))
	}
	return out
}

// TestALiveLayerGoesOnFromItsSnapshot also sends all records through their journal form.
func TestALiveLayerGoesOnFromItsSnapshot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		one, other := NewLive(liveOptions()), NewLive(liveOptions())
		now := 1_000_000 * oneSecond
		opened, ended := 0, map[string]int{}
		for range rapid.IntRange(1, 30).Draw(rt, "rounds") {
			now += int64(rapid.IntRange(1, 200).Draw(rt, "gap")) * oneSecond
			var batch []Sighting
			for range rapid.IntRange(0, 5).Draw(rt, "records") {
				batch = append(batch, drawSighting(rt, now))
			}
			copies, err := DecodeSightings(AppendSightings(nil, batch))
			require.NoError(rt, err)
			a, tally := one.Take(batch, Moment{now, now})
			want := plain(a)
			opened, _ = account(a, opened, ended)
			b, same := other.Take(copies, Moment{now, now})
			require.Equal(rt, want, plain(b))
			require.Equal(rt, tally, same)
			a = one.Tick(Moment{now, now})
			want = plain(a)
			opened, _ = account(a, opened, ended)
			require.Equal(rt, want, plain(other.Tick(Moment{now, now})))
			restored := NewLive(liveOptions())
			require.NoError(rt, restored.Restore(other.Snapshot()))
			require.Equal(rt, other.Snapshot(), restored.Snapshot())
			other = restored
		}
		open := 0
		one.Courses(func(c *Course) {
			if c.Opened && !c.Ended {
				open++
			}
		})
		total := 0
		for _, n := range ended {
			total += n
		}
		require.Equal(rt, opened, total+open, "an announced attempt got lost, or ended twice")
	})
}

func account(list []Transition, opened int, ended map[string]int) (int, map[string]int) {
	for _, t := range list {
		key := fmt.Sprint(t.Course.RunID, "/", t.Course.Written, "/", t.Course.Number)
		switch {
		case t.Kind == Opened:
			opened++
		case t.Kind == Ended && t.Course.Opened:
			ended[key]++
		default:
		}
	}
	return opened, ended
}

// TestWhatIsOverIsBounded: of many runs that end within the time for late records those stay that ended last.
func TestWhatIsOverIsBounded(t *testing.T) {
	t.Parallel()
	opt := liveOptions()
	opt.Attempts, opt.Tombstones = 10_000, 10_000
	l := NewLive(opt)
	now := 1_000_000 * oneSecond
	tell := func(run int, event Event, place int64) Tally {
		s := Sighting{RunID: fmt.Sprintf("r%04d", run), Event: event, Attempt: 1, Framework: "pytorch", Time: now, Arrived: Moment{now, now}, Progress: noProgress}
		s.ID = ID{Kind: IDUID, Place: place}
		s.noDurations()
		if event == EventRunEnd {
			s.Detail = &SightDetail{Outcome: trainrecord.OutcomeSuccess}
		}
		_, tally := l.Take([]Sighting{s}, Moment{now, now})
		return tally
	}
	const runs = 2500
	outcomes := 0
	for run := range runs {
		now += oneSecond / 100
		tell(run, EventRunStart, 1)
		tell(run, EventRunEnd, 2)
		if run%100 == 99 {
			l.Tick(Moment{now, now})
			require.LessOrEqual(t, l.Len(), maxOver+int(opt.LateGrace/(oneSecond/100)))
		}
	}
	now += opt.LateGrace
	for _, tr := range l.Tick(Moment{now, now}) {
		if tr.Kind == Settled {
			outcomes++
		}
	}
	assert.Equal(t, maxOver, outcomes, "the last ten seconds")
	assert.Equal(t, maxOver, l.Len())
	assert.Equal(t, Tally{SightLate: 1}, tell(runs-maxOver-1, EventStepEnd, 3), "forgotten, and not begun anew")
	assert.Equal(t, Tally{SightCounted: 1}, tell(runs-maxOver, EventStepEnd, 3))
	restored := NewLive(opt)
	require.NoError(t, restored.Restore(l.Snapshot()))
	assert.Equal(t, maxOver, restored.Len())
}

func TestAWindowForgetsTheSmallestPlaces(t *testing.T) {
	t.Parallel()
	var a arrivals
	see := func(place int64, crc uint32) bool {
		return a.add(&Sighting{ID: ID{Kind: IDUID, File: 1, Place: place, CRC: crc}}, 4)
	}
	for _, place := range []int64{100, 50, 200, 150} {
		assert.True(t, see(place, 1))
		assert.False(t, see(place, 1), "a copy")
	}
	assert.True(t, see(200, 2), "the line was rewritten")
	assert.False(t, see(50, 1), "pushed out, and below the floor")
	assert.False(t, see(20, 1), "below the floor")
	assert.True(t, see(300, 1))
	assert.True(t, see(120, 1), "reordered, but not by much")
}

func FuzzLiveRestore(f *testing.F) {
	l := NewLive(liveOptions())
	s := Sighting{RunID: "r", Event: EventPhaseStart, Attempt: 1, Phase: trainrecord.PhaseTrain, Time: oneSecond, Arrived: Moment{oneSecond, oneSecond}, Progress: noProgress}
	s.noDurations()
	l.Take([]Sighting{s}, Moment{oneSecond, oneSecond})
	f.Add(l.Snapshot())
	f.Add([]byte{liveVersion})
	f.Fuzz(func(t *testing.T, b []byte) {
		l := NewLive(liveOptions())
		if l.Restore(b) != nil {
			assert.Zero(t, l.Len())
			return
		}
		s := s
		l.Take([]Sighting{s}, Moment{oneSecond, oneSecond})
		l.Tick(Moment{1 << 60, 1 << 60})
		l.Snapshot()
	})
}

func FuzzDecodeSightings(f *testing.F) {
	s := Sighting{RunID: "r", Event: EventRunEnd, Attempt: 1, Detail: &SightDetail{Outcome: "success"}, Progress: noProgress}
	s.noDurations()
	f.Add(AppendSightings(nil, []Sighting{s}))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := DecodeSightings(b)
		if err != nil {
			return
		}
		l := NewLive(liveOptions())
		l.Take(list, Moment{oneSecond, oneSecond})
		l.Tick(Moment{1 << 60, 1 << 60})
		again, err := DecodeSightings(AppendSightings(nil, list))
		require.NoError(t, err)
		assert.Len(t, again, len(list))
	})
}

// TestARestartKeepsWhichRecordEndedAnAttempt has the first run.start of a run stand before its end, with a clock that is ahead of it.
func TestARestartKeepsWhichRecordEndedAnAttempt(t *testing.T) {
	t.Parallel()
	now := Moment{1_000_000 * oneSecond, 1_000_000 * oneSecond}
	at := func(event Event, place, ahead int64) Sighting {
		s := Sighting{RunID: "r", Event: event, Attempt: 1, Time: now.Wall + ahead, Arrived: now, Progress: noProgress, Detail: &SightDetail{Outcome: "success"}}
		s.noDurations()
		s.ID = ID{Kind: IDUID, File: 7, Place: place}
		return s
	}
	l, restored := NewLive(liveOptions()), NewLive(liveOptions())
	l.Take([]Sighting{at(EventRunEnd, 50, 0)}, now)
	require.NoError(t, restored.Restore(l.Snapshot()))
	for _, l := range []*Live{l, restored} {
		list, _ := l.Take([]Sighting{at(EventRunStart, 10, oneSecond)}, now)
		for _, told := range list {
			assert.Equal(t, int64(1), told.Course.Number)
		}
	}
}
