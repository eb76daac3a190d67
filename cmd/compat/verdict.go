package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Verdicts on a name.
const (
	ok      = "ok"
	spelled = "spelled otherwise"
	missing = "MISSING"
)

// finding is a line of the report.
type finding struct {
	section string
	name    string
	verdict string
	note    string
}

// check is the command's first form.
func check(ctx context.Context, args []string, stdout, stderr io.Writer) (bool, error) {
	set := flags("otelcol-train-compat", stderr)
	old, path := set.String("old", theirs(), ""), set.String("new", ours(), "")
	asked := set.Bool("version", false, "")
	if err := set.Parse(args); err != nil {
		return false, err
	}
	if *asked {
		_, err := fmt.Fprintln(stdout, "otelcol-train-compat version", shown())
		return true, err
	}
	if set.NArg() == 0 {
		return false, fmt.Errorf("name the configuration of the Collector to be replaced\n%s", usage)
	}
	c, err := load(ctx, set.Args())
	if err != nil {
		return false, err
	}
	b := binary{*path, "--new"}
	version, err := b.version(ctx)
	if err != nil {
		return false, err
	}
	accepted, err := b.accepted(ctx)
	if err != nil {
		return false, err
	}
	findings := judge(c, accepted)
	for _, key := range c.discoveries() {
		f := finding{section: "discovery", name: key, verdict: ok}
		if !b.discovers(ctx, key) {
			f.verdict, f.note = missing, "take the tags out of build_tags in builder-config.yaml and run make build; "+page
		}
		findings = append(findings, f)
	}
	yes := !slices.ContainsFunc(findings, func(f finding) bool { return f.verdict != ok })
	fmt.Fprintf(stdout, "%s in %s %s\n\n", strings.Join(c.uris, " + "), *path, version)
	if err := table(stdout, findings); err != nil {
		return false, err
	}
	for _, name := range c.bare {
		fmt.Fprintf(stdout, "\n$%s stays as it is: current Collectors expand ${env:%s} only\n", name, name)
	}
	out, err := b.validate(ctx, c.uris...)
	fmt.Fprintf(stdout, "\nvalidate: %s\n", verdictOf(out, err))
	if !yes {
		fmt.Fprintln(stdout, "It stops at the first name that it does not know: mend the lines above that are not ok, and ask again")
	}
	return yes && err == nil, tellPin(ctx, stdout, c, binary{*old, "--old"})
}

// judge holds each type that is used against the names that the binary takes.
func judge(c *configuration, accepted map[string][]string) []finding {
	var out []finding
	for _, scheme := range c.schemes {
		out = append(out, finding{
			section: "provider", name: scheme, verdict: missing,
			note: "write the value with ${env:...} or ${file:...}, or add the provider's module to builder-config.yaml and run make build",
		})
	}
	for _, u := range c.uses() {
		f := finding{section: u.singular(), name: u.kind, verdict: ok}
		if !slices.Contains(accepted[u.section], u.kind) {
			f.verdict, f.note = otherwise(u, accepted[u.section])
		}
		out = append(out, f)
	}
	return append(out, retired(c)...)
}

// otherwise says how the binary spells a type that it does not take, or what to do about one that it does not have.
func otherwise(u use, accepted []string) (verdict, note string) {
	for _, name := range accepted {
		if fold(name) == fold(u.kind) {
			return spelled, "write " + name
		}
	}
	if now, found := renamed[u.section][u.kind]; found {
		return spelled, "write " + now
	}
	return missing, remedy(u)
}

// retired finds keys that Collectors took once and refuse now; validate would name only the first.
func retired(c *configuration) []finding {
	telemetry := asMap(asMap(c.data["service"])["telemetry"])
	var out []finding
	if _, found := asMap(telemetry["metrics"])["address"]; found {
		out = append(out, finding{
			section: "key", name: "service::telemetry::metrics::address", verdict: spelled,
			note: "write readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: 8888}}}}]",
		})
	}
	return out
}

func table(w io.Writer, findings []finding) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, f := range findings {
		line := strings.Join([]string{f.section, f.name, f.verdict, f.note}, "\t")
		fmt.Fprintln(t, strings.TrimRight(line, "\t"))
	}
	return t.Flush()
}

func verdictOf(out string, err error) string {
	if err == nil {
		return ok
	}
	return strings.TrimSpace(validValues.ReplaceAllString(out, "")) // the table has said what to write
}
