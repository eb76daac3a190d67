package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// findDVC gives the DVC on the path, else the one that the tests have installed; "" for none.
func findDVC() string {
	if path, err := exec.LookPath("dvc"); err == nil {
		return path
	}
	installed, _ := filepath.Glob(filepath.Join("build", "dvc", "*", "bin", "dvc")) // the pattern is none that fails
	for _, path := range installed {
		if abs, err := filepath.Abs(path); err == nil {
			return abs
		}
	}
	return ""
}

// showDVC prints what dvc metrics show makes of the results in a folder, in which it makes a repository of DVC alone.
func showDVC(ctx context.Context, dir string) error {
	dvc := findDVC()
	if dvc == "" {
		return nil
	}
	for _, args := range [][]string{{"init", "-q", "--no-scm"}, {"metrics", "show"}} {
		//nolint:gosec // the user's own DVC
		cmd := exec.CommandContext(ctx, dvc, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "DVC_NO_ANALYTICS=1")
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("dvc %s: %w", args[0], err)
		}
		if len(out) > 0 {
			fmt.Printf("\n$ dvc metrics show\n%s", out)
		}
	}
	return nil
}
