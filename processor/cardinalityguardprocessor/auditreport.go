package cardinalityguardprocessor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// Bounds of a report.
const (
	reportEvery   = time.Minute
	reportChanges = 10_000 // rows; what finds no room is added up
	reportText    = 256    // bytes of a name or key in a report
)

// auditReport adds up what rules find, for people.
type auditReport struct {
	markdown, json string // the files
	mu             sync.Mutex
	rows           map[reportRow]int64
	leftOut        int64 // points of changes that found no room
	points         int64
	since          time.Time
	policy         *policy.Policy
}

// reportRow is one line of the report.
type reportRow struct {
	Rule   string `json:"rule"`
	Mode   string `json:"mode"`
	Change string `json:"change"`
	Level  string `json:"level"`
	Metric string `json:"metric"`
	Key    string `json:"key"`
}

var changeNames = map[policy.Outcome]string{
	policy.Remove: "attribute removed", policy.Replace: "value replaced", policy.DropPoint: "point dropped",
}

// jsonName is the file beside the Markdown.
func jsonName(markdown string) string {
	return strings.TrimSuffix(markdown, filepath.Ext(markdown)) + ".json"
}

func newAuditReport(file string) *auditReport {
	return &auditReport{markdown: filepath.Clean(file), json: jsonName(file), rows: map[reportRow]int64{}}
}

// add takes what a survey found in a batch.
func (r *auditReport) add(p *policy.Policy, tally map[change]int64, points int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.points += int64(points)
	r.policy = p
	for c, n := range tally {
		rule := p.Rules()[c.rule]
		row := reportRow{Rule: rule.Reason, Mode: modeNames[policy.Enforce], Change: changeNames[c.what], Metric: shown(c.metric), Key: shown(c.key)}
		if rule.Audit {
			row.Mode = modeNames[policy.Audit]
		}
		if c.key != "" {
			row.Level = policy.LevelNames[c.at]
		}
		if _, known := r.rows[row]; !known && len(r.rows) >= reportChanges {
			r.leftOut += n
			continue
		}
		r.rows[row] += n
	}
}

// shown is a name or key as a report has it.
func shown(text string) string {
	return strings.Clone(strings.ToValidUTF8(text[:min(len(text), reportText)], "\uFFFD"))
}

// document is the report as JSON.
type document struct {
	Format  int       `json:"format"`
	Policy  string    `json:"policy_version"`
	Mode    string    `json:"policy_mode"`
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"`
	Points  int64     `json:"points"`
	LeftOut int64     `json:"points_left_out"`
	Changes []counted `json:"changes"`
}

type counted struct {
	reportRow
	Points int64 `json:"points"`
}

func (r *auditReport) document(now time.Time) document {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := document{Format: 1, Since: r.since.UTC(), Until: now.UTC(), Points: r.points, LeftOut: r.leftOut, Changes: []counted{}}
	if r.policy != nil {
		d.Policy, d.Mode = r.policy.Version(), modeNames[r.policy.Mode()]
	}
	for row, n := range r.rows {
		d.Changes = append(d.Changes, counted{row, n})
	}
	slices.SortFunc(d.Changes, func(a, b counted) int {
		return cmp.Or(
			cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.Rule, b.Rule), cmp.Compare(b.Points, a.Points), cmp.Compare(a.Metric, b.Metric),
			cmp.Compare(a.Key, b.Key), cmp.Compare(a.Level, b.Level), cmp.Compare(a.Change, b.Change),
		)
	})
	return d
}

// write puts both files in place, each at once.
func (r *auditReport) write(now time.Time) error {
	d := r.document(now)
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	if err := replaceFile(r.markdown, d.markdown()); err != nil {
		return err
	}
	return replaceFile(r.json, append(text, '\n'))
}

// markdown is the report as a person reads it.
func (d *document) markdown() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# What cardinality_guard changes, and would change\n\n")
	fmt.Fprintf(&b, "Policy version %s, mode %s. %d points from %s to %s.\n", cell(d.Policy), d.Mode, d.Points, d.Since.Format(time.RFC3339), d.Until.Format(time.RFC3339))
	if len(d.Changes) == 0 {
		b.WriteString("\nNo rule found anything.\n")
	}
	mode, rule := "", ""
	for _, c := range d.Changes {
		if c.Mode != mode {
			mode, rule = c.Mode, ""
			if mode == modeNames[policy.Audit] {
				b.WriteString("\n## Would change (audit)\n")
			} else {
				b.WriteString("\n## Changed (enforce)\n")
			}
		}
		if c.Rule != rule {
			rule = c.Rule
			fmt.Fprintf(&b, "\n### %s\n\n| Metric | Key | On | Change | Points |\n| --- | --- | --- | --- | ---: |\n", cell(rule))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d |\n", cell(c.Metric), cell(c.Key), c.Level, c.Change, c.Points)
	}
	if d.LeftOut > 0 {
		fmt.Fprintf(&b, "\nMore than %d different changes: those of %d points are left out.\n", reportChanges, d.LeftOut)
	}
	return []byte(b.String())
}

// cell makes any text safe inside a table.
func cell(text string) string {
	if text == "" {
		return "-"
	}
	clean := strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, text)
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "<", "&lt;", "*", `\*`, "_", `\_`, "[", `\[`).Replace(clean)
}

// replaceFile writes a file so that a reader sees the old or the new one, whole.
func replaceFile(name string, content []byte) error {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	base := filepath.Base(name)
	draft := "." + base + ".tmp"
	f, err := root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = root.Rename(draft, base)
	}
	if err != nil {
		_ = root.Remove(draft)
	}
	return err
}
