package trainrun

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Two folds of parts of a set know together what one fold of the set knows.
func TestAbsorbedFoldsAreOneFold(t *testing.T) {
	t.Parallel()
	for name, lim := range map[string]limits{"wide": defaultLimits(), "tight": tightLimits()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				blank := newFold(testRun, lim)
				whole, a, b := blank.newCell(), blank.newCell(), blank.newCell()
				for _, e := range drawSet(t, false) {
					e.normalize()
					whole.take(&e, false)
					if rapid.Bool().Draw(t, "first") {
						a.take(&e, false)
					} else {
						b.take(&e, false)
					}
				}
				a.absorb(b)
				require.Equal(t, whole.Snapshot(), a.Snapshot())
			})
		})
	}
}

// drawConflict draws the records of two hosts that work at once, of a third, and of files that name no host.
func drawConflict(t *rapid.T) []Entry {
	var out []Entry
	for i := range rapid.IntRange(1, 50).Draw(t, "n") {
		e := drawEntry(t, i, false)
		e.Rank, e.Seq = 0, 0
		file := rapid.SampledFrom([]struct {
			number uint32
			hosts  []string
		}{{1, []string{"", "h1"}}, {2, []string{"", "h2"}}, {3, []string{""}}, {4, []string{"", "h1", "h3"}}, {5, []string{"h3"}}}).Draw(t, "of")
		e.ID = ID{Kind: IDUID, File: file.number, Place: int64(i) * 10}
		e.Where.Host = rapid.SampledFrom(file.hosts).Draw(t, "at")
		out = append(out, e)
	}
	for i, host := range []string{"h1", "h2"} {
		for _, at := range []int64{1, 40} {
			e := Entry{RunID: testRun, Event: EventEpochEnd, Attempt: 1, Offset: -1, Progress: noProgress, Time: at, Where: Where{Host: host}}
			e.ID = ID{Kind: IDUID, File: uint32(i + 1), Place: 1000 + at}
			out = append(out, e)
		}
	}
	return out
}

// sideOf says whose a record is, by the words of States and not by its code.
func sideOf(list []Entry, e *Entry, hosts []HostSpan) (host string, everybody bool) {
	host = e.Where.Host
	if host == "" {
		named, work := map[string]bool{}, false
		for i := range list {
			switch o := &list[i]; {
			case o.ID.File != e.ID.File:
			case o.Where.Host != "":
				named[o.Where.Host] = true
			case !slices.Contains([]Event{EventArtifact, EventRunFailure, EventRunEnd, EventHeartbeat, EventLog}, o.Event):
				work = true
			}
		}
		if len(named) != 1 {
			return "", !work
		}
		for h := range named {
			host = h
		}
	}
	if !slices.ContainsFunc(hosts, func(h HostSpan) bool { return h.Host == host }) {
		host = hosts[0].Host
	}
	return host, false
}

// What a host's State says is what a fold of its records alone says.
func TestTheStateOfAHostIsThatOfItsRecords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := drawConflict(t)
		f := newFold(testRun, defaultLimits())
		for _, e := range list {
			require.True(t, f.Apply(e))
		}
		states := f.States()
		if len(states) == 1 {
			require.Nil(t, states[0].Conflict)
			t.Skip("other attempts: no conflict")
		}
		for _, st := range states {
			alone := newFold(testRun, defaultLimits())
			for i := range list {
				if host, all := sideOf(list, &list[i], st.Conflict.Hosts); all || host == st.Conflict.Host {
					alone.Apply(list[i])
				}
			}
			want := alone.derive()
			want.Conflict, want.Partial = st.Conflict, st.Partial // what is missing of a stream is that of all
			if a, b := dump(want), dump(st); a != b {
				t.Fatalf("host %q: %s", st.Conflict.Host, firstDifference(a, b))
			}
		}
	})
}

// conflictOf folds lines, each stream a file of its own.
func conflictOf(t *testing.T, streams ...[]string) []*State {
	t.Helper()
	f := New(testRun)
	for i, lines := range streams {
		for _, e := range readStream(t, lines...) {
			e.ID.File = uint32(i + 1)
			f.Apply(e)
		}
	}
	return f.States()
}

func TestRecordsWithoutHostFollowTheirFile(t *testing.T) {
	t.Parallel()
	on := func(host string, at float64, loss string) []string {
		return []string{
			line("run.start", at, `"host": "`+host+`"`, `"params": {"on": "`+host+`"}`), epoch(at+1, "", 0, loss), epoch(at+3, "", 1, loss+"5"),
		}
	}
	a, b := append(on("a", 0, "1"), line("run.end", 9, "", `"outcome": "success"`)), on("b", 1, "2")
	summary := func(list []*State) string {
		var out []string
		for _, st := range list {
			host := "-"
			if st.Conflict != nil {
				host = "[" + st.Conflict.Host + "]"
			}
			words := []string{host, st.Outcome, curve(seriesOf(st, "", "val/loss", AxisEpoch))}
			out = append(out, strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " "))
		}
		return strings.Join(out, "; ")
	}
	end := line("run.end", 20, "", `"outcome": "aborted"`)
	for name, tc := range map[string]struct {
		streams [][]string
		want    string
	}{
		"one host":                {[][]string{a}, "- success 0:1 1:15"},
		"two hosts":               {[][]string{b, a}, "[a] success 0:1 1:15; [b] 0:2 1:25"},
		"a launcher ends both":    {[][]string{a[:3], b, {end}}, "[a] aborted 0:1 1:15; [b] aborted 0:2 1:25"},
		"work of nobody":          {[][]string{a, b, {epoch(2, "", 0, "7"), end}}, "[a] success 0:1 1:15; [b] 0:2 1:25; [] aborted 0:7"},
		"a third, later":          {[][]string{a, b, {epoch(30, `"host": "c"`, 2, "0.5"), end}}, "[a] aborted 0:1 1:15 2:0.5; [b] 0:2 1:25"},
		"another rank elsewhere":  {[][]string{a, {epoch(1, `"host": "b", "rank": 1`, 0, "2"), epoch(4, `"host": "b", "rank": 1`, 1, "2")}}, "- success 0:1 1:15"},
		"one after the other":     {[][]string{a[:3], on("b", 5, "2")}, "- 0:2 1:25"},
		"nobody says where he is": {[][]string{{epoch(0, "", 0, "1"), epoch(3, "", 1, "1")}, {epoch(1, "", 0, "2"), epoch(4, "", 1, "2")}}, "- 0:2 1:2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, summary(conflictOf(t, tc.streams...)))
		})
	}
}

func TestTheOwnerIsTheFirstThenTheLesserName(t *testing.T) {
	t.Parallel()
	on := func(host string, at float64) []string {
		return []string{epoch(at, `"host": "`+host+`"`, 0, "1"), epoch(at+3, `"host": "`+host+`"`, 1, "1")}
	}
	assert.Equal(t, "z", conflictOf(t, on("a", 2), on("z", 1))[0].Conflict.Host)
	states := conflictOf(t, on("z", 1), on("b", 1))
	assert.Equal(t, "b", states[0].Conflict.Host)
	assert.True(t, states[0].Conflict.Owner())
	assert.False(t, states[1].Conflict.Owner())
	assert.Equal(t, int64(2), states[1].Records.Count)
	assert.Equal(t, int64(4), states[1].Conflict.Records)
}

// Records without uid that differ in the host alone are two.
func TestHostsThatSayTheSameAreTwo(t *testing.T) {
	t.Parallel()
	for _, seq := range []int64{0, 1} {
		f := New(testRun)
		for _, host := range []string{"a", "b", "a"} {
			r := record("epoch.end", nil, map[string]any{"epoch": 1})
			r.Host, r.Seq = host, seq
			e, ok := Reduce(r)
			require.True(t, ok)
			f.Apply(e)
		}
		assert.Equal(t, int64(2), f.Count(), "seq %d", seq)
	}
}
