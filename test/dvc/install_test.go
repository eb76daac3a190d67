package dvc

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// requireEnv makes a DVC that cannot be installed a failure.
const requireEnv = "OTELCOL_TRAIN_REQUIRE_DVC"

var installed = sync.OnceValues(install)

// dvcBinary gives the path of the pinned DVC.
func dvcBinary(t *testing.T) string {
	t.Helper()
	path, err := installed()
	switch {
	case err == nil:
		return path
	case os.Getenv(requireEnv) != "":
		t.Fatalf("no DVC: %v", err)
	default:
		t.Skipf("NOT TESTED WITH THE REAL DVC: %v: install Python 3 with venv and pip, and let it reach a package index", err)
	}
	return ""
}

// install makes the virtual environment unless one for the same requirements is there.
func install() (string, error) {
	requirements, err := os.ReadFile("requirements.txt")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(requirements)
	venv, err := filepath.Abs(filepath.Join("..", "..", "build", "dvc", hex.EncodeToString(sum[:6])))
	if err != nil {
		return "", err
	}
	binary := filepath.Join(venv, "bin", "dvc")
	done := filepath.Join(venv, "complete")
	if _, err := os.Stat(done); err == nil {
		return binary, nil
	}
	for _, args := range [][]string{
		{"python3", "-m", "venv", "--clear", venv},
		{filepath.Join(venv, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return binary, os.WriteFile(done, nil, 0o600)
}

// repository is a git and DVC repository.
type repository struct {
	t   *testing.T
	dir string
	dvc string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{t: t, dir: t.TempDir(), dvc: dvcBinary(t)}
	r.git("init", "-q", "-b", "main")
	r.run("init", "-q")
	r.commit("an empty repository")
	return r
}

func (r *repository) commit(message string) {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	return r.command("git", append([]string{"-c", "user.name=test", "-c", "user.email=test@example.org"}, args...)...)
}

// run runs a DVC command and gives its standard output.
func (r *repository) run(args ...string) string {
	r.t.Helper()
	return r.command(r.dvc, args...)
}

func (r *repository) command(name string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "DVC_NO_ANALYTICS=1", "HOME="+r.t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"PATH="+filepath.Dir(r.dvc)+string(os.PathListSeparator)+os.Getenv("PATH"))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("%s %s: %v: %s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

// root is the folder of this repository.
