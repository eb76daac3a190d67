package dvcresultexporter

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"
)

func TestGoldenRunDirectory(t *testing.T) {
	t.Parallel()
	var got map[string]string
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(wholeRun("7f3a9c")...)
		pass(time.Minute)
		got = r.files("7f3a9c")
		r.stop()
	})
	golden := filepath.Join("testdata", "run", "out")
	if flag.Lookup("update").Value.String() == "true" { // componentcheck's flag
		require.NoError(t, os.RemoveAll(golden))
		for name, text := range got {
			p := filepath.Join(golden, filepath.FromSlash(name))
			require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
			require.NoError(t, os.WriteFile(p, []byte(text), 0o644))
		}
	}
	assert.Equal(t, readTree(t, golden), got)
	schema, err := jsonschema.NewCompiler().Compile("result.schema.json")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(got["result.json"]))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(doc))
	assert.NotContains(t, got["params.yaml"], "hf_abcdef", "a secret is in the result")
}

func TestDirectoryThatRefusesNeverFailsThePipeline(t *testing.T) {
	t.Parallel()
	for reason, fault := range map[string]error{"no_space": syscall.ENOSPC, "permission": syscall.EROFS, "io": syscall.EIO} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *rig) {
				r.start()
				defer r.stop()
				var tries []time.Duration
				var first time.Time
				r.fs.fail(func(op, _ string) error {
					if op != "create" {
						return nil
					}
					if first.IsZero() {
						first = time.Now()
					}
					tries = append(tries, time.Since(first))
					return fault
				})
				r.feed(wholeRun("a")...)
				pass(11*time.Minute + 10*time.Second)
				s := time.Second
				assert.Equal(t, []time.Duration{0, 1 * s, 3 * s, 7 * s, 15 * s, 31 * s, 63 * s, 127 * s, 255 * s, 511 * s}, tries)
				assert.NotContains(t, r.files("a"), "result.json")
				assert.Equal(t, 2, r.logs.FilterMessageSnippet("Results cannot be written").Len(), "one line in five minutes")
				r.feed(wholeRun("b")[:1]...)
				r.fs.fail(nil)
				pass(5 * time.Minute)
				r.says("a", "success", true, false)
				statuses := r.host.Statuses()
				assert.Equal(t, componentstatus.StatusRecoverableError, statuses[0])
				assert.Equal(t, componentstatus.StatusOK, statuses[len(statuses)-1])
				r.telemetry(`otelcol_dvc_result_masked_values 2`, `otelcol_dvc_result_records 8`, `otelcol_dvc_result_runs{state="closed"} 0`, `otelcol_dvc_result_runs{state="open"} 1`,
					`otelcol_dvc_result_runs{state="settled"} 1`, r.stateSize(), `otelcol_dvc_result_write_errors{reason="`+reason+`"} 10`,
					`otelcol_dvc_result_written_results{outcome="success"} 1`)
			})
		})
	}
}

func TestDirectoryThatIsNotThereYetIsWaitedFor(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.fs.fail(func(op, _ string) error {
			if op == "open" {
				return syscall.EACCES
			}
			return nil
		})
		r.start()
		defer r.stop()
		assert.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError}, r.host.Statuses())
		r.feed(wholeRun("a")...)
		pass(time.Minute)
		r.fs.fail(nil)
		pass(time.Minute)
		r.says("a", "success", true, false)
	})
}

// TestOwnFolderThatIsSomethingElseIsWaitedFor: the collector does other work.
func TestOwnFolderThatIsSomethingElseIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"link": func(path string) error { return os.Symlink(os.TempDir(), path) },
		"file": func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *rig) {
				own := filepath.Join(r.cfg.Directory, ".dvc_result")
				require.NoError(t, os.MkdirAll(r.cfg.Directory, 0o755))
				require.NoError(t, put(own))
				r.start()
				defer r.stop()
				assert.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError}, r.host.Statuses())
				assert.Equal(t, 1, r.logs.FilterMessageSnippet("cannot be written").Len())
				r.feed(wholeRun("a")...)
				pass(time.Minute)
				assert.Nil(t, r.files("a"))
				require.NoError(t, os.Remove(own))
				pass(5 * time.Minute)
				r.says("a", "success", true, false)
			})
		})
	}
}

func TestDirectoryThatWasTakenAwayIsMadeAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		require.NoError(t, os.RemoveAll(r.cfg.Directory))
		r.feed(wholeRun("a")...)
		pass(time.Minute)
		r.says("a", "success", true, false)
	})
}

func TestFileInPlaceOfTheDirectoryIsAnError(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		require.NoError(t, os.WriteFile(r.cfg.Directory, nil, 0o600))
		err := r.tryStart()
		require.ErrorContains(t, err, "directory: ")
		assert.Empty(t, r.host.OpenClients())
		require.NoError(t, r.exp.shutdown(t.Context()))
		require.NoError(t, r.tel.Shutdown(t.Context()))
	})
}

func TestHostileRunIDsStayInTheDirectory(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		ids := []string{"../../escape", "/etc/passwd", "..", ".dvc_result", "con", "a/b", "A", "a", "dvc.yaml\\u0000", strings.Repeat("x", 300)}
		for _, id := range ids {
			r.feed(line{record(id, 1, "run.end", `"outcome":"success"`), 0})
		}
		pass(time.Minute)
		entries, err := os.ReadDir(r.cfg.Directory)
		require.NoError(t, err)
		assert.Len(t, entries, len(ids)+1)
		outside, err := os.ReadDir(r.dir)
		require.NoError(t, err)
		assert.Len(t, outside, 1)
	})
}

// A kill between two renames leaves a result that does not match its files; the next start completes it.
func TestStartRepairsWhatAKillInterrupted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		renames := 0
		r.fs.fail(func(op, name string) error {
			if op == "rename" && strings.HasPrefix(name, "a/") {
				if renames++; renames > 3 {
					return errors.New("killed")
				}
			}
			return nil
		})
		r.feed(wholeRun("a")...)
		pass(10 * time.Second)
		assert.Len(t, r.files("a"), 3)
		r.kill()
		r.fs.fail(nil)
		r.start()
		pass(10 * time.Second)
		r.says("a", "success", true, false)
		r.stop()
	})
}

func TestShutdownDoesNotWaitForAFileSystemThatHangs(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		hang := make(chan struct{})
		r.fs.fail(func(op, _ string) error {
			if op == "create" {
				<-hang
			}
			return nil
		})
		r.feed(wholeRun("a")...)
		pass(time.Minute)
		require.NoError(t, r.exp.consumeLogs(t.Context(), logsOf(t, wholeRun("b")...)), "the pipeline waits for a file")
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		require.ErrorIs(t, r.exp.shutdown(ctx), context.DeadlineExceeded)
		assert.Equal(t, 5*time.Second, time.Since(began))
		assert.Empty(t, r.host.OpenClients())
		close(hang)
		require.NoError(t, r.tel.Shutdown(context.Background()))
	})
}
