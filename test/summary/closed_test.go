package summary

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// opened says of an open call whether it may write.
var opened = regexp.MustCompile(`openat?2?\(.*(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND)`)

// TestNothingIsWrittenAndNoSocketIsOpened looks at every call that the command makes to the kernel.
func TestNothingIsWrittenAndNoSocketIsOpened(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("NOT TESTED: what the command asks of the kernel; install strace")
	}
	dir := t.TempDir()
	stream := filepath.Join(dir, "run", "train.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(stream), 0o700))
	appendLine(t, stream, `{"ts":"2026-11-20T10:00:00Z","event":"epoch.end","run_id":"r","body":{"epoch":0,"measurements":{"val/loss":1}}}`)
	appendLine(t, stream, `{"ts":"2026-11-20T10:00:01Z","event":"checkpoint.save","run_id":"r","body":{"epoch":0,"path":"best.pt","kind":"best"}}`)
	for i, args := range [][]string{{stream}, {"--format", "html", dir}, {"--wait-for", "epoch=9", "--timeout", "1s", stream}, {"--explain", filepath.Join(dir, "*", "*.jsonl")}} {
		trace := filepath.Join(t.TempDir(), fmt.Sprint(i))
		c := exec.CommandContext(t.Context(), strace, append([]string{"-f", "-qq", "-e", "trace=%file,%network,write,pwrite64,writev,openat2", "-o", trace, collector.Summary(t)}, args...)...)
		out, err := c.Output()
		if len(out) == 0 && err != nil {
			t.Skip("NOT TESTED: what the command asks of the kernel; this machine forbids strace")
		}
		text, err := os.ReadFile(trace)
		require.NoError(t, err)
		lines := strings.Split(string(text), "\n")
		require.Greater(t, len(lines), 5)
		for _, l := range lines {
			assert.NotRegexp(t, `\b(socket|connect|bind|listen|sendto|accept)\(`, l)
			assert.NotRegexp(t, opened, l)
			assert.NotRegexp(t, `\b(unlink|unlinkat|rename|renameat|renameat2|mkdir|mkdirat|link|linkat|symlink|symlinkat|chmod|fchmodat|utimensat|truncate)\(`, l)
			if m := regexp.MustCompile(`\b(?:write|pwrite64|writev)\((\d+)`).FindStringSubmatch(l); m != nil {
				if m[1] != "1" && m[1] != "2" { // the runtime wakes itself through an eventfd
					assert.Regexp(t, `write\(\d+, "\\1\\0\\0\\0\\0\\0\\0\\0", 8\)`, l)
				}
			}
		}
	}
}

// TestHostileStreams: what a stream holds is never more than data.
func TestHostileStreams(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name, "train.jsonl")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	evil := `\u001b[2J\u001b]0;owned\u0007\u202e\u200b\u2028</script><img src=x>|` + "`" + `../../../etc/passwd\n\u009b31m`
	named := write("named", fmt.Sprintf(`{"ts":1790000000,"event":"run.start","run_id":"%[1]s","host":"%[1]s","framework":"%[1]s","body":{"objective":{"metric":"%[1]s","mode":"min"}}}
{"ts":1790000001,"event":"epoch.end","run_id":"%[1]s","part":"","body":{"epoch":0,"measurements":{"%[1]s":1,"val/%[1]s":2}}}
{"ts":1790000002,"event":"checkpoint.save","run_id":"%[1]s","body":{"epoch":0,"path":"%[1]s","kind":"%[1]s"}}
{"ts":1790000003,"event":"run.failure","run_id":"%[1]s","body":{"error_type":"%[1]s","message":"%[1]s","stack":"SECRETSTACK"}}
`, evil))
	cases := map[string]string{
		"named": named, "many series": write("many", seriesOf(60)),
		"deep":      write("deep", strings.Repeat(`{"a":`, 100_000)+"\n"),
		"long line": write("long", strings.Repeat("x", 64<<20)+"\n"+`{"ts":1790000001,"event":"epoch.end","run_id":"long","body":{"epoch":0}}`+"\n"),
		"no end":    write("noend", strings.Repeat("y", 40<<20)),
		"binary":    write("binary", strings.Repeat("\x00\xff\xfe\x1b[2J", 10_000)+"\n"),
	}
	one := schemaOf(t)
	for name, path := range cases {
		began := time.Now()
		got := run(t, path)
		require.Zero(t, got.code, "%s: %s", name, got.err)
		d := got.document(t)
		assert.NoError(t, one.Validate(any(d)), name)
		assert.LessOrEqual(t, len(got.out)-1, 2048, name)
		assert.Less(t, time.Since(began), 60*time.Second)
		for _, format := range []string{"json", "text", "markdown"} {
			out := run(t, "--format", format, path).out
			for _, r := range out {
				assert.False(t, r != '\n' && (r < ' ' || r == 0x7f || r >= 0x80 && r <= 0x9f || r == 0x202e || r == 0x200b || r == 0x2028), "%s %s: %q", name, format, r)
			}
			assert.NotContains(t, out, "SECRETSTACK")
		}
		page := run(t, "--format", "html", path).out
		assert.NotContains(t, page, "<img")
		assert.NotContains(t, page, "</script>")
		assert.NotContains(t, page, "\x1b")
	}
	assert.InDelta(t, 1, run(t, cases["long line"]).document(t)["source"].(map[string]any)["bad_lines"], 0)
	million := run(t, write("million", seriesOf(256))).document(t)
	assert.NoError(t, one.Validate(any(million)))
	assert.Greater(t, million["source"].(map[string]any)["series_omitted"], 900_000.0, "counted, within what an estimate allows")
	fifo := filepath.Join(dir, "fifo.jsonl")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	assert.Equal(t, 1, run(t, fifo).code)
}

// seriesOf is a stream of rows of 4,000 metrics each that no other row has.
func seriesOf(rows int) string {
	var b strings.Builder
	for i := range rows {
		fmt.Fprintf(&b, `{"ts":%d,"event":"epoch.end","run_id":"many","body":{"epoch":%d,"measurements":{"a":1`, 1790000000+i, i)
		for k := range 4000 {
			fmt.Fprintf(&b, `,"m%d_loss":1`, i*4000+k)
		}
		b.WriteString("}}}\n")
	}
	return b.String()
}
