package cli

import (
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/answer"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/condition"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/source"
	"github.com/pathologize/otelcol-train/internal/trainrun"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

// Formats.
const (
	formatJSON     = "json"
	formatText     = "text"
	formatMarkdown = "markdown"
	formatHTML     = "html"
)

// flags are those of the command as they were given.
type flags struct {
	format, run, objective, now, waitFor, on           string
	asJSON, noProcess, explain, watch, exitState, full bool
	throughStall                                       bool
	metrics, artifactRoots, profiles                   []string
	maxMetrics                                         int
	stallAfter, observe, timeout                       time.Duration
	pid                                                int64
}

func (f *flags) register(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.format, "format", "", "json, text, markdown or html (default json, on a terminal text)")
	fs.BoolVar(&f.asJSON, "json", false, "the same as --format json")
	fs.StringVar(&f.run, "run", "", "the run of this id, of several")
	fs.BoolVar(&f.full, "full", false, "of several runs every document, one a line, instead of a list")
	fs.StringVar(&f.objective, "objective", "", "what decides which epoch is best, `NAME:min` or NAME:max")
	fs.StringSliceVar(&f.metrics, "metrics", nil, "show the metrics that match these `GLOB`s only")
	fs.IntVar(&f.maxMetrics, "max-metrics", 0, "show at most `N` metrics (default 6)")
	fs.DurationVar(&f.stallAfter, "stall-after", 0, "silence after which a run is stalled (default by its cadence)")
	fs.DurationVar(&f.observe, "observe", 0, "watch for growth that long before answering")
	fs.Int64Var(&f.pid, "pid", 0, "the trainer's process, when the records do not name it")
	fs.BoolVar(&f.noProcess, "no-process-check", false, "do not look whether the trainer's process lives")
	fs.StringVar(&f.now, "now", "", "answer as of this time, `RFC 3339`")
	fs.StringSliceVar(&f.artifactRoots, "artifact-root", nil, "`DIR` below which checkpoints may be looked at, beside the streams' own")
	registerProfiles(fs, &f.profiles)
	fs.BoolVar(&f.explain, "explain", false, "add the arithmetic behind the verdicts")
	fs.StringVar(&f.waitFor, "wait-for", "", "block until one of `COND`,… holds: ended finished failed stalled epoch=N step=N best warning warning=CODE change")
	fs.DurationVar(&f.timeout, "timeout", 10*time.Minute, "how long --wait-for waits")
	fs.BoolVar(&f.throughStall, "through-stall", false, "go on waiting when the run is stalled")
	fs.BoolVar(&f.watch, "watch", false, "write a document at the start and at each change, until the run ends")
	fs.StringVar(&f.on, "on", "change", "what --watch writes at: change, epoch or record")
	fs.BoolVar(&f.exitState, "exit-state", false, "exit by the state: 10 failed, 11 aborted, 12 stalled, 13 unknown")
}

// request is what the flags ask for.
type request struct {
	flags
	format     string
	asker      answer.Asker
	conditions []condition.Condition
	fixed      bool // --now
}

func (f *flags) read(terminal bool) (*request, error) {
	r := &request{flags: *f, format: f.format}
	switch {
	case f.asJSON && f.format != "" && f.format != formatJSON:
		return nil, usage("leave one of the two out", "--json and --format %s exclude each other", f.format)
	case f.asJSON || f.format == "" && !terminal:
		r.format = formatJSON
	case f.format == "":
		r.format = formatText
	case !slices.Contains([]string{formatJSON, formatText, formatMarkdown, formatHTML}, f.format):
		return nil, usage("use json, text, markdown or html", "--format: no format is called %q", f.format)
	}
	if err := r.times(); err != nil {
		return nil, err
	}
	if err := r.view(); err != nil {
		return nil, err
	}
	return r, r.modes()
}

func (r *request) times() error {
	r.asker = answer.Asker{Now: time.Now, StallAfter: r.stallAfter, PID: r.pid, NoProcess: r.noProcess}
	if r.now != "" {
		at, err := time.Parse(time.RFC3339, r.now)
		if err != nil {
			return usage("write it as 2026-11-20T10:12:20Z", "--now: %q is no time", r.now)
		}
		r.asker.Now, r.fixed = func() time.Time { return at }, true
	}
	for name, d := range map[string]time.Duration{"--stall-after": r.stallAfter, "--observe": r.observe, "--timeout": r.timeout} {
		if d < 0 {
			return usage("give a positive duration such as 90s", "%s: %s is negative", name, d)
		}
	}
	return nil
}

func (r *request) view() error {
	r.asker.View = trainview.Options{Metrics: r.metrics, MaxMetrics: r.maxMetrics, Explain: r.explain}
	if r.maxMetrics < 0 || r.pid < 0 {
		return usage("give a positive number", "--max-metrics and --pid are not negative")
	}
	for _, glob := range r.metrics {
		if _, err := path.Match(glob, ""); err != nil {
			return usage(`close its brackets, or write \[ for one that is part of a name`, "--metrics: %q is no glob", glob)
		}
	}
	if r.objective != "" {
		name, goal, _ := cutLast(r.objective, ":")
		if name == "" || goal != trainrun.ModeMin && goal != trainrun.ModeMax {
			return usage("write it as val/loss:min", "--objective: %q names no metric with min or max", r.objective)
		}
		r.asker.View.Objective = &trainview.Objective{Metric: name, Goal: goal}
	}
	for _, dir := range r.artifactRoots {
		abs, err := source.Abs(dir)
		if err != nil {
			return err
		}
		r.asker.ArtifactRoots = append(r.asker.ArtifactRoots, abs)
	}
	return nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func (r *request) modes() error {
	if r.waitFor != "" {
		list, err := condition.Parse(r.waitFor)
		if err != nil {
			return usage("see trainsummary --help", "--wait-for: %s", err)
		}
		r.conditions = list
	}
	if !slices.Contains([]string{"change", "epoch", "record"}, r.on) {
		return usage("use change, epoch or record", "--on: no %q", r.on)
	}
	waits := r.waitFor != "" || r.watch || r.observe > 0
	switch {
	case r.watch && r.waitFor != "":
		return usage("leave one of the two out", "--watch and --wait-for exclude each other")
	case waits && r.fixed:
		return usage("leave --now out", "--now does not go with --wait-for, --watch or --observe")
	case r.watch && (r.format == formatHTML || r.format == formatMarkdown):
		return usage("use json or text", "--watch does not write %s", r.format)
	}
	return nil
}

// streams are where a command reads and writes.
type streams struct {
	out, err io.Writer
	terminal bool
	colour   bool
	screen   bool // the terminal can be drawn over
}
