// Package answer makes documents of what was read: it gathers the evidence beside the records.
package answer

import (
	"os"
	"slices"
	"time"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/follow"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/process"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/source"
	"github.com/pathologize/otelcol-train/internal/trainrun"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

// Asker says what is asked for.
type Asker struct {
	View          trainview.Options
	StallAfter    time.Duration
	PID           int64 // 0: that of the records
	NoProcess     bool
	ArtifactRoots []string
	Now           func() time.Time
}

// Ask makes the document of a run. grown is growth that was seen, zero when none was.
func (a *Asker) Ask(r *follow.Run, grown time.Time) *trainview.Summary {
	ev := trainview.Evidence{Now: a.Now(), Grown: grown, StallAfter: a.StallAfter}
	streams := slices.Clone(r.Streams)
	slices.SortStableFunc(streams, func(x, y *follow.Stream) int { return x.ModTime().Compare(y.ModTime()) })
	looker := source.Looker{Roots: slices.Clone(a.ArtifactRoots)}
	folders := slices.Clone(a.ArtifactRoots) // where a relative path may begin: the trainer may have been started there
	for _, s := range streams {
		ev.Files = append(ev.Files, s.File())
		ev.ModTime, ev.Newest = s.ModTime(), s.Number
		looker.Roots, folders = appendNew(looker.Roots, s.Ref.Root), appendNew(folders, s.Ref.Folder())
	}
	ev.Look = func(path string) trainview.Found {
		found := trainview.FoundOutside
		for _, folder := range folders {
			found = max(found, looker.Look(folder, path))
		}
		return found
	}
	if !a.NoProcess {
		ev.Check = a.check
	}
	return trainview.Summarize(r.Fold, r.Trail, ev, a.View)
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// check looks at the process that the flag or the records name. Of the records only one counts that ran on this host, and in no
// pod: its number means something else there.
func (a *Asker) check(of trainrun.Where, first int64) string {
	began := time.Time{}
	if first > 0 {
		began = time.Unix(0, first)
	}
	if a.PID > 0 {
		return process.Check(a.PID, began)
	}
	host, err := os.Hostname()
	if of.PID <= 0 || of.Pod != "" || err != nil || of.Host != host || first == 0 {
		return trainview.ProcessNotChecked
	}
	return process.Check(of.PID, began)
}

// Entry is a run for a list.
func Entry(r *follow.Run, s *trainview.Summary) trainview.Entry {
	return trainview.Entry{Document: s.Document, ID: r.Name, Ref: r.Ref()}
}
