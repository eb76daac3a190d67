package trainprofile

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"golang.org/x/tools/txtar"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// The one training that every framework tells in its own words, in testdata/<profile>/same.txt: two epochs of ten steps
// that end normally.
var theTraining = told{
	"epochs": []float64{0, 1},
	"train":  []float64{0.75, 0.5},
	"val":    []float64{0.875, 0.625},
	"lr":     []float64{0.25, 0.125},
	"steps":  []float64{10, 20},
	"end":    []float64{1},
}

// told is what records say, whatever record says it: a list of values for each fact.
type told map[string][]float64

// sameFixture is a telling, with what the framework cannot tell and the names that it gives to the two losses.
type sameFixture struct {
	in, lacks []string
	names     map[string]string
}

func readSame(t *testing.T, path string) sameFixture {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	require.NoError(t, err)
	f := sameFixture{names: map[string]string{"train": "train/loss", "val": "val/loss", "lr": ""}}
	for _, part := range archive.Files {
		switch part.Name {
		case "in":
			f.in = lines(string(part.Data))
		case "lacks":
			f.lacks = strings.Fields(string(part.Data))
		case "names":
			for _, line := range lines(string(part.Data)) {
				fact, name, ok := strings.Cut(line, "=")
				require.True(t, ok, "%s: want <fact>=<name>", path)
				f.names[fact] = name
			}
		default:
			t.Fatalf("%s: unknown part %s", path, part.Name)
		}
	}
	return f
}

// tell reads the shared fields of records alone; it knows no framework.
func tell(t require.TestingT, lrs []plog.LogRecord, names map[string]string) told {
	out := told{}
	add := func(fact string, v float64) {
		if n := len(out[fact]); n == 0 || out[fact][n-1] != v {
			out[fact] = append(out[fact], v)
		}
	}
	completed := map[float64]bool{}
	for _, lr := range lrs {
		record, ok := trainrecord.FromLog(plog.NewResourceLogs().Resource(), lr)
		require.True(t, ok)
		require.Equal(t, testRun, record.RunID)
		body := lr.Body().Map().AsRaw()
		epoch, _ := body[trainrecord.BodyEpoch].(int64)
		if record.Event == trainrecord.EventEpochEnd {
			completed[float64(epoch)] = true
		}
		if progress, ok := number(body[trainrecord.BodyEpochProgress]); ok {
			for i := range int64(progress) {
				completed[float64(i)] = true
			}
		}
		if step, ok := number(body[trainrecord.BodyStep]); ok && record.Event != trainrecord.EventRunEnd {
			add("steps", step)
		}
		measurements, _ := body[trainrecord.BodyMeasurements].(map[string]any)
		for _, fact := range []string{"train", "val"} {
			if v, ok := number(measurements[names[fact]]); ok {
				add(fact, v)
			}
		}
		groups, _ := body[trainrecord.BodyLearningRate].(map[string]any)
		for _, v := range groups {
			rate, ok := number(v)
			require.True(t, ok)
			add("lr", rate)
		}
		if record.Event == trainrecord.EventRunEnd {
			require.Equal(t, trainrecord.PhaseRun, record.Phase)
			require.Equal(t, trainrecord.OutcomeSuccess, body[trainrecord.BodyOutcome])
			add("end", 1)
		}
	}
	if len(completed) > 0 {
		out["epochs"] = slices.Sorted(maps.Keys(completed))
	}
	return out
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	default:
		return 0, false
	}
}

// TestEquivalentEventsGiveTheSameSharedFields maps one training as every framework tells it: epochs, losses, rates, steps and
// the end must come out equal, or be absent where the fixture says that the framework does not tell them.
func TestEquivalentEventsGiveTheSameSharedFields(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*/" + sameFile)
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		profile := filepath.Base(filepath.Dir(path))
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			f := readSame(t, path)
			set := embeddedSet(t)
			m, stream := NewMapper(nil), &Stream{}
			var lrs []plog.LogRecord
			for _, line := range f.in {
				lr, ok := receive(t, line)
				if !ok {
					continue
				}
				out, all := process(m, set, stream, lr)
				require.Equal(t, Mapped, out.Kind, line)
				require.Equal(t, profile, out.Profile.Name(), line)
				require.Empty(t, out.Errors, line)
				lrs = append(lrs, all...)
			}
			got, want := tell(t, lrs, f.names), told{}
			for fact, values := range theTraining {
				if !slices.Contains(f.lacks, fact) {
					want[fact] = values
				}
			}
			assert.Equal(t, want, got)
		})
	}
}
