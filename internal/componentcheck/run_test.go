package componentcheck

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
)

func TestRunPassesAnHonestComponent(t *testing.T) {
	t.Parallel()
	Run(t, goodFake().factory(), WithDir(fakeDir(t)))
}

func TestEachCheckFailsOnWhatItIsFor(t *testing.T) {
	t.Parallel()
	for _, tc := range brokenDocuments() {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			assert.Contains(t, verdict(t, goodFake(), tc.check, fakeDir(t, tc.edit...)), tc.want)
		})
	}
	for _, tc := range brokenComponents() {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := goodFake()
			tc.spoil(f)
			assert.Contains(t, verdict(t, f, tc.check, fakeDir(t)), tc.want)
		})
	}
}

type brokenDocument struct {
	name, check, want string
	edit              []string
}

// brokenDocuments are edits of metadata.yaml and README.md, and what is said of them.
func brokenDocuments() []brokenDocument {
	return []brokenDocument{
		{"another type", "metadata", "type: want fake", []string{"type: fake", "type: other"}},
		{"another class", "metadata", "status.class: want processor", []string{"class: processor", "class: exporter"}},
		{"another stability", "metadata", `logs: want alpha as the factory says, got "beta"`, []string{"alpha: [logs]", "beta: [logs]"}},
		{"a signal too many", "metadata", "traces: the factory does not support it", []string{"alpha: [logs]", "alpha: [logs, traces]"}},
		{"a signal too few", "metadata", `logs: want alpha as the factory says, got ""`, []string{"alpha: [logs]", "alpha: []"}},
		{"stability twice", "metadata", "is given twice", []string{"alpha: [logs]", "alpha: [logs]\n    beta: [logs]"}},
		{"another title", "readme", "title: want display_name", []string{"# Fake processor", "# Fake"}},
		{"no purpose", "readme", "one sentence of purpose", []string{"Does nothing, for tests.", ""}},
		{"type in the README", "readme", "status: Type: want fake", []string{"| `fake` |", "| `fakes` |"}},
		{"class in the README", "readme", "status: Class: want processor", []string{"Class | processor", "Class | exporter"}},
		{"stability in the README", "readme", "Stability: logs: want alpha", []string{"| alpha: logs |", "| beta: logs |"}},
		{"no status table", "readme", "no status table", []string{"| Status |", "| Stand |"}},
		{"status table too late", "readme", "before the first ## heading", []string{"Does nothing, for tests.", "Does nothing.\n\n## Early"}},
		{"no section", "readme", `no ## heading with the words "limits"`, []string{"## Limits", "## Borders"}},
		{"sections swapped", "readme", `"keys" belongs after "smallest"`, []string{"## Smallest configuration", "## Keys", "## Keys", "## Smallest"}},
		{"no metric row", "readme", "no row for otelcol_fake_size", []string{"| `otelcol_fake_size` | `By` | Size |\n", ""}},
		{"metric row too many", "readme", "otelcol_fake_sizes is not in metadata.yaml", []string{"| `otelcol_fake_size` |", "| `otelcol_fake_sizes` |"}},
		{"unit in the README", "readme", `want unit "By", got "s"`, []string{"| `By` |", "| `s` |"}},
		{"key missing", "keys", "no row for wait", []string{"| `wait` | `5s` | How long |\n", ""}},
		{"key of a list missing", "keys", "no row for rules[].name", []string{"| `rules[].name` | required | A rule's name |\n", ""}},
		{"key too many", "keys", "waits is no key", []string{"| `wait` |", "| `waits` |"}},
		{"default wrong", "keys", "size: want default 16, got", []string{"| 16 (bytes) |", "| 17 (bytes) |"}},
		{"duration wrong", "keys", "wait: want default 5s", []string{"| `5s` |", "| `6s` |"}},
		{"no meaning", "keys", "has no meaning", []string{"| How much |", "| |"}},
		{"test config unknown", "config", "tests.config", []string{"size: 3", "sizes: 3"}},
		{"test config invalid", "config", "size: must not be negative", []string{"size: 3", "size: -3"}},
		{"metric undeclared", "telemetry", "makes otelcol_fake_size, metadata.yaml does not declare", []string{"    fake_size:", "    fake_sizes:"}},
		{"metric missing", "telemetry", "declares fake_sizes, the code does not make it", []string{"    fake_size:", "    fake_sizes:"}},
		{"prefix doubled", "telemetry", "write otelcol_fake_size without", []string{"    fake_size:", "    otelcol_fake_size:"}},
		{"unit in the metadata", "telemetry", `fake_size: unit: metadata.yaml says "s", the code "By"`, []string{"unit: By", "unit: s"}},
		{"kind in the metadata", "telemetry", "fake_size: kind", []string{"gauge: {value_type: int, async: true}", "sum: {value_type: int, async: true}"}},
		{"async in the metadata", "telemetry", "fake_size: async", []string{"async: true", "async: false"}},
		{"value type in the metadata", "telemetry", "fake_size: value_type", []string{"gauge: {value_type: int", "gauge: {value_type: double"}},
		{"description in the metadata", "telemetry", "fake_size: description", []string{"Bytes in the queue.", "Bytes."}},
		{"id not listed", "attributes", "fake_size: attributes: want processor, the component's id, among []", []string{"      attributes: [processor]\n", ""}},
		{"attribute not described", "attributes", "attributes: reason: give it a description", []string{"  reason: {description: Why., type: string, enum: [full]}\n", ""}},
		{"attribute of no metric", "attributes", "attributes: no metric has reason", []string{"[processor, reason]", "[processor]"}},
		{"attribute not listed", "attributes", "otelcol_fake_dropped: the code gives it the attribute reason", []string{"[processor, reason]", "[processor]"}},
		{"value off its enum", "attributes", `otelcol_fake_dropped: reason: "full" is not in the enum`, []string{"[full]", "[empty]"}},
		{"no kind", "telemetry", "exactly one of sum, gauge, histogram", []string{"      gauge: {value_type: int, async: true}\n", ""}},
	}
}

type brokenComponent struct {
	name, check, want string
	spoil             func(*fake)
}

func brokenComponents() []brokenComponent {
	stopIf := func(when func(started, stopped int) bool, err func(context.Context) error) func(*fake) {
		return func(f *fake) {
			f.stop = func(ctx context.Context, started, stopped int) error {
				if when(started, stopped) {
					return err(ctx)
				}
				return nil
			}
		}
	}
	reason := attribute.String("reason", "full")
	only := func(kvs ...attribute.KeyValue) func(*fake) {
		return func(f *fake) { f.attributes = func(component.ID) []attribute.KeyValue { return kvs } }
	}
	refuse := func(context.Context) error { return errors.New("refused") }
	return []brokenComponent{
		{"factory of another type", "metadata", "type: want fakes", func(f *fake) { f.typ = "fakes" }},
		{"factory of another stability", "metadata", "logs: want beta", func(f *fake) { f.stability = component.StabilityLevelBeta }},
		{"scope", "telemetry", "is made in scope", func(f *fake) { f.scope = "elsewhere" }},
		{"name", "telemetry", "want otelcol_fake_<noun>", func(f *fake) { f.dropped = "fake_dropped" }},
		{"unit", "telemetry", "fake_dropped: unit", func(f *fake) { f.unit = "1" }},
		{"kind", "telemetry", "fake_dropped: kind", func(f *fake) { f.counterAsGauge = true }},
		{"extra instrument", "telemetry", "otelcol_fake_more, metadata.yaml does not declare it", func(f *fake) { f.extra = "otelcol_fake_more" }},
		{"no id", "attributes", "otelcol_fake_dropped: want the attribute processor = fake, got {reason=full}", only(reason)},
		{"one id for two", "attributes", "otelcol_fake_dropped: want the attribute processor = fake/second, got {processor=fake}", only(attribute.String("processor", "fake"))},
		{"create fails", "lifecycle", "create: no", func(f *fake) { f.createErr = errors.New("no") }},
		{"start fails", "lifecycle", "start: no", func(f *fake) { f.startErr = errors.New("no") }},
		{"stop fails", "lifecycle", "start and stop: stop: refused", stopIf(func(started, _ int) bool { return started > 0 }, refuse)},
		{"stop without start fails", "lifecycle", "stop without start: stop: refused", stopIf(func(started, _ int) bool { return started == 0 }, refuse)},
		{"stop without start panics", "lifecycle", "stop without start: stop: panic", stopIf(func(started, _ int) bool { return started == 0 }, func(context.Context) error { panic("boom") })},
		{"second stop fails", "lifecycle", "stop twice: stop: refused", stopIf(func(_, stopped int) bool { return stopped > 1 }, refuse)},
		{"client left open", "lifecycle", "storage clients left open: [processor_fake_logs]", func(f *fake) { f.leaveClient = true }},
		{"mutation", "lifecycle", "one batch: use: panic", func(f *fake) { f.mutates = true }},
	}
}

func TestAFeedShowsWhatTheDefaultBatchDoesNot(t *testing.T) {
	t.Parallel()
	f := goodFake()
	f.attributes = func(id component.ID) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("processor", id.String())}
	}
	s, err := newSuite(f.factory(), WithDir(fakeDir(t)), WithFeed(func(ctx context.Context, c component.Component) error {
		f.attributes = func(component.ID) []attribute.KeyValue { return nil }
		return c.(consumer.Logs).ConsumeLogs(ctx, plog.NewLogs())
	}))
	require.NoError(t, err)
	assert.ErrorContains(t, errors.Join(s.checkAttributes(t)...), "otelcol_fake_dropped: want the attribute processor = fake, got {}")
}

func TestStopThatOutlivesItsContextIsFound(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	t.Cleanup(func() { close(released) })
	f := goodFake()
	f.stop = func(ctx context.Context, started, stopped int) error {
		if started > 0 && stopped == 1 && ctx.Err() != nil {
			<-released
		}
		return nil
	}
	assert.Contains(t, verdict(t, f, "lifecycle", fakeDir(t)), "cancelled context: use: did not return within")
}

func TestUnknownFactoryIsRefused(t *testing.T) {
	t.Parallel()
	_, err := newSuite(nil)
	require.ErrorContains(t, err, "no receiver, processor, exporter or connector")
}

// verdict runs one check and returns what it says.
func verdict(t *testing.T, f *fake, name, dir string) string {
	t.Helper()
	s, err := newSuite(f.factory(), WithDir(dir))
	require.NoError(t, err)
	for _, c := range s.checks() {
		if c.name == name {
			return fmt.Sprint(errors.Join(c.run(t)...))
		}
	}
	require.Fail(t, "no check "+name)
	return ""
}
