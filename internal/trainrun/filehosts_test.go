package trainrun

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const hostA, hostB = `"host": "a"`, `"host": "b"`

// TestRecordsThatNameNoHostAreOfTheirFile: a trainer names the host in some of its lines; whatever else is in the file is of that host too.
func TestRecordsThatNameNoHostAreOfTheirFile(t *testing.T) {
	t.Parallel()
	head := line("heartbeat", -1, "", "")
	for name, tc := range map[string]struct {
		lists    [][]Entry
		curve    string
		attempts int
	}{
		"the new text names it": {
			rewritten(t,
				[]string{head, epoch(-1, "", 0, "9"), epoch(-1, "", 1, "8"), epoch(-1, "", 2, "0.5"), success(-1)},
				[]string{head, epoch(-1, hostA, 0, "7")}), "0:7", 2,
		},
		"the old text names it": {
			rewritten(t,
				[]string{head, epoch(-1, hostA, 0, "9"), epoch(-1, hostA, 1, "8"), epoch(-1, hostA, 2, "0.5"), success(-1)},
				[]string{head, epoch(-1, "", 0, "7")}), "0:7", 2,
		},
		"a heartbeat names it": {
			rewritten(t,
				[]string{line("heartbeat", -1, hostA, ""), epoch(-1, "", 0, "9"), epoch(-1, "", 1, "0.5")},
				[]string{line("heartbeat", -1, hostA, ""), epoch(-1, hostA, 0, "7")}), "0:7", 2,
		},
		"lines are back under it": {
			rewritten(t,
				[]string{head, epoch(-1, hostA, 0, "9"), epoch(-1, "", 1, "8")},
				[]string{head, epoch(-1, "", 0, "7.0000000000"), epoch(-1, hostA, 1, "6")},
				[]string{head, epoch(-1, hostA, 0, "9"), epoch(-1, "", 1, "8")}), "0:9 1:8", 3,
		},
		"another file names one": {
			append(rewritten(t,
				[]string{head, epoch(-1, "", 0, "9"), epoch(-1, "", 1, "0.5")},
				[]string{head, epoch(-1, "", 0, "7")}),
				file(2, 0, 0, readStream(t, line("heartbeat", -1, hostA, "")))), "0:7", 2,
		},
		"two hosts have the path, and which of them it was nobody can tell": {
			rewritten(t,
				[]string{head, epoch(-1, "", 0, "9"), epoch(-1, "", 1, "8")},
				[]string{head, epoch(-1, hostA, 0, "7"), line("heartbeat", -1, hostB, "")}), "0:7 1:8", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := foldOf(tc.lists...)
			st := f.State()
			assert.Equal(t, tc.curve, curve(seriesOf(st, "", "val/loss", AxisEpoch)))
			assert.Len(t, st.Attempts, tc.attempts)
			g, err := Restore(f.Snapshot())
			assert.NoError(t, err)
			assert.Equal(t, dump(f.States()), dump(g.States()))
			assert.Equal(t, f.Snapshot(), g.Snapshot())
		})
	}
}

// TestHostsOfAFileComeInAnyOrder: whichever record comes first, what is told of the file is the same.
func TestHostsOfAFileComeInAnyOrder(t *testing.T) {
	t.Parallel()
	lists := rewritten(t,
		[]string{line("heartbeat", -1, "", ""), epoch(-1, "", 0, "9"), epoch(-1, hostA, 1, "8")},
		[]string{line("heartbeat", -1, "", ""), epoch(-1, "", 0, "7"), epoch(-1, "", 1, "6")},
	)
	other := file(1, 1, 1, readStream(t, line("heartbeat", -1, "", `"n": 1`), line("heartbeat", -1, hostB, "")))
	all := append(append(lists[0], lists[1][1:]...), other...)
	want := foldOf(all)
	for turn := range all {
		f := foldOf(all[turn:], all[:turn])
		assert.Equal(t, dump(want.State()), dump(f.State()))
		assert.Equal(t, want.Snapshot(), f.Snapshot())
	}
}
