package trainprofile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// textRecord is a log record as an SDK's handler makes it of a line.
func textRecord(t testing.TB, text string, attributes map[string]any) plog.LogRecord {
	t.Helper()
	lr := plog.NewLogRecord()
	lr.SetTimestamp(pcommon.NewTimestampFromTime(time.Date(2026, 11, 29, 13, 27, 26, 0, time.UTC)))
	lr.Body().SetStr(text)
	require.NoError(t, lr.Attributes().FromRaw(attributes))
	lr.Attributes().PutStr(trainrecord.AttrRunID, testRun)
	return lr
}

func TestTextsWithFieldsBecomeRecords(t *testing.T) {
	t.Parallel()
	set := embeddedSet(t)
	for name, c := range map[string]struct {
		text       string
		attributes map[string]any
		want       []string
	}{
		"fields": {
			"epoch done", map[string]any{"epoch": 2, "train_loss": 0.5, "note": "x", "code.line.number": 7},
			[]string{`pathologize.ml.training.epoch.end 1795958846000000000  {"code.line.number": 7, "note": "x", "pathologize.ml.training.epoch.current": 2, ` +
				`"pathologize.ml.training.framework": "other", "pathologize.ml.training.phase": "train", "pathologize.ml.training.run.id": "run-a"} ` +
				`{"epoch": 2, "framework": {"body": "epoch done"}, "measurements": {"train/loss": 0.5}}`},
		},
		"a line in a file that a collector read": {
			`{"epoch":0,"step":7,"losses":{"ner":0.5},"scores":{},"score":0.25}`, map[string]any{"log.file.name": "a"},
			[]string{`pathologize.ml.training.step.end 1795958846000000000  {"log.file.name": "a", "pathologize.ml.training.epoch.current": 0, "pathologize.ml.training.framework": "spacy", ` +
				`"pathologize.ml.training.phase": "train", "pathologize.ml.training.run.id": "run-a"} {"epoch": 0, "framework": {"body": "{\"epoch\":0,\"step\":7,\"losses\":{\"ner\":0.5},\"scores\":{},\"score\":0.25}"}, ` +
				`"measurements": {"train/loss_ner": 0.5}, "step": 7}`,
				`pathologize.ml.training.phase.end 1795958846000000000  {"log.file.name": "a", "pathologize.ml.training.epoch.current": 0, "pathologize.ml.training.framework": "spacy", ` +
					`"pathologize.ml.training.phase": "validation", "pathologize.ml.training.run.id": "run-a"} ` +
					`{"epoch": 0, "measurements": {"val/score": 0.25}, "objective": {"metric": "val/score", "mode": "max"}, "step": 7}`},
		},
		"all fields read": {
			"row", map[string]any{"loss": 0.5, "learning_rate": 0.25, "epoch": 0.5},
			[]string{`pathologize.ml.training.step.end 1795958846000000000  {"pathologize.ml.training.framework": "huggingface", "pathologize.ml.training.phase": "train", "pathologize.ml.training.run.id": "run-a"} ` +
				`{"epoch_progress": 0.5, "framework": {"body": "row"}, "learning_rate": {"0": 0.25}, "measurements": {"train/loss": 0.5}}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, all := process(NewMapper(nil), set, &Stream{}, textRecord(t, c.text, c.attributes))
			require.Equal(t, Mapped, out.Kind)
			var got []string
			for _, lr := range all {
				lr.SetSeverityText("")
				got = append(got, show(lr))
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestARecordOfTheVocabularyAsText(t *testing.T) {
	t.Parallel()
	lr := textRecord(t, `{"schema": "pathologize.ml.training/1", "event": "epoch.end", "run_id": "run-a", "body": {"epoch": 4}}`, map[string]any{"note": "x"})
	out, _ := process(NewMapper(nil), embeddedSet(t), nil, lr)
	assert.Equal(t, Mapped, out.Kind)
	assert.Equal(t, trainrecord.EventName(trainrecord.EventEpochEnd), lr.EventName())
	assert.Equal(t, map[string]any{"epoch": int64(4)}, lr.Body().Map().AsRaw())
	note, ok := lr.Attributes().Get("note")
	require.True(t, ok, "an attribute that is none of the record's stays")
	assert.Equal(t, "x", note.Str())
	assert.NotZero(t, lr.Timestamp())
}

func TestTextsWithoutRowsAreUntouched(t *testing.T) {
	t.Parallel()
	set := embeddedSet(t)
	for name, c := range map[string]struct {
		text       string
		attributes map[string]any
	}{
		"a sentence":                {"training failed", nil},
		"a sentence and where":      {"training failed", map[string]any{"code.line.number": 7, "exception.type": "ValueError"}},
		"fields of another program": {"GET /v1", map[string]any{"http.response.status_code": 200, "url.path": "/v1"}},
		"an object of nobody":       {`{"a": 1}`, map[string]any{"b": 2}},
		"an equals sign":            {"a = b", nil},
		"empty":                     {"", map[string]any{"b": 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lr := textRecord(t, c.text, c.attributes)
			want := show(lr)
			out, all := process(NewMapper(nil), set, &Stream{}, lr)
			assert.Equal(t, Untouched, out.Kind)
			assert.Len(t, all, 1)
			assert.Equal(t, want, show(lr))
		})
	}
}
