package componentcheck

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// readme is a README as the check sees it: a title, a purpose, headings and tables.
type readme struct {
	title    string
	purpose  string
	headings []heading
	tables   []table
}

type heading struct {
	text string
	line int
}

type table struct {
	header []string
	rows   [][]string
	line   int
}

// sections are the words that the ## headings must contain, in this order.
var sections = []string{"use it when", "smallest", "keys", "before", "self-metrics", "limits"}

func parseReadme(text string) *readme {
	r := &readme{}
	lines := strings.Split(text, "\n")
	fenced := false
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		switch {
		case fenced || line == "":
		case strings.HasPrefix(line, "# ") && r.title == "":
			r.title = strings.TrimSpace(line[2:])
		case strings.HasPrefix(line, "## "):
			r.headings = append(r.headings, heading{strings.ToLower(strings.TrimSpace(line[3:])), i})
		case strings.HasPrefix(line, "|"):
			tab := table{header: cells(line), line: i}
			for i++; i < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i]), "|"); i++ {
				if row := cells(lines[i]); !isRule(row) {
					tab.rows = append(tab.rows, row)
				}
			}
			i--
			r.tables = append(r.tables, tab)
		case r.title != "" && r.purpose == "" && len(r.tables) == 0 && len(r.headings) == 0:
			r.purpose = line
		}
	}
	return r
}

var cellEnd = regexp.MustCompile(`(\\\|)|\|`)

// cells splits a table row at its bars; an escaped bar belongs to the cell.
func cells(line string) []string {
	line = strings.Trim(strings.TrimSpace(line), "|")
	var out []string
	start := 0
	for _, at := range cellEnd.FindAllStringSubmatchIndex(line, -1) {
		if at[2] >= 0 {
			continue
		}
		out = append(out, line[start:at[0]])
		start = at[1]
	}
	out = append(out, line[start:])
	for i := range out {
		out[i] = strings.ReplaceAll(strings.TrimSpace(out[i]), `\|`, "|")
	}
	return out
}

// isRule says whether a row is the line of dashes below a header.
func isRule(row []string) bool {
	return !slices.ContainsFunc(row, func(c string) bool { return strings.Trim(c, "-: ") != "" })
}

// plain takes code marks and links' brackets off a cell.
func plain(cell string) string {
	return strings.NewReplacer("`", "", "[", "", "]", "").Replace(cell)
}

// find returns the first table whose first header cell is name.
func (r *readme) find(name string) (table, bool) {
	for _, tab := range r.tables {
		if strings.EqualFold(tab.header[0], name) {
			return tab, true
		}
	}
	return table{}, false
}

func (s *suite) checkReadme() []error {
	var errs []error
	if s.readme.title == "" {
		errs = append(errs, fmt.Errorf("README.md: begin with a # title"))
	}
	if want := s.meta.DisplayName; want != "" && want != s.readme.title {
		errs = append(errs, fmt.Errorf("README.md: title: want display_name %q, got %q", want, s.readme.title))
	}
	if s.readme.purpose == "" {
		errs = append(errs, fmt.Errorf("README.md: write one sentence of purpose between the title and the status table"))
	}
	errs = append(errs, s.checkStatusTable()...)
	errs = append(errs, s.checkOrder()...)
	return append(errs, s.checkMetricTable()...)
}

func (s *suite) checkStatusTable() []error {
	tab, ok := s.readme.find("Status")
	if !ok {
		return []error{fmt.Errorf("README.md: no status table: begin it with | Status | |")}
	}
	var errs []error
	if len(s.readme.headings) > 0 && tab.line > s.readme.headings[0].line {
		errs = append(errs, fmt.Errorf("README.md: the status table belongs before the first ## heading"))
	}
	values := map[string]string{}
	for _, row := range tab.rows {
		if len(row) > 1 {
			values[strings.ToLower(row[0])] = plain(row[1])
		}
	}
	if want := s.factory.Type().String(); values["type"] != want {
		errs = append(errs, fmt.Errorf("README.md: status: Type: want %s, got %q", want, values["type"]))
	}
	if values["class"] != s.target.class {
		errs = append(errs, fmt.Errorf("README.md: status: Class: want %s, got %q", s.target.class, values["class"]))
	}
	byLevel := map[string][]string{}
	for part := range strings.SplitSeq(values["stability"], ";") {
		level, signals, _ := strings.Cut(part, ":")
		for sig := range strings.SplitSeq(signals, ",") {
			if sig = strings.TrimSpace(sig); sig != "" {
				byLevel[strings.TrimSpace(level)] = append(byLevel[strings.TrimSpace(level)], sig)
			}
		}
	}
	got, err := stabilities(byLevel)
	if err != nil {
		return append(errs, fmt.Errorf("README.md: status: Stability: %w", err))
	}
	return append(errs, diffStability("README.md: status: Stability", s.target.stabilities(), got)...)
}

// checkOrder says whether every prescribed section is there, one after the other.
func (s *suite) checkOrder() []error {
	var errs []error
	last, lastName := -1, "the beginning"
	for _, want := range sections {
		at := slices.IndexFunc(s.readme.headings, func(h heading) bool { return strings.Contains(h.text, want) })
		switch {
		case at < 0:
			errs = append(errs, fmt.Errorf("README.md: no ## heading with the words %q", want))
		case at < last:
			errs = append(errs, fmt.Errorf("README.md: the heading with %q belongs after %q", want, lastName))
		default:
			last, lastName = at, want
		}
	}
	return errs
}

// checkMetricTable compares the README's self-metrics with metadata.yaml, names and units.
func (s *suite) checkMetricTable() []error {
	if len(s.meta.Telemetry.Metrics) == 0 {
		return nil
	}
	tab, ok := s.readme.find("Metric")
	if !ok {
		return []error{fmt.Errorf("README.md: no table of self-metrics: begin it with | Metric | Unit | Meaning |")}
	}
	units := map[string]string{}
	for _, row := range tab.rows {
		if len(row) > 1 {
			units[strings.Trim(row[0], "`")] = strings.Trim(row[1], "`")
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(s.meta.Telemetry.Metrics)) {
		unit, ok := units[instrumentPrefix+name]
		if want := s.meta.Telemetry.Metrics[name].Unit; !ok {
			errs = append(errs, fmt.Errorf("README.md: self-metrics: no row for %s", instrumentPrefix+name))
		} else if unit != want {
			errs = append(errs, fmt.Errorf("README.md: self-metrics: %s: want unit %q, got %q", instrumentPrefix+name, want, unit))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(units)) {
		if _, ok := s.meta.Telemetry.Metrics[strings.TrimPrefix(name, instrumentPrefix)]; !ok {
			errs = append(errs, fmt.Errorf("README.md: self-metrics: %s is not in metadata.yaml", name))
		}
	}
	return errs
}
