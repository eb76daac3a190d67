package policy

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAPipeIsNoPolicyFile opens one that nobody writes to: a look must come back, or the guard neither starts nor stops.
func TestAPipeIsNoPolicyFile(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	looked := make(chan error, 2)
	go func() {
		_, result, err := File(pipe).Look(t.Context())
		assert.Equal(t, Invalid, result)
		looked <- err
		looked <- Check(pipe)
	}()
	for range cap(looked) {
		select {
		case err := <-looked:
			require.ErrorContains(t, err, pipe+": want a regular file")
		case <-time.After(10 * time.Second):
			w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0) // lets the look go on
			require.NoError(t, err)
			require.NoError(t, w.Close())
			t.Fatal("the look waits for somebody who writes to the pipe")
		}
	}
}

// looks gives the results of some looks, and the last error.
func looks(t *testing.T, s *Source, n int) (results []string, last error) {
	t.Helper()
	for range n {
		_, result, err := s.Look(t.Context())
		results, last = append(results, ResultNames[result]), err
	}
	return results, last
}

// TestWhatIsNoFileIsInvalid: there is something, and it is no policy; that is counted and said once, and that a policy is there again, too.
func TestWhatIsNoFileIsInvalid(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(t *testing.T, file string){
		"a directory": func(t *testing.T, file string) { require.NoError(t, os.Mkdir(file, 0o700)) },
		"a pipe":      func(t *testing.T, file string) { require.NoError(t, syscall.Mkfifo(file, 0o600)) },
		"too large": func(t *testing.T, file string) {
			require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("#", maxSize+1)), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "policy.yaml")
			put(t, file)
			s := File(file)
			_, result, err := s.Look(t.Context())
			assert.Equal(t, Invalid, result)
			require.ErrorContains(t, err, file+": ")
			results, err := looks(t, s, 2)
			assert.Equal(t, []string{"unchanged", "unchanged"}, results)
			require.NoError(t, err)

			require.NoError(t, os.Remove(file))
			results, _ = looks(t, s, 2)
			assert.Equal(t, []string{"unreachable", "unreachable"}, results)
			require.NoError(t, os.WriteFile(file, []byte("version: 1\n"), 0o600))
			results, _ = looks(t, s, 3)
			assert.Equal(t, []string{"unsettled", "applied", "unchanged"}, results)
			require.NoError(t, os.Remove(file))
			put(t, file)
			results, _ = looks(t, s, 1)
			assert.Equal(t, []string{"invalid"}, results)
			require.NoError(t, os.RemoveAll(file))
			require.NoError(t, os.WriteFile(file, []byte("version: 1\n"), 0o600))
			results, _ = looks(t, s, 2)
			assert.Equal(t, []string{"unsettled", "applied"}, results, "the one before, which stayed in force, is there again")
		})
	}
}

// TestAFileThatIsBeingWrittenIsNoPolicyYet: its beginning is valid, too, and denies less.
func TestAFileThatIsBeingWrittenIsNoPolicyYet(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	const whole = "version: 2\nattributes:\n  deny:\n    - exact: [pid]\n    - exact: [user]\n"
	require.NoError(t, os.WriteFile(file, []byte("version: 1\n"), 0o600))
	s := File(file)
	results, _ := looks(t, s, 2)
	assert.Equal(t, []string{"applied", "unchanged"}, results, "what is there at the start counts at once")
	for _, part := range []string{"", whole[:11], strings.TrimSuffix(whole, "    - exact: [user]\n")} {
		require.NoError(t, os.WriteFile(file, []byte(part), 0o600))
		results, err := looks(t, s, 1)
		assert.Equal(t, []string{"unsettled"}, results, part)
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(file, []byte(whole), 0o600))
	results, _ = looks(t, s, 3)
	assert.Equal(t, []string{"unsettled", "applied", "unchanged"}, results)
}

// TestAFileSystemThatHangsHoldsNeitherALookNorAStop: a look that is told to stop comes back, and a file system that answers late is asked once.
func TestAFileSystemThatHangsHoldsNeitherALookNorAStop(t *testing.T) {
	t.Parallel()
	answers := make(chan string)
	s := fileBy("p.yaml", func(string) ([]byte, error) { return []byte(<-answers), nil })
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for range 2 {
		_, result, err := s.Look(ctx)
		assert.Equal(t, Unreachable, result)
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
	}
	answers <- "version: 1\n"
	results, err := looks(t, s, 1)
	require.NoError(t, err)
	assert.Equal(t, []string{"unsettled"}, results)
}

// TestAServerThatSaysNothingChangedBeforeItGaveAnything is told of: no policy came.
func TestAServerThatSaysNothingChangedBeforeItGaveAnything(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }))
	t.Cleanup(srv.Close)
	_, result, err := URL(srv.URL).Look(t.Context())
	assert.Equal(t, Unreachable, result)
	require.ErrorContains(t, err, "got status 304 (not modified) without having asked for changes only; want 200 and the policy")
}
