package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// call runs the command as a process would, its output no terminal.
func call(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Main(t.Context(), "1.2.3", args, &o, &e)
	return code, o.String(), e.String()
}

func document(t *testing.T, text string) map[string]any {
	t.Helper()
	var d map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &d), text)
	return d
}

var begun = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// stream writes a stream and gives its path.
func stream(t *testing.T, dir, run string, lines ...string) string {
	t.Helper()
	path := filepath.Join(dir, run, "train.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	text := ""
	for _, l := range lines {
		text += l + "\n"
	}
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func at(seconds int) string {
	return begun.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339)
}

func record(seconds int, run, event, body string) string {
	return fmt.Sprintf(`{"ts":%q,"event":%q,"run_id":%q,"body":{%s}}`, at(seconds), event, run, body)
}

func epoch(seconds int, run string, n int, loss float64) string {
	return record(seconds, run, "epoch.end", fmt.Sprintf(`"epoch":%d,"measurements":{"val/loss":%g}`, n, loss))
}

// A loop writes the path as it saved it: relative to the folder that it was started in.
func TestARelativeCheckpointIsLookedForBelowTheArtifactRoots(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(work, "best.pt"), []byte("x"), 0o600))
	path := stream(t, t.TempDir(), "r", epoch(0, "r", 0, 1), record(1, "r", "checkpoint.save", `"epoch":0,"kind":"best","path":"best.pt"`))
	for _, args := range [][]string{{path}, {"--artifact-root", work, path}} {
		code, out, errs := call(t, append(args, "--json", "--no-process-check")...)
		require.Zero(t, code, errs)
		assert.Equal(t, len(args) > 1, document(t, out)["best"].(map[string]any)["checkpoint"].(map[string]any)["exists"])
	}
}

// A root that is not there is told, and nothing is called missing that may lie in it.
func TestAnArtifactRootThatIsNotThereIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gone := filepath.Join(dir, "gone")
	path := stream(t, dir, "r", epoch(0, "r", 0, 1), record(1, "r", "checkpoint.save", `"epoch":0,"kind":"best","path":"best.pt"`), record(2, "r", "run.end", `"outcome":"success"`))
	for wait, want := range map[string]int{"": 20, "ended": 0} {
		args := []string{"--json", "--no-process-check", "--artifact-root", gone, path}
		if wait != "" {
			args = append(args, "--wait-for", wait)
		}
		code, out, errs := call(t, args...)
		assert.Equal(t, want, code)
		told := document(t, errs)
		assert.Equal(t, "unreadable", told["code"])
		assert.Contains(t, told["error"], "--artifact-root "+gone)
		d := document(t, out)
		assert.Nil(t, d["best"].(map[string]any)["checkpoint"].(map[string]any)["exists"])
		assert.Equal(t, "outside_roots", d["why"].(map[string]any)["best.checkpoint.exists"])
		assert.Empty(t, d["warnings"])
	}
}

// A trainer that was started beside its output folder names the folder too; a rank may write elsewhere than the one that saves.
func TestARelativeCheckpointOfAFolderAboveIsFound(t *testing.T) {
	t.Parallel()
	for name, saved := range map[string]string{"beside the stream": "best.pt", "from above": "out/best.pt", "of another stream": "best.pt"} {
		dir := t.TempDir()
		path := stream(t, dir, "out", epoch(0, "r", 0, 1), record(1, "r", "checkpoint.save", `"epoch":0,"kind":"best","path":"`+saved+`"`))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "out", "best.pt"), []byte("x"), 0o600))
		require.NoError(t, os.Chtimes(path, begun, begun))
		if name == "of another stream" {
			stream(t, dir, "rank1", epoch(0, "r", 0, 1))
			path = dir
		}
		code, out, errs := call(t, path, "--no-process-check")
		require.Zero(t, code, errs)
		assert.Equal(t, true, document(t, out)["best"].(map[string]any)["checkpoint"].(map[string]any)["exists"], name)
	}
}

func TestSeveralRunsGiveAList(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stream(t, dir, "a", epoch(0, "a", 0, 1), record(1, "a", "run.end", `"outcome":"success"`))
	stream(t, dir, "b", epoch(0, "b", 0, 1), record(1, "b", "run.failure", `"message":"x"`))
	stream(t, dir, "c", `{"loss":1,"grad_norm":1,"learning_rate":0.1,"epoch":0.5,"step":1}`)
	code, out, errs := call(t, "--now", at(3600), dir)
	require.Zero(t, code, errs)
	l := document(t, out)
	assert.Equal(t, "train-summary-list/1", l["schema"])
	var got []string
	for _, r := range l["runs"].([]any) {
		row := r.(map[string]any)
		got = append(got, fmt.Sprint(row["id"], row["state"]))
	}
	assert.Equal(t, "bfailed", got[0])
	assert.Len(t, got, 3)
	code, out, _ = call(t, "--full", "--now", at(3600), dir)
	assert.Zero(t, code)
	assert.Equal(t, 3, strings.Count(out, `"schema":"train-summary/1"`))
	assert.Equal(t, 3, strings.Count(out, "\n"))
	code, out, _ = call(t, "--run", "b", "--exit-state", "--now", at(3600), dir)
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, "failed", document(t, out)["state"])
}

func TestFilesOfOneRunAreOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stream(t, dir, "a", epoch(0, "run-1", 0, 3), epoch(60, "run-1", 1, 2))
	stream(t, dir, "b", epoch(120, "run-1", 2, 1), record(180, "run-1", "run.end", `"outcome":"success"`))
	code, out, errs := call(t, "--now", at(200), filepath.Join(dir, "*", "*.jsonl"))
	require.Zero(t, code, errs)
	d := document(t, out)
	assert.Equal(t, "finished", d["state"])
	assert.InDelta(t, 3, d["progress"].(map[string]any)["epochs_completed"], 0)
	assert.Len(t, d["source"].(map[string]any)["files"], 2)
}

// TestAnEndThatALauncherAppends: the rows name no run, the end does.
func TestAnEndThatALauncherAppends(t *testing.T) {
	t.Parallel()
	row := `{"loss":1,"grad_norm":1,"learning_rate":0.1,"epoch":%d.0,"step":%d}`
	path := stream(t, t.TempDir(), "folder", fmt.Sprintf(row, 1, 5), fmt.Sprintf(row, 2, 10), record(60, "job-7", "run.end", `"outcome":"failed","stop_reason":"OOMKilled"`))
	_, out, errs := call(t, "--now", at(90), path)
	d := document(t, out)
	assert.Equal(t, "job-7", d["run"].(map[string]any)["id"], errs)
	assert.Equal(t, "failed", d["state"])
	assert.InDelta(t, 2, d["progress"].(map[string]any)["epochs_completed"], 0)
	assert.Equal(t, "oom", d["stop"].(map[string]any)["reason"])
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := stream(t, dir, "a", epoch(0, "a", 0, 1))
	fifo, link := filepath.Join(dir, "p.jsonl"), filepath.Join(dir, "l.jsonl")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	outside := filepath.Join(t.TempDir(), "secret.jsonl")
	require.NoError(t, os.WriteFile(outside, []byte(epoch(0, "secret", 0, 1)+"\n"), 0o600))
	require.NoError(t, os.Symlink(outside, link))
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"missing":        {[]string{filepath.Join(dir, "no.jsonl")}, exitInternal, `no such stream`},
		"fifo":           {[]string{fifo}, exitInternal, `not a regular file`},
		"link outside":   {[]string{link}, exitInternal, `leads out of its folder`},
		"device":         {[]string{"/dev/null"}, exitInternal, `not a regular file`},
		"one of two":     {[]string{good, filepath.Join(dir, "no.jsonl")}, exitPartly, `no such stream`},
		"empty folder":   {[]string{t.TempDir()}, exitInternal, `no stream was found`},
		"no argument":    {nil, exitUsage, `no stream is named`},
		"unknown flag":   {[]string{"--nope", good}, exitUsage, `unknown flag`},
		"bad condition":  {[]string{"--wait-for", "rain", good}, exitUsage, `want ended`},
		"bad code":       {[]string{"--wait-for", "warning=rain", good}, exitUsage, `no warning has this code`},
		"bad format":     {[]string{"--format", "xml", good}, exitUsage, `no format is called`},
		"two formats":    {[]string{"--json", "--format", "text", good}, exitUsage, `exclude each other`},
		"bad time":       {[]string{"--now", "noon", good}, exitUsage, `is no time`},
		"bad objective":  {[]string{"--objective", "loss", good}, exitUsage, `names no metric`},
		"bad glob":       {[]string{"--metrics", "val/[", good}, exitUsage, `is no glob`},
		"bad profile":    {[]string{"--profile", "nope", good}, exitUsage, `no profile is called`},
		"two profiles":   {[]string{"--profile", "keras", "--profile", "lightning", good}, exitUsage, `cannot both be`},
		"no profile":     {[]string{"--profile", filepath.Join(dir, "no.yaml"), good}, exitUsage, `no such file`},
		"wrong profile":  {[]string{"--profile", good, good}, exitUsage, `train.jsonl`},
		"mcp profile":    {[]string{"mcp", "--root", dir, "--profile", "nope"}, exitUsage, `no profile is called`},
		"bad schema":     {[]string{"schema", "x"}, exitUsage, `no schema is called`},
		"no such run":    {[]string{"--run", "zz", good}, exitInternal, `no run has the id`},
		"now and wait":   {[]string{"--now", at(0), "--wait-for", "ended", good}, exitUsage, `does not go with`},
		"watch and wait": {[]string{"--watch", "--wait-for", "ended", good}, exitUsage, `exclude each other`},
		"negative":       {[]string{"--stall-after", "-5s", good}, exitUsage, `is negative`},
	} {
		code, out, errs := call(t, c.args...)
		if name == "bad format" { // whoever asked for another one gets text
			assert.Contains(t, errs, "trainsummary: --format")
			continue
		}
		assert.Equal(t, c.code, code, name)
		assert.Contains(t, errs, c.want, name)
		if c.code != exitPartly {
			assert.Empty(t, out, name)
		}
		f := document(t, errs)
		assert.Len(t, f, 3, name)
		assert.NotEmpty(t, f["hint"], name)
	}
}

func TestAnEmptyStreamIsStarting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := stream(t, dir, "run-9")
	require.NoError(t, os.Chtimes(path, begun, begun))
	_, out, errs := call(t, "--now", at(60), path)
	d := document(t, out)
	assert.Equal(t, "starting", d["state"], errs)
	assert.Equal(t, "run-9", d["run"].(map[string]any)["id"])
	assert.Equal(t, true, d["alive"])
}

func TestLinesThatComeTwiceAreCounted(t *testing.T) {
	t.Parallel()
	line := epoch(60, "r", 1, 2)
	path := stream(t, t.TempDir(), "r", epoch(0, "r", 0, 3), line, line, epoch(120, "r", 2, 1), line)
	_, out, _ := call(t, "--now", at(130), path)
	d := document(t, out)
	src := d["source"].(map[string]any)
	assert.InDelta(t, 2, src["duplicates"], 0)
	assert.InDelta(t, 3, src["records"], 0)
	assert.InDelta(t, 3, d["metrics"].([]any)[0].(map[string]any)["points"], 0)
	assert.Equal(t, []any{map[string]any{"code": "duplicate_records", "n": 2.0}}, d["warnings"])
}

// TestAnyCutOfAStreamGivesADocument cuts at every byte.
func TestAnyCutOfAStreamGivesADocument(t *testing.T) {
	t.Parallel()
	whole := epoch(0, "r", 0, 3) + "\n" + "\x00\x00text é\n" + epoch(60, "r", 1, 2) + "{}\n" + record(90, "r", "run.end", `"outcome":"success"`) + "\n"
	dir := filepath.Join(t.TempDir(), "r")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	path := filepath.Join(dir, "t.jsonl")
	for n := range len(whole) + 1 {
		require.NoError(t, os.WriteFile(path, []byte(whole[:n]), 0o600))
		require.NoError(t, os.Chtimes(path, begun, begun.Add(90*time.Second)))
		code, out, errs := call(t, "--now", at(100), path)
		require.Zero(t, code, errs)
		d := document(t, out)
		f := d["source"].(map[string]any)["files"].([]any)[0].(map[string]any)
		offset := strings.LastIndexByte(whole[:n], '\n') + 1
		require.InDelta(t, offset, f["offset"], 0, n)
		require.InDelta(t, n-offset, f["torn_bytes"], 0, n)
		if n < len(whole) {
			require.NotEqual(t, "finished", d["state"], n)
		}
	}
}

func TestTheSameInputGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 5 {
		stream(t, dir, fmt.Sprint("r", i), epoch(i, fmt.Sprint("r", i), 0, 1), record(i, fmt.Sprint("r", i), "run.start", `"objective":{"metric":"val/loss"}`))
	}
	for _, format := range []string{"json", "text", "markdown"} {
		_, first, _ := call(t, "--format", format, "--no-process-check", "--explain", "--full", "--now", at(9), dir)
		for range 3 {
			_, again, _ := call(t, "--format", format, "--no-process-check", "--explain", "--full", "--now", at(9), dir)
			assert.Equal(t, first, again)
		}
	}
}
