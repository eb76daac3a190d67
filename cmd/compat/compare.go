package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// A rate or a difference needs two scrapes; the third proves that the second went through.
	scrapesWanted = 3
	scrapedWithin = 60 * time.Second
	endsWithin    = 30 * time.Second
	lookEvery     = 50 * time.Millisecond
	shownAtMost   = 20
)

// compare is the command's second form.
func compare(ctx context.Context, args []string, stdout, stderr io.Writer) (bool, error) {
	set := flags("otelcol-train-compat compare", stderr)
	oldPath, newPath := set.String("old", theirs(), ""), set.String("new", ours(), "")
	from, pin := set.String("exposition", "", ""), set.String("pin", "", "")
	var newConfigs []string
	set.Func("new-config", "", func(s string) error {
		newConfigs = append(newConfigs, s)
		return nil
	})
	if err := set.Parse(args); err != nil {
		return false, err
	}
	if *oldPath == "" || *from == "" {
		return false, fmt.Errorf("name the old binary with --old and what the exporter says with --exposition\n%s", usage)
	}
	text, err := read(ctx, *from)
	if err != nil {
		return false, err
	}
	before, err := configured(ctx, set.Args())
	if err != nil {
		return false, err
	}
	after := before
	if len(newConfigs) > 0 {
		if after, err = configured(ctx, newConfigs); err != nil {
			return false, err
		}
	}
	exporter, err := serve(text)
	if err != nil {
		return false, err
	}
	defer func() { _ = exporter.close() }()
	old, err := scraped(ctx, binary{*oldPath, "--old"}, before, exporter, "", stderr)
	if err != nil {
		return false, err
	}
	now, err := scraped(ctx, binary{*newPath, "--new"}, after, exporter, *pin, stderr)
	if err != nil {
		return false, err
	}
	return report(stdout, old, now)
}

// configured loads a configuration, or gives the one that only scrapes.
func configured(ctx context.Context, uris []string) (*configuration, error) {
	if len(uris) == 0 {
		return &configuration{data: alone()}, nil
	}
	return load(ctx, uris)
}

// scraped runs a binary until it has scraped the exposition often enough, and returns the series that it made of it.
func scraped(ctx context.Context, b binary, c *configuration, exporter *exposition, pin string, stderr io.Writer) (seriesSet, error) {
	backend, err := receive()
	if err != nil {
		return nil, err
	}
	defer backend.server.Stop()
	folder, err := os.MkdirTemp("", "otelcol-train-compat-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	r := comparison{target: exporter.address, backend: backend.address, folder: folder, pin: pin}
	text, err := r.rewrite(c)
	if err != nil {
		return nil, err
	}
	for _, note := range r.notes {
		fmt.Fprintln(stderr, note)
	}
	config := filepath.Join(folder, "config.yaml")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return nil, err
	}
	if err := runUntilScraped(ctx, b, config, exporter, r.scraped); err != nil {
		return nil, err
	}
	got, err := backend.close()
	if err == nil && len(got) == 0 {
		err = fmt.Errorf("%s sent no series: is the exposition empty?", b.path)
	}
	return got, err
}

func runUntilScraped(ctx context.Context, b binary, config string, exporter *exposition, targets int) error {
	ctx, cancel := context.WithTimeout(ctx, scrapedWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.path, "--config", config) //nolint:gosec // the operator names it
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endsWithin
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	began := exporter.scrapes.Load()
	if err := b.cannotRun(ctx, cmd.Start()); err != nil {
		return err
	}
	var waitErr error
	ended := make(chan struct{})
	go func() {
		waitErr = cmd.Wait()
		close(ended)
	}()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ended:
			return fmt.Errorf("%s ended before it had scraped: %w: mend what it says, or name another configuration\n%s", b.path, errors.Join(waitErr, ctx.Err()), tail(output.String()))
		case <-look.C:
			if exporter.scrapes.Load()-began >= int64(scrapesWanted*targets) {
				cancel() // it flushes before it ends
				<-ended
				return nil
			}
		}
	}
}

func tail(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

func report(w io.Writer, old, now seriesSet) (bool, error) {
	gone, fresh := old.minus(now), now.minus(old)
	fmt.Fprintf(w, "%d of %d series differ\n", len(gone), len(old))
	if len(fresh) != len(gone) {
		fmt.Fprintf(w, "%d of %d series of the new binary are new\n", len(fresh), len(now))
	}
	if len(gone)+len(fresh) == 0 {
		return true, nil
	}
	clear := func(s *series) { s.Version = "" }
	oldBare, err := old.without(clear)
	if err != nil {
		return false, err
	}
	nowBare, err := now.without(clear)
	if err != nil {
		return false, err
	}
	if len(oldBare.minus(nowBare))+len(nowBare.minus(oldBare)) == 0 {
		fmt.Fprintf(w, "they differ in scope.version only, %s before and %s now. With it pinned they are the same:\n\n%s",
			strings.Join(old.versions(), " "), strings.Join(now.versions(), " "), pinOf(old.versions()[0]))
		return false, nil
	}
	show(w, "only before", gone)
	show(w, "only now", fresh)
	return false, nil
}

func show(w io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, line := range lines[:min(len(lines), shownAtMost)] {
		fmt.Fprintln(w, "  "+line)
	}
	if more := len(lines) - shownAtMost; more > 0 {
		fmt.Fprintf(w, "  and %d more\n", more)
	}
}
