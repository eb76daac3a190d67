package trainingnormprocessor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func shippedSet(t *testing.T) *trainprofile.Set {
	t.Helper()
	set, err := (&Config{}).profiles()
	require.NoError(t, err)
	return set
}

func TestTheRemedyTellsARecordWithAMistakeFromARow(t *testing.T) {
	t.Parallel()
	set := shippedSet(t)
	for name, c := range map[string]struct{ object, attribute, profile, want, not string }{
		"a row":                      {`{"custom": 1}`, "", "", "key framework of the object or of this component: one of ", "custom"},
		"a message":                  {`{"event": "a message", "level": "info"}`, "", "", "one of ", "a message"},
		"an event that is none":      {`{"event": "epoch_end", "run_id": "r", "ts": 1}`, "", "", "none of the vocabulary", "name one of "},
		"an event that is a text":    {`{"event": "401 for ghp_Zq7Lm2Xv9Rt4Kw8Ys3Bn6Hd1Jf5Gp0CaZq7L, no retry", "run_id": "r", "ts": 1}`, "", "", "none of the vocabulary", "ghp"},
		"without a time":             {`{"event": "epoch.end", "run_id": "r", "body": {}}`, "", "", "no ts", "one of "},
		"with null as its time":      {`{"event": "epoch.end", "ts": null, "run_id": "r", "body": {}}`, "", "", "no ts", "one of "},
		"an end with null as time":   {`{"event": "run.end", "ts": null, "body": {"outcome": "failed"}}`, "", "", "no ts", "one of "},
		"with null as its run":       {`{"event": "epoch.end", "ts": 1796045246, "run_id": null}`, "", "", "neither run_id", "one of "},
		"without a run":              {`{"event": "epoch.end", "ts": 1796045246}`, "", "", "neither run_id", "one of "},
		"an event of another type":   {`{"event": 5, "run_id": "r"}`, "", "", "one of ", "vocabulary"},
		"an unknown name":            {`{"custom": 1, "framework": "my-secret"}`, "", "", "it names a framework that no profile is called: name one of ", "secret"},
		"an unknown name, attribute": {`{"custom": 1}`, "my-secret", "", "it names a framework that no profile is called: name one of ", "secret"},
		"a name, no rule":            {`{"custom": 1, "framework": "pytorch"}`, "", "pytorch", "profile pytorch has no rule for it: see its page", "no profile is called"},
		"a stream's profile":         {`{"custom": 1}`, "", "lightning", "profile lightning has no rule for it", "key framework"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var raw map[string]any
			require.NoError(t, json.Unmarshal([]byte(c.object), &raw))
			lr := plog.NewLogRecord()
			require.NoError(t, lr.Body().FromRaw(raw))
			if c.attribute != "" {
				lr.Attributes().PutStr(trainrecord.AttrFramework, c.attribute)
			}
			got := remedy(set, c.profile, lr)
			assert.Contains(t, got, c.want)
			assert.NotContains(t, got, c.not)
		})
	}
	lr := plog.NewLogRecord()
	lr.Body().SetStr("x")
	assert.Contains(t, remedy(set, "", lr), "map")
}

// TestTheRemedyNamesWhatIsThere follows what the remedy says: every name that it lists is a framework that the setting takes,
// and every document exists.
func TestTheRemedyNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	set := shippedSet(t)
	lr := plog.NewLogRecord()
	lr.Body().SetEmptyMap().PutInt("custom", 1)
	got := remedy(set, "", lr)
	_, list, _ := strings.Cut(got, "one of ")
	list, _, _ = strings.Cut(list, ", or write")
	names := strings.Split(list, ", ")
	assert.Contains(t, names, "pytorch")
	for _, name := range names {
		_, err := (&Config{Framework: name}).profiles()
		assert.NoError(t, err)
	}
	root := filepath.Join("..", "..")
	documents := []string{docsRecords, docsFrameworks, docsProfiles}
	for _, name := range set.Names() {
		documents = append(documents, "docs/frameworks/"+name+".md")
	}
	for _, document := range documents {
		_, err := os.Stat(filepath.Join(root, document))
		assert.NoError(t, err)
	}
}

// TestAFrameworkThatIsNamedButHasNoProfileOfItsOwn has rows of a loop of one's own that say pytorch, and such that say what
// nobody knows: both become records, the first as those of the general profile.
func TestAFrameworkThatIsNamedButHasNoProfileOfItsOwn(t *testing.T) {
	t.Parallel()
	set := shippedSet(t)
	for named, want := range map[string]string{"pytorch": "pytorch", "mine": "pytorch", "": "pytorch", "paddle": "paddle"} {
		lr := plog.NewLogRecord()
		row := map[string]any{"epoch": 0, "train_loss": 0.5, "val_acc": 0.25}
		if named != "" {
			row["framework"] = named
		}
		require.NoError(t, lr.Body().FromRaw(row))
		out := trainprofile.NewMapper(nil).Process(set, &trainprofile.Stream{}, lr, plog.NewLogRecord)
		require.Equal(t, trainprofile.Mapped, out.Kind, named)
		assert.Equal(t, "pytorch", out.Profile.Name(), named)
		assert.Equal(t, want, text(lr.Attributes(), trainrecord.AttrFramework), named)
	}
}
