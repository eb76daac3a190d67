package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// yearAgo gives a record of long ago.
func yearAgo(event, body string) string {
	return timedRecord(time.Now().AddDate(-1, 0, 0), event, body)
}

// now gives a record of this moment: waiting looks at the real clock.
func now(event, body string) string { return timedRecord(time.Now(), event, body) }

func timedRecord(at time.Time, event, body string) string {
	return `{"ts":"` + at.UTC().Format(time.RFC3339Nano) + `","event":"` + event + `","run_id":"r","body":{` + body + `}}`
}

// lookedAt is when a command that was called has surely looked at its files, on a machine that does much else: what is written then is a
// change to it.
const lookedAt = 2 * time.Second

func write1(t *testing.T, path string, lines ...string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func TestWaits(t *testing.T) {
	t.Parallel()
	epoch0, epoch1 := now("epoch.end", `"epoch":0,"measurements":{"val/loss":2}`), now("epoch.end", `"epoch":1,"measurements":{"val/loss":1}`)
	for name, c := range map[string]struct {
		wait        string
		first, then []string
		args        []string
		code        int
		condition   any
		state       string
	}{
		"holds already":           {wait: "epoch=1", first: []string{epoch0}, code: 0, condition: "epoch=1", state: "running"},
		"epoch comes":             {wait: "ended,epoch=2", first: []string{epoch0}, then: []string{epoch1}, code: 0, condition: "epoch=2", state: "running"},
		"new best":                {wait: "best", first: []string{epoch0}, then: []string{epoch1}, code: 0, condition: "best", state: "running"},
		"change":                  {wait: "change", first: []string{epoch0}, then: []string{epoch1}, code: 0, condition: "change", state: "running"},
		"warning":                 {wait: "warning=bad_lines", first: []string{epoch0}, then: []string{"{"}, code: 0, condition: "warning=bad_lines", state: "running"},
		"ends":                    {wait: "ended", first: []string{epoch0}, then: []string{now("run.end", `"outcome":"success"`)}, code: 0, condition: "ended", state: "finished"},
		"ends, exit by state":     {wait: "ended", first: []string{epoch0}, then: []string{now("run.end", `"outcome":"failed"`)}, args: []string{"--exit-state"}, code: 10, condition: "ended", state: "failed"},
		"fails first":             {wait: "epoch=9", first: []string{epoch0}, then: []string{now("run.failure", `"message":"x"`)}, code: 10, state: "failed"},
		"aborted first":           {wait: "finished", first: []string{epoch0}, then: []string{now("run.end", `"outcome":"aborted"`)}, code: 11, state: "aborted"},
		"finished too soon":       {wait: "epoch=9", first: []string{epoch0}, then: []string{now("run.end", `"outcome":"success"`)}, code: 14, state: "finished"},
		"stalls":                  {wait: "epoch=9", first: []string{epoch0}, args: []string{"--stall-after", "1s"}, code: 12, state: "stalled"},
		"waits for a stall":       {wait: "stalled", first: []string{epoch0}, args: []string{"--stall-after", "1s"}, code: 0, condition: "stalled", state: "stalled"},
		"through a stall":         {wait: "epoch=2", first: []string{epoch0}, then: []string{epoch1}, args: []string{"--stall-after", "1ms", "--through-stall"}, code: 0, condition: "epoch=2", state: ""},
		"time is up":              {wait: "epoch=9", first: []string{epoch0}, args: []string{"--timeout", "1s"}, code: 124, state: "running"},
		"not there yet":           {wait: "epoch=1", then: []string{epoch0}, code: 0, condition: "epoch=1", state: "running"},
		"best, not there yet":     {wait: "best", then: []string{epoch0}, code: 0, condition: "best", state: "running"},
		"change, not there yet":   {wait: "change", then: []string{epoch0}, code: 0, condition: "change", state: "running"},
		"gone for long before it": {wait: "epoch=9", first: []string{yearAgo("epoch.end", `"epoch":0`)}, args: []string{"--stall-after", "1ms"}, code: 13, state: "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "t.jsonl")
			if c.first != nil {
				write1(t, path, c.first...)
			}
			var wg sync.WaitGroup
			defer wg.Wait()
			if c.then != nil {
				wg.Go(func() {
					_ = pause(t.Context(), lookedAt)
					write1(t, path, c.then...)
				})
			}
			began := time.Now()
			code, out, errs := call(t, append([]string{"--wait-for", c.wait, "--timeout", "5m", path}, c.args...)...)
			assert.Less(t, time.Since(began), 4*time.Minute)
			require.Equal(t, c.code, code, "%s %s", out, errs)
			d := document(t, out)
			if c.state != "" {
				assert.Equal(t, c.state, d["state"])
			}
			w := d["wait"].(map[string]any)
			assert.Equal(t, c.condition, w["condition"])
			assert.Equal(t, c.condition != nil, w["met"])
		})
	}
}

// A wait returns within 2 s of the line that fulfils it, also when the stream comes after the wait began.
func TestAStreamThatComesIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	least := time.Hour
	for attempt := 0; attempt < 5 && least >= 2*time.Second; attempt++ { // what else the machine does only adds to one
		path := filepath.Join(t.TempDir(), "t.jsonl")
		var wg sync.WaitGroup
		var written time.Time
		wg.Go(func() {
			_ = pause(t.Context(), lookedAt)
			write1(t, path, now("epoch.end", `"epoch":0`))
			written = time.Now()
		})
		code, _, errs := call(t, "--wait-for", "epoch=1", "--timeout", "5m", path)
		returned := time.Now()
		wg.Wait()
		require.Equal(t, 0, code, errs)
		least = min(least, returned.Sub(written))
		t.Logf("attempt %d: %s after the line", attempt+1, returned.Sub(written))
	}
	assert.Less(t, least, 2*time.Second)
}

func TestAWaitForWhatNeverComes(t *testing.T) {
	t.Parallel()
	code, out, errs := call(t, "--wait-for", "ended", "--timeout", "1s", filepath.Join(t.TempDir(), "no.jsonl"))
	assert.Equal(t, exitTimeout, code, "it may have only not begun")
	assert.Empty(t, out)
	assert.Contains(t, errs, `no.jsonl: no such stream came within 1s","code":"timeout"`)
	dir := t.TempDir()
	stream(t, dir, "a", epoch(0, "a", 0, 1))
	stream(t, dir, "b", epoch(0, "b", 0, 1))
	code, _, errs = call(t, "--wait-for", "ended", dir)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "here are 2")
}

func TestAStreamThatIsReplacedStartsAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	write1(t, path, now("epoch.end", `"epoch":0`), now("epoch.end", `"epoch":1`), now("epoch.end", `"epoch":2`))
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		_ = pause(t.Context(), lookedAt)
		assert.NoError(t, os.WriteFile(path, nil, 0o600))
		write1(t, path, strings.Replace(now("run.end", `"outcome":"success"`), `"r"`, `"s"`, 1))
	})
	code, out, errs := call(t, "--wait-for", "ended", "--timeout", "5m", path)
	require.Zero(t, code, errs)
	d := document(t, out)
	assert.Equal(t, "s", d["run"].(map[string]any)["id"])
	assert.Nil(t, d["progress"].(map[string]any)["epochs_completed"])
}

func TestWatchWritesAtEachChangeUntilTheEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	write1(t, path, now("epoch.end", `"epoch":0,"measurements":{"val/loss":2}`))
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for _, l := range []string{now("heartbeat", ``), now("epoch.end", `"epoch":1,"measurements":{"val/loss":1}`), now("run.end", `"outcome":"success"`)} {
			_ = pause(t.Context(), 1300*time.Millisecond)
			write1(t, path, l)
		}
	})
	code, out, errs := call(t, "--watch", path)
	require.Zero(t, code, errs)
	var states []string
	for line := range strings.Lines(out) {
		d := document(t, line)
		states = append(states, d["state"].(string))
	}
	assert.Equal(t, []string{"running", "running", "finished"}, states, "a heartbeat changes nothing")
}

func TestWatchEndsWhenItIsStopped(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	write1(t, path, now("epoch.end", `"epoch":0`))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stop, done := context.WithCancel(ctx)
	defer done()
	var out, errs bytes.Buffer
	assert.Equal(t, exitOK, Main(stop, "1.2.3", []string{"--watch", "--on", "record", path}, told{&out, done}, &errs))
	assert.NoError(t, ctx.Err(), "it was not stopped")
	assert.Empty(t, errs.String())
	assert.Equal(t, 1, strings.Count(out.String(), "\n"))
}

// told stops what writes to it, once it wrote a line.
type told struct {
	out  *bytes.Buffer
	stop func()
}

func (w told) Write(p []byte) (int, error) {
	if bytes.ContainsRune(p, '\n') {
		w.stop()
	}
	return w.out.Write(p)
}

func TestObserveSeesGrowth(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	old := yearAgo("epoch.end", `"epoch":0`)
	write1(t, path, old, old+" ")
	code, out, _ := call(t, "--observe", "300ms", path)
	assert.Zero(t, code)
	assert.Equal(t, "unknown", document(t, out)["state"], "the file is newer than its record")
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		_ = pause(t.Context(), lookedAt)
		write1(t, path, strings.Replace(old, `"epoch":0`, `"epoch":1`, 1))
	})
	_, out, _ = call(t, "--observe", "10s", path)
	assert.Equal(t, "running", document(t, out)["state"])
}
