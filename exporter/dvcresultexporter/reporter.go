package dvcresultexporter

import (
	"fmt"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/atomicdir"
	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// reporter tells an operator of trouble with the directory: the component's status, and one log line in five minutes.
type reporter struct {
	host      component.Host
	logger    *zap.Logger
	directory string

	mu      sync.Mutex
	failing map[*side]bool // nil stands for the directory as a whole
	seldom  componentkit.Seldom
}

func newReporter(e *resultExporter, host component.Host) *reporter {
	return &reporter{
		host: host, logger: e.set.Logger, directory: e.cfg.Directory, failing: map[*side]bool{},
		seldom: componentkit.Seldom{Every: logInterval},
	}
}

func (p *reporter) failed(s *side, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failing[s] = true
	if p.seldom.Allow("errors") {
		p.logger.Error("Results cannot be written; the state is kept and writing is repeated",
			zap.String("directory", p.directory), zap.String("reason", string(atomicdir.ReasonOf(err))),
			zap.Int("results", len(p.failing)), zap.Error(err))
	}
	componentstatus.ReportStatus(p.host, componentstatus.NewRecoverableErrorEvent(fmt.Errorf("results in %s: %w", p.directory, err)))
}

// worked takes back what was said of a result, and of the directory. The log line keeps its five minutes: trouble that comes and goes, as a lock
// that another collector holds, would be a line each time.
func (p *reporter) worked(s *side) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.failing) == 0 {
		return
	}
	delete(p.failing, s)
	delete(p.failing, nil)
	if len(p.failing) == 0 {
		componentstatus.ReportStatus(p.host, componentstatus.NewEvent(componentstatus.StatusOK))
	}
}

// noted tells whoever runs the trainers what they should mend.
func (p *reporter) noted(s *side, j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := j.state
	if len(j.files) > 1 && p.seldom.Allow("folders") {
		p.logger.Warn("Files of two folders told of one run: if these are two runs, let their records name them, or give the folders different names",
			zap.String("run_directory", s.dir), zap.Strings("files", j.files))
	}
	if st.Partial && p.seldom.Allow("partial") {
		p.logger.Warn("The beginning of a run's stream is missing: its records came before this state. Let the receiver read the stream from its beginning",
			zap.String("run_directory", s.dir))
	}
	for _, n := range st.Notes {
		if !p.seldom.Allow(n.What) {
			continue
		}
		p.logger.Warn("Records of a run should be mended: "+advice(n), zap.String("run_directory", s.dir))
	}
}

func advice(n trainrun.Note) string {
	switch n.What {
	case trainrun.NoteObjective:
		return fmt.Sprintf("body.objective: no record measures %q; want a metric of body.measurements", n.Value)
	case trainrun.NoteOutcome:
		return fmt.Sprintf("body.outcome: %q, want success, failed or aborted", n.Value)
	case trainrun.NoteNoOutcome:
		return "body.outcome: an end has none, want success, failed or aborted"
	case trainrun.NoteEvent:
		return trainrecord.EventMistake(n.Value)
	case trainrun.NoteUnplaced:
		return fmt.Sprintf("body.step: epochs have several values of %q, and some tell no step and are left out; want the step of the run in each, which does not begin anew with an epoch", n.Value)
	case trainrun.NoteSteps:
		return "body.step: steps begin anew in each epoch, and the curves over them only have the order of epoch and step; want the step of the run, which goes on from epoch to epoch"
	case trainrun.NoteJump:
		return fmt.Sprintf("body.epoch: %s is much farther from the one before than all others span, and epochs.completed counts to it; want the index of the epoch, from 0", n.Value)
	default:
		return "ts: several streams tell one value and no time says which is the newer one; want a time in each line"
	}
}

func (p *reporter) kept(s *side) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seldom.Allow("keeps") {
		p.logger.Warn(
			"A result was not written: the one on disk has more records or a newer attempt, says more of the same, or is of a newer run",
			zap.String("run_directory", s.dir))
	}
}
