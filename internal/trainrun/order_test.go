package trainrun

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// long is a record that moves the offsets of what follows it.
func long(at float64) string {
	return line("heartbeat", at, "", `"pad": "`+strings.Repeat("x", 900)+`"`)
}

func ends(at float64, outcome, reason string) string {
	return line("run.end", at, "", `"outcome": "`+outcome+`", "stop_reason": "`+reason+`"`)
}

func test(at float64, value string) string {
	return line("phase.end", at, `"phase": "test"`, `"epoch": 3, "measurements": {"test/acc": `+value+`}`)
}

// TestWithinAStreamThePlaceDecides whatever the clock said: it steps back, a launcher has whole seconds, a record has no time.
func TestWithinAStreamThePlaceDecides(t *testing.T) {
	t.Parallel()
	t.Run("values", func(t *testing.T) {
		t.Parallel()
		st := stateOf(t, test(100, "0.5"), test(50, "0.9"))
		assert.Equal(t, "3:0.9", curve(seriesOf(st, "", "test/acc", AxisEpoch)))
	})
	t.Run("values without axis", func(t *testing.T) {
		t.Parallel()
		row := func(at float64, v string) string {
			return line("step.end", at, "", `"measurements": {"loss": `+v+`}`)
		}
		st := stateOf(t, row(100, "0"), row(90, "1"), row(80, "2"), row(-1, "3"))
		assert.Equal(t, "0:0 1:1 2:2 3:3", curve(seriesOf(st, "", "loss", AxisOrder)))
	})
	for name, last := range map[string]float64{"a launcher's clock": 100, "no time": -1} {
		t.Run("end, "+name, func(t *testing.T) {
			t.Parallel()
			st := stateOf(t, line("run.start", 0, "", ""), ends(100.7, "success", "done"), ends(last, "failed", "exit status 1"))
			assert.Equal(t, "failed", st.Outcome)
			assert.Equal(t, "exit status 1", st.StopReason)
		})
	}
	t.Run("final measurements", func(t *testing.T) {
		t.Parallel()
		final := func(at float64, v string) string {
			return line("run.end", at, "", `"outcome": "success", "measurements": {"test/acc": `+v+`}`)
		}
		st := stateOf(t, final(100, "0.5"), final(50, "0.9"))
		assert.Equal(t, []Final{{"", "test/acc", 0.9}}, st.Finals)
	})
}

// TestWithinAStreamThePlaceDecidesWhatIsLast is the same for what is no value.
func TestWithinAStreamThePlaceDecidesWhatIsLast(t *testing.T) {
	t.Parallel()
	t.Run("checkpoints", func(t *testing.T) {
		t.Parallel()
		save := func(at float64, path string) string {
			return line("checkpoint.save", at, "", `"path": "`+path+`", "epoch": 1, "kind": "last"`)
		}
		st := stateOf(t, save(3600, "a"), save(7200, "b"), save(10, "c"), save(20, "d"))
		assert.Equal(t, "d", st.Checkpoints.Last.Path)
	})
	t.Run("launches, plans, objectives", func(t *testing.T) {
		t.Parallel()
		start := func(at float64, lr, planned, metric string) string {
			return line("run.start", at, "", `"params": {"lr": `+lr+`}, "planned_epochs": `+planned+
				`, "objective": {"metric": "`+metric+`", "mode": "min"}, "resumed_from": {"epoch": 1}`)
		}
		st := stateOf(t, start(1000, "1", "5", "a"), epoch(1001, "", 0, "1"), epoch(1002, "", 1, "0.9"),
			start(10, "2", "7", "b"), epoch(11, "", 1, "0.5"), ends(12, "success", ""))
		assert.Equal(t, map[string]any{"lr": int64(2)}, st.Params)
		assert.Equal(t, ptr(7), st.Epochs.Planned)
		assert.Equal(t, "b", st.Objective.Metric)
		require.Len(t, st.ParamsChanges, 1)
		assert.Equal(t, int64(2), st.ParamsChanges[0].New)
		require.Len(t, st.Attempts, 2)
		assert.Equal(t, "success", st.Attempts[1].Outcome)
	})
	t.Run("failures", func(t *testing.T) {
		t.Parallel()
		fail := func(at float64, message string) string {
			return line("run.failure", at, "", `"message": "`+message+`"`)
		}
		st := stateOf(t, fail(100, "first"), fail(50, "second"))
		assert.Equal(t, second(50), st.EndedAt)
		require.Len(t, st.Failures, 2)
		assert.Equal(t, "first", st.Failures[0].Message)
	})
	t.Run("artifacts", func(t *testing.T) {
		t.Parallel()
		file := func(at float64, sum string) string {
			return line("artifact", at, "", `"role": "model", "path": "p", "sha256": "`+sum+`"`)
		}
		st := stateOf(t, file(100, "a"), file(50, "b"))
		assert.Equal(t, "b", st.Artifacts[0].SHA256)
	})
}

// TestAcrossStreamsTheTimeDecides and never the offset, which is of another file.
func TestAcrossStreamsTheTimeDecides(t *testing.T) {
	t.Parallel()
	both := func(t *testing.T, a, b []string) *State {
		t.Helper()
		one, other := readStream(t, a...), readStream(t, b...)
		st := foldOf(one, other).State()
		require.Equal(t, dump(st), dump(foldOf(other, one).State()))
		return st
	}
	t.Run("values", func(t *testing.T) {
		t.Parallel()
		st := both(t, []string{long(0), test(10, "0.5")}, []string{test(500, "0.9")})
		assert.Equal(t, "3:0.9", curve(seriesOf(st, "", "test/acc", AxisEpoch)))
	})
	t.Run("values without axis", func(t *testing.T) {
		t.Parallel()
		row := func(at float64, v string) string {
			return line("step.end", at, "", `"measurements": {"loss": `+v+`}`)
		}
		st := both(t, []string{long(0), row(1, "0"), row(5, "2")}, []string{row(3, "1"), row(100, "3"), row(90, "4")})
		assert.Equal(t, "0:0 1:1 2:2 3:3 4:4", curve(seriesOf(st, "", "loss", AxisOrder)))
	})
	t.Run("ends", func(t *testing.T) {
		t.Parallel()
		st := both(t, []string{long(0), ends(10, "failed", "")}, []string{ends(500, "success", "")})
		assert.Equal(t, "success", st.Outcome)
	})
	t.Run("the winner of each stream is compared, not every pair", func(t *testing.T) {
		t.Parallel()
		// By time alone 0.1 would win, but in its own stream it was replaced by 0.2, which is the oldest of all.
		st := both(t, []string{long(0), test(900, "0.1"), test(5, "0.2")}, []string{test(500, "0.9")})
		assert.Equal(t, "3:0.9", curve(seriesOf(st, "", "test/acc", AxisEpoch)))
	})
}
