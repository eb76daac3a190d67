// Package condition says what a wait waits for.
package condition

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainview"
)

// Words that stand alone.
const (
	ended    = "ended"
	finished = "finished"
	failed   = "failed"
	stalled  = "stalled"
	best     = "best"
	warning  = "warning"
	change   = "change"
	epoch    = "epoch"
	step     = "step"
)

// Condition is one of those that a wait ends with.
type Condition struct {
	Text string // as it was asked for
	word string
	n    int64
	code string
}

// Parse reads conditions that commas separate.
func Parse(text string) ([]Condition, error) {
	var out []Condition
	for _, part := range strings.Split(text, ",") {
		c, err := parse(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func parse(text string) (Condition, error) {
	word, value, valued := strings.Cut(text, "=")
	c := Condition{Text: text, word: word}
	switch word {
	case ended, finished, failed, stalled, best, change:
		if valued {
			return c, fmt.Errorf("condition %q: %s takes no value", text, word)
		}
	case epoch, step:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return c, fmt.Errorf("condition %q: want a number, such as %s=10", text, word)
		}
		c.n = n
	case warning:
		if valued && !slices.Contains(trainview.WarningCodes(), value) {
			return c, fmt.Errorf("condition %q: no warning has this code; known are %s", text, strings.Join(trainview.WarningCodes(), ", "))
		}
		c.code = value
	default:
		return c, fmt.Errorf("condition %q: want ended, finished, failed, stalled, epoch=N, step=N, best, warning, warning=CODE or change", text)
	}
	return c, nil
}

// Start is what a wait compares with.
type Start struct {
	state, epoch, best, warnings string
}

// Of reads a document.
func Of(d *trainview.Document) Start {
	s := Start{state: d.State + fmt.Sprint(d.Run.Attempt), epoch: number(d.Progress.EpochsCompleted)}
	if b := d.Best; b != nil {
		s.best = b.Metric + " " + b.Value.String() // not where: an epoch becomes a step when it is validated again
	}
	for _, w := range d.Warnings {
		s.warnings += w.Code + " " + w.Metric + ","
	}
	return s
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

// Met says whether a document fulfils the condition; start is the first document of the wait.
func (c *Condition) Met(d *trainview.Document, start Start) bool {
	switch c.word {
	case ended:
		return Ended(d)
	case finished:
		return d.State == trainview.Finished
	case failed:
		return d.State == trainview.Failed
	case stalled:
		return d.State == trainview.Stalled
	case epoch:
		return d.Progress.EpochsCompleted != nil && *d.Progress.EpochsCompleted >= c.n
	case step:
		return d.Progress.Step != nil && *d.Progress.Step >= c.n
	case best:
		return d.Best != nil && Of(d).best != start.best
	case warning:
		return slices.ContainsFunc(d.Warnings, func(w trainview.Warning) bool { return c.code == "" || w.Code == c.code })
	default:
		return Of(d) != start
	}
}

// Ended says whether a run has ended, however: also by an end whose outcome is none of the vocabulary's.
func Ended(d *trainview.Document) bool {
	return d.State == trainview.Finished || d.State == trainview.Failed || d.State == trainview.Aborted ||
		d.Evidence.Basis == trainview.BasisEnd
}

// Lost says whether nobody can tell what became of the run.
func Lost(d *trainview.Document) bool { return d.State == trainview.Unknown }

// First gives the first condition that a document fulfils.
func First(list []Condition, d *trainview.Document, start Start) (text string, met bool) {
	for i := range list {
		if list[i].Met(d, start) {
			return list[i].Text, true
		}
	}
	return "", false
}
