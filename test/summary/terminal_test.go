package summary

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// screen is a terminal with a command in it.
type screen struct {
	t    *testing.T
	pty  *os.File
	done chan error

	mu    sync.Mutex
	shown *vt.Emulator
	bytes []byte
}

// onTerminal starts the command in a terminal of its own.
func onTerminal(t *testing.T, columns, rows int, env []string, args ...string) *screen {
	t.Helper()
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(pty.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(pty.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	s := &screen{t: t, pty: pty, done: make(chan error, 1), shown: vt.NewEmulator(columns, rows)}
	s.resize(columns, rows)
	c := exec.CommandContext(t.Context(), collector.Summary(t), args...)
	c.Env = append(append(os.Environ(), "TERM=xterm-256color"), env...)
	c.Stdout, c.Stderr = tty, tty
	require.NoError(t, c.Start())
	require.NoError(t, tty.Close())
	read := make(chan struct{})
	go s.read(read)
	go func() {
		err := c.Wait()
		<-read // it ends with the last one that has the terminal open
		s.done <- err
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill() // it may be gone
		<-read
		_ = pty.Close() // nothing is left in it
	})
	return s
}

func (s *screen) read(done chan<- struct{}) {
	defer close(done)
	buf := make([]byte, 4096)
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		_, _ = s.shown.Write(buf[:n]) // it takes all
		s.bytes = append(s.bytes, buf[:n]...)
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *screen) resize(columns, rows int) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown.Resize(columns, rows)
	require.NoError(s.t, unix.IoctlSetWinsize(int(s.pty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(columns), Row: uint16(rows)}))
}

// lines are what is to be seen, without what is blank at their ends.
func (s *screen) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := strings.Split(s.shown.String(), "\n")
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func (s *screen) text() string { return strings.Join(s.lines(), "\n") }

// sees waits until a text is to be seen.
func (s *screen) sees(text string) {
	s.t.Helper()
	if !assert.Eventually(s.t, func() bool { return strings.Contains(s.text(), text) }, time.Minute, 50*time.Millisecond, text) {
		s.t.Fatal(s.text())
	}
}

func (s *screen) scrolled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.ScrollbackLen()
}

func (s *screen) wrote() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.bytes)
}

// liveRun is a stream that goes on, with names of every width.
func liveRun(t *testing.T, dir string) (add func(epoch int), end func()) {
	t.Helper()
	path := filepath.Join(dir, "run-ü界", "train.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	say := func(event, body string) {
		appendLine(t, path, `{"ts":"`+time.Now().UTC().Format(time.RFC3339Nano)+`","event":"`+event+`","run_id":"run-ü界","body":{`+body+`}}`)
	}
	say("run.start", `"planned_epochs":50`)
	add = func(epoch int) {
		v := 100 - epoch
		say("epoch.end", fmt.Sprintf(`"epoch":%d,"measurements":{"val/loss":%d,"train/loss":%d,"val/e\u0301损失_loss":%d,"val/%s_loss":%d,"val/\u001b[2J_loss":NaN}`,
			epoch, v, v, v, strings.Repeat("long_", 30), v))
	}
	return add, func() { say("run.end", `"outcome":"success"`) }
}

func TestTheLivePageFitsEveryTerminal(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {200, 50}, {40, 12}, {20, 5}, {100, 3}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			add, end := liveRun(t, dir)
			add(0)
			s := onTerminal(t, size[0], size[1], nil, "--watch", dir)
			s.sees(`"run-ü界"`)
			add(1)
			if size[0] >= 40 && size[1] > 3 {
				s.sees("2 of 50 epochs")
			}
			checkFits(t, s, size[0], size[1])
			end()
			require.NoError(t, <-s.done)
			s.sees("finished, not")
			checkFits(t, s, size[0], size[1])
			assert.Equal(t, 1, strings.Count(s.text(), `"run-`), "one page, drawn over the one before")
			assert.NotContains(t, s.text(), "running")
		})
	}
}

// checkFits: no line is broken, and the first one is still there.
func checkFits(t *testing.T, s *screen, columns, rows int) {
	t.Helper()
	lines := s.lines()
	assert.LessOrEqual(t, len(lines), min(12, rows-1))
	assert.Zero(t, s.scrolled(), s.text())
	require.NotEmpty(t, lines)
	assert.True(t, strings.HasPrefix(lines[0], `"run-ü界"`), lines[0])
	for i, begin := range []string{"", "", "", `"val/loss"`, `"train/loss"`} {
		if i < len(lines) && i < rows-1 {
			assert.True(t, strings.HasPrefix(lines[i], begin[:min(len(begin), columns/3)]), "%d: %s", i, s.text())
		}
	}
}

func TestTheLivePageFollowsItsTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	add, end := liveRun(t, dir)
	add(0)
	s := onTerminal(t, 120, 30, nil, "--watch", dir)
	s.sees("too_few_points 100 best 100 at epoch 0")
	s.resize(44, 8)
	require.Eventually(t, func() bool {
		lines := s.lines()
		return len(lines) == 7 && strings.HasSuffix(lines[3], "…")
	}, time.Minute, 50*time.Millisecond)
	s.resize(120, 30)
	s.sees("too_few_points 100 best 100 at epoch 0")
	assert.Greater(t, len(s.lines()), 7)
	end()
	require.NoError(t, <-s.done)
}

func TestSeveralRunsShareAScreen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, run := range []string{"a", "b"} {
		appendLine(t, filepath.Join(dir, run+".jsonl"), `{"ts":"`+time.Now().UTC().Format(time.RFC3339Nano)+`","event":"epoch.end","run_id":"`+run+`","body":{"epoch":1,"measurements":{"val/loss":1}}}`)
	}
	s := onTerminal(t, 90, 20, nil, "--watch", dir)
	s.sees(`"b"`)
	assert.Len(t, s.lines(), 3, s.text())
	appendLine(t, filepath.Join(dir, "b.jsonl"), `{"ts":"`+time.Now().UTC().Format(time.RFC3339Nano)+`","event":"run.end","run_id":"b","body":{"outcome":"failed"}}`)
	s.sees("failed")
	assert.Contains(t, s.text(), `"a"`, "the other one stays")
	assert.Len(t, s.lines(), 3, s.text())
}

func TestColoursAndScreensAreForTerminalsThatWantThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	add, end := liveRun(t, dir)
	add(0)
	end()
	for _, args := range [][]string{{dir}, {"--watch", dir}} {
		colour := onTerminal(t, 80, 24, nil, args...)
		require.NoError(t, <-colour.done)
		assert.Contains(t, string(colour.wrote()), "\x1b[1;32mfinished\x1b[0m")
		grey := onTerminal(t, 80, 24, []string{"NO_COLOR="}, args...)
		require.NoError(t, <-grey.done)
		assert.NotContains(t, string(grey.wrote()), "m\x1b")
		assert.NotContains(t, string(grey.wrote()), "\x1b[1")
		assert.Equal(t, colour.lines()[:2], grey.lines()[:2])
		dumb := onTerminal(t, 80, 24, []string{"TERM=dumb"}, args...)
		require.NoError(t, <-dumb.done)
		assert.NotContains(t, string(dumb.wrote()), "\x1b")
		assert.NotContains(t, run(t, append([]string{"--format", "text"}, args...)...).out, "\x1b", "no terminal")
		assert.True(t, strings.HasPrefix(run(t, args...).out, "{"), "for what is no terminal it is JSON")
	}
}
