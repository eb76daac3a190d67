package resultfile

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// The report is a page for whoever looks at the repository in a browser, and its drawings.
const (
	ReportName   = "report.md"
	ReportDir    = "report"
	ReportSuffix = ".svg"

	maxReportMetrics  = 50
	maxReportFailures = 5
	maxReportText     = 200
)

// page writes Markdown. What comes from records goes through escape.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.Builder, format+"\n", args...) }

// report makes the page of a run; drawings are the names of the curves' files.
func report(r *result, drawings []drawing) []byte {
	st := r.state
	p := &page{}
	p.line("# %s: %s\n", escape(st.RunID), p.verdict(r.verdict))
	p.line("| | |")
	p.line("| --- | --- |")
	p.facts(r)
	p.metrics(r.metrics)
	if len(drawings) > 0 {
		p.line("\n## Curves\n")
		for _, d := range drawings {
			p.line("![%s](%s)\n", escape(d.title), pathURL(d.name))
		}
	}
	p.failures(st)
	p.gpus(r)
	p.line("\nEverything else is in [%s](%s).", ResultName, ResultName)
	return []byte(p.String())
}

func (p *page) verdict(v Verdict) string {
	switch {
	case !v.Final:
		return "running"
	case v.Provisional:
		return escape(v.Outcome) + " (provisional)"
	default:
		return escape(v.Outcome)
	}
}

func (p *page) fact(name, value string) {
	if value != "" {
		p.line("| %s | %s |", name, value)
	}
}

func (p *page) facts(r *result) {
	st := r.state
	p.fact("Stop reason", escape(st.StopReason))
	if b := st.Best; b != nil {
		best := fmt.Sprintf("**%s %s** at %s %d", escape(b.Metric), short(b.Value), b.Axis, b.X)
		if b.Checkpoint != nil && b.Checkpoint.Path != "" {
			best += ", " + escape(b.Checkpoint.Path)
		}
		p.fact("Best", best)
	}
	p.fact("Epochs", progressText(st.Epochs.Completed, st.Epochs.Planned))
	p.fact("Steps", progressText(st.Steps.Last, st.Steps.Planned))
	p.fact("Started", clock(st.StartedAt))
	p.fact("Ended", clock(st.EndedAt))
	if st.Durations.Run > 0 {
		p.fact("Duration", time.Duration(st.Durations.Run).Round(time.Second).String())
	}
	if n := len(st.Attempts); n > 1 {
		p.fact("Attempts", strconv.Itoa(n))
	}
	p.fact("Framework", escape(st.Framework))
	p.fact("Host", escape(st.Where.Host))
	if st.Git != nil {
		p.fact("Commit", escape(st.Git.Commit))
	}
	p.fact("Command", escape(st.Command))
	if st.Partial {
		p.fact("Coverage", "partial: the beginning of a stream is missing")
	}
}

func progressText(done, planned *int64) string {
	switch {
	case done == nil:
		return ""
	case planned == nil:
		return strconv.FormatInt(*done, 10)
	default:
		return fmt.Sprintf("%d of %d", *done, *planned)
	}
}

func (p *page) metrics(list []*metric) {
	if len(list) == 0 {
		return
	}
	p.line("\n## Metrics\n")
	p.line("| metric | last | least | greatest | points |")
	p.line("| --- | --: | --: | --: | --: |")
	for _, m := range list[:min(len(list), maxReportMetrics)] {
		least, greatest, points := "", "", ""
		if s := m.series; s != nil {
			points = strconv.FormatInt(s.Count, 10)
			if s.Min != nil && s.Max != nil {
				least = fmt.Sprintf("%s at %d", short(s.Min.V), s.Min.X)
				greatest = fmt.Sprintf("%s at %d", short(s.Max.V), s.Max.X)
			}
		}
		p.line("| %s | %s | %s | %s | %s |", escape(m.name), short(m.value()), least, greatest, points)
	}
	if n := len(list) - maxReportMetrics; n > 0 {
		p.line("\n%d more are in [%s](%s).", n, MetricsName, MetricsName)
	}
}

func (p *page) failures(st *trainrun.State) {
	if len(st.Failures) == 0 {
		return
	}
	p.line("\n## Failures\n")
	for i := range st.Failures[max(len(st.Failures)-maxReportFailures, 0):] {
		f := &st.Failures[max(len(st.Failures)-maxReportFailures, 0)+i]
		at := ""
		if f.At != 0 {
			at = ", " + clock(f.At)
		}
		p.line("- Attempt %d%s: %s %s", f.Attempt, at, escape(f.Type), escape(f.Message))
	}
}

func (p *page) gpus(r *result) {
	if r.gpus == nil || len(r.gpus.GPUs) == 0 {
		return
	}
	p.line("\n## GPUs\n")
	p.line("| GPU | energy (kWh) | peak memory (MiB) | utilisation (%%) | temperature (°C) |")
	p.line("| --- | --: | --: | --: | --: |")
	text := func(v *float64, scale float64) string {
		if v == nil {
			return ""
		}
		return short(float64(*v * scale))
	}
	for i := range r.gpus.GPUs {
		g := &r.gpus.GPUs[i]
		p.line("| %s %s | %s | %s | %s | %s |", escape(g.Model), escape(g.UUID), text(g.Energy, 1/3.6e6), text(g.MemoryPeak, 1), text(g.UtilMean, 1), text(g.TemperatureMax, 1))
	}
}

// short writes a number for people: metrics.json has every digit.
func short(v float64) string {
	if !isFinite(v) {
		return string(appendFloat(nil, v))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// escape writes a text of a record so that Markdown shows it as it is: on one line, without markup, links, images or HTML.
func escape(s string) string {
	s = cutText(s, maxReportText)
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			b.WriteByte(' ')
		case strings.ContainsRune("\\`*_{}[]()#+!|~@:$^\"'", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(b.String(), "www.", "www\\.")
}

// pathURL names a file of the run in a link.
func pathURL(name string) string {
	segments := strings.Split(name, "/")
	for i, s := range segments {
		segments[i] = strings.NewReplacer("(", "%28", ")", "%29").Replace(url.PathEscape(s))
	}
	return strings.Join(segments, "/")
}
