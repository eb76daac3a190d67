package vocabdoc

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const intro = `# The vocabulary of training records

Generated from ` + "`internal/trainrecord/registry.yaml`" + ` by ` + "`make docs`" + `; edit that file, not this one. Version %s, namespace
` + "`%s`" + `, schema URL ` + "`%s`" + `. The JSON Schema of a line is
` + "`internal/trainrecord/record.schema.json`" + `.

A training run writes one JSON object a line, UTF-8, append-only, one file a run:

` + "```json" + `
{"ts":"2026-11-20T10:00:30Z","event":"epoch.end","run_id":"run-7","framework":"pytorch","phase":"train","body":{"epoch":0,"measurements":{"train/loss":1.25,"val/loss":1.5}}}
` + "```" + `

A line is a record when its ` + "`schema`" + ` starts with ` + "`%s/`" + `, or when ` + "`event`" + ` is one of the events, ` + "`ts`" + ` is there and
` + "`run_id`" + ` or a ` + "`body`" + ` object is. Any other JSON object is the row of a framework: the ` + "`training_norm`" + ` processor maps it.
Measurements may be ` + "`NaN`, `Infinity` and `-Infinity`" + `. ` + "`epoch`" + ` is an index from 0.
`

const misfits = "A value that is not of its type or range costs itself alone: it counts as absent, and what was written is kept under `framework`, by its path " +
	"(`epoch`, `best.mode`, `artifacts[2].size`; with a `_` behind it where that name is taken). In `measurements`, `learning_rate`, `durations`, and among the " +
	"elements of arrays, it stays where it is, and counts for nothing; so does a number without a name. An inner key has the range of the body's key of its name. So it is with the keys of a line " +
	"(`ts`, `severity`, `phase` …); but a line whose `run_id`, `part`, `attempt`, `rank` or `seq` is not of its type and range is no record: it would be taken for another's. " +
	"`null` is absent.\n\n" +
	"A number of `epoch.end`, `step.end` or `phase.end` that stands beside `measurements`, under a key that is not below, is in no curve: it stays where it is, and is counted too " +
	"(the receiver's `flaws`, `values_without_meaning` of `trainsummary`). Write it into `measurements`, or under `framework` when it is no measurement."

// Page gives docs/records.md.
func Page(r *trainrecord.Registry) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, intro, trainrecord.SchemaVersion, r.Namespace, r.SchemaURL, r.Namespace)
	section(&b, "Events", "On OpenTelemetry log records the event name is `"+r.Namespace+".<event>`. "+
		code(trainrecord.EventStreamStatus)+" is the receiver's own and never that of a line: a line that has it is a "+code(trainrecord.EventLog)+", as with a name off the list.", []string{"event", "meaning", "body"})
	for _, n := range r.Names {
		if n.Kind == trainrecord.KindEvent {
			row(&b, code(n.Name), n.Meaning, bodyKeys(r, n.Name))
		}
	}
	section(&b, "Keys of a line", "", []string{"key", "type", "meaning", "values"})
	for _, n := range r.Names {
		if n.Kind == trainrecord.KindRecord {
			row(&b, code(n.Name), n.Type, n.Meaning, set(n.Values))
		}
	}
	section(&b, "Keys of the body", "Anything else may stand in the body too; what a mapping finds no shared meaning for is kept under `framework`.\n\n"+misfits,
		[]string{"key", "type", "unit", "meaning", "values"})
	for _, n := range r.Names {
		if n.Kind == trainrecord.KindBody {
			row(&b, code(n.Name), n.Type+between(n)+innerKeys(n), n.Unit, n.Meaning, set(n.Values))
		}
	}
	section(&b, "Attributes", "The key is `"+r.Namespace+".<name>`. A name that is not allowed on metrics is removed from them by `cardinality_guard`.",
		[]string{"name", "type", "allowed on", "meaning", "values"})
	for _, n := range r.Names {
		if n.Kind == trainrecord.KindAttribute {
			row(&b, code(n.Name), n.Type, strings.Join(n.Signals, ", "), n.Meaning, set(n.Values))
		}
	}
	section(&b, "Value sets", "A value off its list becomes `other`; what was written stays in the body (a framework, phase or event under `body.framework`). "+
		"One of `mode` is left out: whether less or more is better is told by the metric's name then, and is `min` where that tells nothing.", []string{"set", "values"})
	for _, name := range slices.Sorted(maps.Keys(r.Values)) {
		row(&b, code(name), codes(r.Values[name]))
	}
	section(&b, "Forbidden on metrics", "Token patterns: a pattern matches a key when it is a run of whole words of it (`run_id` matches `mlflow.runId`, not `prune_id`).",
		[]string{"concept", "patterns"})
	for _, concept := range slices.Sorted(maps.Keys(r.ForbiddenOnMetrics)) {
		row(&b, strings.ReplaceAll(concept, "_", " "), codes(r.ForbiddenOnMetrics[concept]))
	}
	return []byte(b.String())
}

func section(b *strings.Builder, title, text string, columns []string) {
	fmt.Fprintf(b, "\n## %s\n\n", title)
	if text != "" {
		b.WriteString(text + "\n\n")
	}
	row(b, columns...)
	b.WriteString(strings.Repeat("| --- ", len(columns)) + "|\n")
}

func row(b *strings.Builder, cells ...string) {
	for _, c := range cells {
		b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
	}
	b.WriteString("|\n")
}

func code(s string) string { return "`" + s + "`" }

func codes(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = code(s)
	}
	return strings.Join(quoted, " ")
}

func set(name string) string {
	if name == "" {
		return ""
	}
	return "set " + code(name)
}

func bodyKeys(r *trainrecord.Registry, event string) string {
	var keys []string
	for _, n := range r.Names {
		if n.Kind == trainrecord.KindBody && slices.Contains(n.Events, event) {
			keys = append(keys, n.Name)
		}
	}
	return codes(keys)
}

// between says the range of a number.
func between(n trainrecord.Name) string {
	if n.Minimum == nil || n.Maximum == nil {
		return ""
	}
	return fmt.Sprintf(", %d to %d", *n.Minimum, *n.Maximum)
}

func innerKeys(n trainrecord.Name) string {
	if len(n.Keys) == 0 {
		return ""
	}
	var inner []string
	for _, k := range slices.Sorted(maps.Keys(n.Keys)) {
		inner = append(inner, k+": "+n.Keys[k])
	}
	return " {" + strings.Join(inner, ", ") + "}"
}
