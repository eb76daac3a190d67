package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const ownProfile = `profile: my_trainer
framework: other
detect:
  strong: {has: [ep, it, secs]}
rules:
  - name: epoch
    when: {has: ep}
    event: epoch.end
    set: {epoch: {from: ep, base: 1}, step: it, durations.epoch_s: secs}
    spread:
      - {in: eval, keys: "*", to: measurements, as: "val/*"}
`

// An operator's profile reads the same rows here as in the Collector: they are recognised, unless a name says that all of them are its.
func TestAProfileOfAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "my.yaml")
	require.NoError(t, os.WriteFile(file, []byte(ownProfile), 0o600))
	row, sparse := `{"ep":1,"it":200,"secs":61.5,"judged":{"loss":1.5}}`, `{"ep":1,"judged":{"loss":1.5}}`
	for name, c := range map[string]struct {
		row  string
		args []string
		want string
	}{
		"without":               {row, nil, ""},
		"with":                  {row, []string{"--profile", file}, "my_trainer"},
		"not recognised":        {sparse, []string{"--profile", file}, ""},
		"named":                 {sparse, []string{"--profile", "my_trainer", "--profile", file}, "my_trainer"},
		"beside shipped ones":   {`{"loss":1,"grad_norm":1,"learning_rate":0.1,"epoch":1.0,"step":5}`, []string{"--profile", file}, "huggingface"},
		"of records no concern": {epoch(0, "r", 0, 1.5), []string{"--profile", file}, "native"},
	} {
		code, out, errs := call(t, append(c.args, stream(t, t.TempDir(), "r", c.row))...)
		require.Zero(t, code, errs)
		d := document(t, out)
		if c.want == "" {
			assert.Nil(t, d["source"].(map[string]any)["profile"], name)
			continue
		}
		assert.Equal(t, c.want, d["source"].(map[string]any)["profile"], name)
		assert.NotNil(t, d["progress"].(map[string]any)["epochs_completed"], name)
	}
}
