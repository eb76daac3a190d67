package dvcresultexporter

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

// loseStorage stops the exporter and starts it with an empty storage: the receiver's offsets are kept, the state is not.
func (r *rig) loseStorage() {
	r.t.Helper()
	r.stop()
	r.host = componentcheck.NewStorageHost(r.t)
	r.start()
}

func (r *rig) document(run string) map[string]any {
	r.t.Helper()
	var doc map[string]any
	require.NoError(r.t, json.Unmarshal([]byte(r.files(run)["result.json"]), &doc))
	return doc
}

// undisturbed gives the files and the document of a run that nothing happened to.
func undisturbed(t *testing.T, lines []line) (map[string]string, map[string]any) {
	t.Helper()
	var files map[string]string
	var doc map[string]any
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(lines...)
		pass(time.Minute)
		files, doc = r.files("x"), r.document("x")
		r.stop()
	})
	return files, doc
}

// losingTheState gives the files and the document of a run whose state was lost before one of its lines. Each line behind that has a result
// of its own: joining twice changes nothing. A run without an end is stalled at last.
func losingTheState(t *testing.T, lines []line, at int) (map[string]string, map[string]any) {
	t.Helper()
	var files map[string]string
	var doc map[string]any
	inBubble(t, func(_ *testing.T, r *rig) {
		r.cfg.LiveInterval = time.Second
		r.start()
		r.feed(lines[:at]...)
		pass(10 * time.Second)
		r.loseStorage()
		for _, l := range lines[at:] {
			r.feed(l)
			pass(3 * time.Second)
		}
		pass(time.Hour)
		files, doc = r.files("x"), r.document("x")
		r.stop()
	})
	return files, doc
}

// From the run's own files alone: values are taken over, counts stay, and the result says that it is partial.
func TestALostStateGoesOnFromTheResult(t *testing.T) {
	t.Parallel()
	lines := wholeRun("x")
	files, want := undisturbed(t, lines)
	for name, at := range map[string]int{"in the middle": 4, "before the checkpoint": 3, "before the end": 6} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, doc := losingTheState(t, lines, at)
			for name, text := range files {
				if name != "result.json" {
					assert.Equal(t, text, got[name], name)
				}
			}
			assert.Equal(t, "partial", doc["coverage"])
			assert.InDelta(t, at, doc["records"].(map[string]any)["count"], 0, "counts stay as they were")
			for _, key := range []string{
				"outcome", "stop_reason", "started_at", "ended_at", "last_record_at", "epochs", "metrics", "best", "objective", "attempts", "artifacts",
				"params_digest", "source", "where", "non_finite", "names",
			} {
				assert.Equal(t, want[key], doc[key], key)
			}
		})
	}
}

// A name on two axes is two curves, whichever of them comes first after the state was lost: each goes on under its own name.
func TestCurvesOfTwoAxesGoOnApartAfterALostState(t *testing.T) {
	t.Parallel()
	texts := []string{record("x", 0, "run.start", `"planned_epochs":3`)}
	for e := range 3 {
		for s := 2 * e; s < 2*e+2; s++ {
			texts = append(texts, record("x", 10*s, "step.end", fmt.Sprintf(`"step":%d,"measurements":{"train/loss":%d.5}`, s, 9-s), `"part":"fold=0"`),
				record("x", 10*s+1, "step.end", fmt.Sprintf(`"step":%d,"measurements":{"train/loss":%d.5}`, s, 9-s)))
		}
		body := fmt.Sprintf(`"epoch":%d,"measurements":{"train/loss":%d.25}`, e, 9-e)
		texts = append(texts, record("x", 20*e+12, "epoch.end", body), record("x", 20*e+13, "epoch.end", body, `"part":"fold=0"`))
	}
	lines := stream(append(texts, record("x", 100, "run.end", `"outcome":"success","measurements":{"train/loss":1.5}`))...)
	files, want := undisturbed(t, lines)
	for at := 3; at < len(lines); at++ {
		t.Run(strconv.Itoa(at), func(t *testing.T) {
			t.Parallel()
			got, doc := losingTheState(t, lines, at)
			delete(got, "result.json")
			assert.Len(t, got, len(files)-1)
			for name, text := range got {
				assert.Equal(t, files[name], text, name)
			}
			assert.Equal(t, want["metrics"], doc["metrics"])
			assert.Equal(t, want["best"], doc["best"])
		})
	}
}

// A metric that is over steps stays so after the state was lost, also while the epochs since then have one validation each.
func TestSeveralValidationsGoOnAfterALostState(t *testing.T) {
	t.Parallel()
	texts := []string{record("x", 0, "run.start", `"objective":{"metric":"val/loss","mode":"min"}`)}
	for i, v := range []string{"0.9", "0.1", "0.5", "0.6", "0.7", "0.8", "0.85"} {
		texts = append(texts, record("x", 10*i+10, "phase.end", fmt.Sprintf(`"epoch":%d,"step":%d,"measurements":{"val/loss":%s}`, i/2, 10*i+10, v)))
	}
	lines := stream(append(texts, record("x", 100, "run.end", `"outcome":"success"`))...)
	files, want := undisturbed(t, lines)
	for at := 2; at < len(lines); at++ {
		t.Run(strconv.Itoa(at), func(t *testing.T) {
			t.Parallel()
			got, doc := losingTheState(t, lines, at)
			assert.Equal(t, files["plots/metrics/val/loss.tsv"], got["plots/metrics/val/loss.tsv"])
			assert.Equal(t, files["metrics.json"], got["metrics.json"])
			assert.Equal(t, want["metrics"], doc["metrics"])
			assert.Equal(t, want["best"], doc["best"])
		})
	}
}

// Where a trainer begins to count is known after the state was lost, also by a further attempt.
func TestPlannedStepsAreReachedAfterALostState(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]int{"each from 0": {0, 1, 2, 3, 4, 5}, "every third from 0": {2, 5, 8, 11}} {
		for _, attempt := range []string{`"attempt":1`, `"attempt":2`} {
			texts := []string{record("x", 0, "run.start", fmt.Sprintf(`"planned_steps":%d`, steps[len(steps)-1]+1), `"attempt":1`)}
			for i, s := range steps {
				own := `"attempt":1`
				if i > 1 {
					own = attempt
				}
				texts = append(texts, record("x", 10*i+10, "step.end", fmt.Sprintf(`"step":%d,"measurements":{"train/loss":0.5}`, s), own))
			}
			lines := stream(texts...)
			for _, at := range []int{3, len(lines) - 1} {
				t.Run(fmt.Sprint(name, attempt, at), func(t *testing.T) {
					t.Parallel()
					_, doc := losingTheState(t, lines, at)
					assert.Equal(t, "partial", doc["coverage"])
					assert.Equal(t, "stalled", doc["outcome"])
					assert.Equal(t, true, doc["planned_reached"])
				})
			}
		}
	}
}

// A further attempt after the state was lost comes beside those of the result.
func TestAnAttemptAfterALostState(t *testing.T) {
	t.Parallel()
	lines := append(wholeRun("x"), line{record("x", 1000, "run.start", `"params":{"lr":0.5}`), 90_000},
		line{record("x", 1070, "epoch.end", `"epoch":2,"measurements":{"train/loss":0.25,"val/loss":0.125}`), 91_000},
		line{record("x", 1080, "run.end", `"outcome":"failed"`), 92_000})
	files, want := undisturbed(t, lines)
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(lines[:7]...)
		pass(time.Minute)
		r.loseStorage()
		r.feed(lines[7:]...)
		pass(time.Minute)
		r.stop()
		r.start()
		pass(time.Minute)
		got, doc := r.files("x"), r.document("x")
		for _, name := range []string{"params.yaml", "plots/metrics/val/loss.tsv", "plots/metrics/train/loss.tsv"} {
			assert.Equal(t, files[name], got[name], name)
		}
		assert.Equal(t, "failed", doc["outcome"])
		assert.Len(t, doc["attempts"], 2)
		assert.Equal(t, want["best"], doc["best"])
		assert.Equal(t, want["metrics"].(map[string]any)["val/loss"], doc["metrics"].(map[string]any)["val/loss"])
		r.stop()
	})
}

// A stream that is read once more is no continuation: what is on disk stays until the state has caught up.
func TestAStreamReadAgainIsNoContinuation(t *testing.T) {
	t.Parallel()
	lines := wholeRun("x")
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(lines...)
		pass(time.Minute)
		want := r.files("x")
		r.loseStorage()
		for _, l := range lines {
			r.feed(l)
			pass(3 * time.Second)
			assert.Equal(t, want, r.files("x"))
		}
		r.stop()
	})
}

// A run that begins in the middle of a file, behind lines of another one, is read once more and goes further: it is no continuation either.
func TestARunInTheMiddleOfAFileIsReadAgain(t *testing.T) {
	t.Parallel()
	lines := wholeRun("x")[1:] // without its start
	untimed := slices.Clone(lines)
	for i := range untimed {
		untimed[i].text = regexp.MustCompile(`"ts":"[^"]*",`).ReplaceAllString(untimed[i].text, "")
	}
	spoilt := stream("", `{"schema":"pathologize.ml.training/1","event":"epoch.end","run_id":"x","body":{"epoch":0,"measurements":{"val/loss":NaN}}}`)
	for name, lines := range map[string][]line{"with times": lines, "without": untimed, "not finite": append(spoilt[1:], untimed[len(untimed)-1:]...)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, _ := undisturbed(t, lines)
			inBubble(t, func(t *testing.T, r *rig) {
				r.cfg.LiveInterval = time.Second
				r.start()
				r.feed(lines[:len(lines)/2]...)
				pass(10 * time.Second)
				r.loseStorage()
				r.feed(lines[:1]...)
				pass(10 * time.Second)
				r.feed(lines[1:]...)
				pass(time.Minute)
				assert.Equal(t, want, r.files("x"))
				r.loseStorage()
				r.feed(lines...)
				pass(time.Minute)
				assert.Equal(t, want, r.files("x"))
				r.stop()
			})
		})
	}
}

// Readings do not come twice: without a storage the result on disk has them.
func TestResourcesStayWithoutStorage(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.StorageID = nil
		r.start()
		r.play(podRun("x"), nil)
		want := r.files("x")
		require.NotNil(t, r.resources("x"))
		r.stop()
		r.start()
		r.feed(podRun("x")...)
		pass(time.Minute)
		assert.Equal(t, want, r.files("x"))
		r.stop()
	})
}

// A record of a lost state is not counted, and may show nowhere else: the run goes on all the same.
func TestARecordThatShowsNowhereReopensWhatWasJoined(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		untimed := regexp.MustCompile(`"ts":"[^"]*",`)
		lines := stream(epoch("x", 0), epoch("x", 1), epoch("x", 2), record("x", 0, "heartbeat", ""))
		for i := range lines {
			lines[i].text = untimed.ReplaceAllString(lines[i].text, "")
		}
		r.cfg.LiveInterval = time.Second
		r.start()
		r.feed(lines[:2]...)
		pass(time.Hour)
		r.loseStorage()
		for _, l := range lines[2:] {
			r.feed(l)
			pass(11 * time.Second)
			r.says("x", "", false, true)
			pass(time.Hour)
			r.says("x", "stalled", true, true)
		}
		assert.Equal(t, 2, r.count("x"))
		r.stop()
	})
}
