package trainprofile

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// training is what happened, told by each framework in its own words.
type training struct{ epochs []epochFacts }

type epochFacts struct {
	trainLoss, valLoss, rate float64
	step                     int
}

func drawTraining(t *rapid.T) training {
	number := rapid.Float64Range(-1e6, 1e6)
	rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) epochFacts {
		return epochFacts{
			trainLoss: number.Draw(t, "train"), valLoss: number.Draw(t, "val"),
			rate: rapid.Float64Range(1e-9, 1).Draw(t, "rate"), step: rapid.IntRange(1, 500).Draw(t, "steps"),
		}
	}), 1, 6).Draw(t, "epochs")
	for i := 1; i < len(rows); i++ {
		rows[i].step += rows[i-1].step
	}
	return training{epochs: rows}
}

// tellers write a training as the frameworks do: one entry a framework.
var tellers = map[string]func(training) []string{
	"huggingface": func(tr training) (rows []string) {
		for i, e := range tr.epochs {
			rows = append(rows,
				fmt.Sprintf(`{"loss": %v, "learning_rate": %v, "epoch": %d.0, "step": %d}`, e.trainLoss, e.rate, i+1, e.step),
				fmt.Sprintf(`{"eval_loss": %v, "eval_runtime": 1.5, "epoch": %d.0, "step": %d}`, e.valLoss, i+1, e.step))
		}
		return append(rows, fmt.Sprintf(`{"train_runtime": 9.5, "train_samples_per_second": 2.5, "total_flos": 0.0, "train_loss": 1.5, "epoch": %d.0}`, len(tr.epochs)))
	},
	"ultralytics": func(tr training) (rows []string) {
		for i, e := range tr.epochs {
			rows = append(rows, fmt.Sprintf(`{"epoch": %d, "time": 2.5, "train/loss": %v, "val/loss": %v, "lr/pg0": %v}`, i+1, e.trainLoss, e.valLoss, e.rate))
		}
		return append(rows, fmt.Sprintf(`{"epoch": %d, "train/loss": 1.5, "metrics/mAP50(B)": 0.5, "lr/pg0": 0.5}`, len(tr.epochs)))
	},
	"lightning": func(tr training) (rows []string) {
		for i, e := range tr.epochs {
			rows = append(rows,
				fmt.Sprintf(`{"lr-Adam": %v, "step": %d}`, e.rate, e.step-1),
				fmt.Sprintf(`{"val_loss": %v, "epoch": %d, "step": %d}`, e.valLoss, i, e.step-1),
				fmt.Sprintf(`{"train_loss_epoch": %v, "epoch": %d, "step": %d}`, e.trainLoss, i, e.step-1))
		}
		return rows
	},
}

// told is what the records of a training say, whatever record says it.
type told struct {
	completed map[int64]bool
	train     map[int64]float64 // train/loss by epoch
	val       map[int64]float64
	rates     []float64
	outcome   string
	phases    map[string]string // event to phase
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

// tell reads the shared fields of records alone; it knows no framework. A training value of a step belongs to the epoch
// that the record, its epoch_progress, or the epoch.end of the same step names.
func tell(t require.TestingT, lrs []plog.LogRecord) told {
	out := told{completed: map[int64]bool{}, train: map[int64]float64{}, val: map[int64]float64{}, phases: map[string]string{}}
	for _, lr := range lrs {
		body := lr.Body().Map().AsRaw()
		record, ok := trainrecord.FromLog(plog.NewResourceLogs().Resource(), lr)
		require.True(t, ok)
		require.Equal(t, testRun, record.RunID)
		epoch, hasEpoch := body[trainrecord.BodyEpoch].(int64)
		progress, hasProgress := body[trainrecord.BodyEpochProgress].(float64)
		if hasProgress {
			for i := range int64(progress) {
				out.completed[i] = true
			}
			if !hasEpoch {
				epoch = int64(progress) - 1
			}
		}
		if record.Event == trainrecord.EventEpochEnd {
			out.completed[epoch] = true
		}
		if record.Event != trainrecord.EventStepEnd {
			out.phases[record.Event+" "+record.Phase] = record.Phase
		}
		measurements, _ := body[trainrecord.BodyMeasurements].(map[string]any)
		if v, ok := number(measurements["train/loss"]); ok {
			out.train[epoch] = v
		}
		if v, ok := number(measurements["val/loss"]); ok {
			out.val[epoch] = v
		}
		groups, _ := body[trainrecord.BodyLearningRate].(map[string]any)
		for _, v := range groups {
			rate, ok := number(v)
			require.True(t, ok)
			out.rates = append(out.rates, rate)
		}
		if v, ok := body[trainrecord.BodyOutcome].(string); ok {
			out.outcome = v
		}
	}
	return out
}

// TestEquivalentEventsGiveTheSameSharedFields tells one training in the words of every framework: epochs, training and
// validation losses and rates must come out equal, and so must the end where a framework gives a sign of it.
func TestEquivalentEventsGiveTheSameSharedFields(t *testing.T) {
	t.Parallel()
	set := embeddedSet(t)
	require.Len(t, tellers, len(set.Names()), "a profile without a teller")
	rapid.Check(t, func(t *rapid.T) {
		tr := drawTraining(t)
		want := told{completed: map[int64]bool{}, train: map[int64]float64{}, val: map[int64]float64{}}
		for i, e := range tr.epochs {
			want.completed[int64(i)] = true
			want.train[int64(i)], want.val[int64(i)] = e.trainLoss, e.valLoss
			want.rates = append(want.rates, e.rate)
		}
		for name, teller := range tellers {
			var lrs []plog.LogRecord
			m, stream := NewMapper(nil), &Stream{}
			for _, line := range teller(tr) {
				lr := plog.NewLogRecord()
				require.Equal(t, trainrecord.LineObject, trainrecord.NewDecoder(trainrecord.DecoderOptions{}).Decode([]byte(line), lr).Kind)
				lr.Attributes().PutStr(trainrecord.AttrRunID, testRun)
				out, all := process(m, set, stream, lr)
				require.Equal(t, Mapped, out.Kind, line)
				require.Equal(t, name, out.Profile.Name(), line)
				require.Empty(t, out.Errors)
				lrs = append(lrs, all...)
			}
			got := tell(t, lrs)
			require.Equal(t, want.completed, got.completed, name)
			require.Equal(t, want.train, got.train, name)
			require.Equal(t, want.val, got.val, name)
			require.Equal(t, want.rates, got.rates, name)
			if got.outcome != "" {
				require.Equal(t, trainrecord.OutcomeSuccess, got.outcome, name)
				require.Contains(t, got.phases, trainrecord.EventRunEnd+" "+trainrecord.PhaseRun, name)
			}
		}
	})
}
