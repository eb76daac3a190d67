package trainrun

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func success(at float64) string { return line("run.end", at, "", `"outcome": "success"`) }

// evaluated is an evaluation after an epoch.
func evaluated(at float64, n int, v string) string {
	return line("phase.end", at, `"phase": "validation"`, `"epoch": `+string(rune('0'+n))+`, "measurements": {"val/loss": `+v+`}`)
}

// trainingsAppended are streams with one training behind the other, and some that only look so.
var trainingsAppended = map[string]struct {
	lines      []string
	attempts   int
	curve      string
	superseded int64
}{
	"epochs": {
		[]string{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), epoch(3, "", 2, "1"), success(4), epoch(10, "", 0, "5"), epoch(11, "", 1, "4"), success(12)},
		2, "0:5 1:4", 3,
	},
	"epochs without time": {
		[]string{epoch(-1, "", 0, "9"), epoch(-1, "", 1, "1"), success(-1), epoch(-1, "", 0, "5")},
		2, "0:5", 2,
	},
	"after a run.start": {
		[]string{line("run.start", 0, "", ""), epoch(1, "", 0, "9"), epoch(2, "", 1, "1"), success(4), epoch(10, "", 0, "5")},
		2, "0:5", 2,
	},
	"a third one": {
		[]string{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), success(3), epoch(4, "", 0, "7"), success(5), epoch(6, "", 0, "6"), success(7)},
		3, "0:6", 2,
	},
	"steps": {
		[]string{step(1, "", 10, "9"), evaluated(1, 0, "9"), step(2, "", 20, "8"), evaluated(2, 1, "8"), success(4), step(10, "", 10, "5"), evaluated(11, 0, "5"), success(12)},
		2, "0:5", 2,
	},
	"evaluated after the end": {
		[]string{epoch(1, "", 0, "9"), epoch(2, "", 1, "1"), success(4), evaluated(5, 1, "0.5")},
		1, "0:9 1:0.5", 0,
	},
	"a longer training goes on": {
		[]string{epoch(1, "", 0, "9"), epoch(2, "", 1, "1"), success(4), epoch(5, "", 2, "0.5")},
		1, "0:9 1:1 2:0.5", 0,
	},
	"a run.start says so": {
		[]string{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), success(3), line("run.start", 4, "", ""), epoch(5, "", 0, "7")},
		2, "0:7", 2,
	},
	"numbers win": {
		[]string{epoch(1, "", 0, "9"), success(3), epoch(5, `"attempt": 2`, 0, "7"), success(6)},
		2, "0:7", 1,
	},
	"no end between": {
		[]string{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), epoch(5, "", 0, "7")},
		1, "0:7 1:8", 0,
	},
	"another rank after the end": {
		[]string{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), success(3), epoch(2, `"rank": 1`, 0, "7")},
		1, "0:9 1:8", 0,
	},
}

// TestATrainingAppendedToAStream begins an attempt although no run.start says so.
func TestATrainingAppendedToAStream(t *testing.T) {
	t.Parallel()
	for name, tc := range trainingsAppended {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := stateOf(t, tc.lines...)
			require.Len(t, st.Attempts, tc.attempts)
			assert.Equal(t, tc.curve, curve(seriesOf(st, "", "val/loss", AxisEpoch)))
			if tc.attempts > 1 && tc.superseded > 0 {
				assert.Equal(t, tc.superseded, st.Attempts[0].SupersededEpochs)
			}
		})
	}
}

// TestAStreamWrittenAnew has another first line, and so is another stream.
func TestAStreamWrittenAnew(t *testing.T) {
	t.Parallel()
	old := []string{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), epoch(3, "", 2, "1")}
	for name, tc := range map[string]struct {
		lines    []string
		attempts int
		curve    string
	}{
		"from the beginning":  {[]string{epoch(100, "", 0, "5"), epoch(101, "", 1, "4")}, 2, "0:5 1:4"},
		"from a checkpoint":   {[]string{epoch(100, "", 1, "5"), epoch(101, "", 2, "4")}, 2, "0:9 1:5 2:4"},
		"goes on":             {[]string{epoch(100, "", 3, "5")}, 1, "0:9 1:8 2:1 3:5"},
		"at the same time":    {[]string{epoch(2.5, "", 0, "5"), epoch(2.6, "", 1, "4")}, 1, "0:5 1:4 2:1"},
		"another rank's file": {[]string{epoch(100, `"rank": 1`, 0, "5")}, 1, "0:9 1:8 2:1"},
		"with a run.start":    {[]string{line("run.start", 99, "", ""), epoch(100, "", 0, "5")}, 2, "0:5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := readStream(t, old...), readStream(t, tc.lines...)
			st := foldOf(one, other).State()
			require.Equal(t, dump(st), dump(foldOf(other, one).State()))
			require.Len(t, st.Attempts, tc.attempts)
			assert.Equal(t, tc.curve, curve(seriesOf(st, "", "val/loss", AxisEpoch)))
		})
	}
}
