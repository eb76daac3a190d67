// Package componentcheck holds a component's metadata, README and lifecycle to its code, and carries the test helpers
// that several components share. Only tests import it.
//
// # The check
//
// One test in each component's package is enough:
//
//	func TestComponent(t *testing.T) { componentcheck.Run(t, NewFactory()) }
//
//	func TestMain(m *testing.M) { componentcheck.VerifyMain(m) } // package_test.go: goroutine leaks
//
// Run reads metadata.yaml, README.md and go.mod from the package folder and fails unless
//
//   - type, status.class and status.stability equal the factory's, signal by signal (logs, metrics, traces; connectors
//     write logs_to_logs);
//
//   - the instruments that creating and starting the component makes in its own scope (the module path of go.mod)
//     equal telemetry.metrics in name, unit, description, kind and value type, both ways. metadata.yaml writes names
//     without otelcol_, as upstream does: isolate_sent_items is the instrument otelcol_isolate_sent_items. Instruments
//     of upstream's helpers live in other scopes and do not count;
//
//   - every data point of these instruments carries the component's id under the name of its class (receiver, processor,
//     exporter, connector), so that two ids are two series, and no attributes or values but those of metadata.yaml, where
//     each metric lists its attributes and attributes describes them. The points are those that starting the component
//     and one batch make; WithFeed makes more;
//
//   - README.md begins with a # title, one paragraph and a status table, then has these ## headings in this order
//     (the words count, the rest of a heading is free): "use it when", "smallest" (configuration), "keys", "before"
//     (and after), "self-metrics", "limits". Its tables agree with the code:
//
//     | Status | |
//     | --- | --- |
//     | Type | `isolate` |
//     | Class | connector |
//     | Stability | alpha: logs_to_logs, traces_to_traces; beta: metrics_to_metrics |
//
//     | Key | Default | Meaning |
//     | --- | --- | --- |
//     | `max_bytes` | `16777216` (16 MiB) | ... |
//
//     | Metric | Unit | Meaning |
//     | --- | --- | --- |
//     | `otelcol_isolate_sent_items` | `{item}` | ... |
//
//     Keys are dotted (timestamp.field), [] steps into a list (rules[].name), <name> into a map (values.<name>.limit).
//     A default is written as YAML writes it; text in brackets after it is free. Empty strings, lists, maps and
//     pointers may say none, required or -. A list or map of more than four entries may say "see below". A struct of
//     another repository may be one row instead of one a key;
//
//   - the component made from tests.config starts, stops, stops without a start, stops twice, starts again after a
//     stop, runs with all its signals at once under one id, stops in time when its context is cancelled, and takes a
//     read-only batch if it says that it does not mutate data.
//
// WithConfig edits the test configuration (for a directory from t.TempDir). The host is NewStorageHost(t):
// `storage: file_storage` works.
//
// # Storage
//
// NewStorageHost is a component.Host with a storage extension named file_storage. Data outlives its clients, so a
// restart is a second component on the same host; Crash makes every open client fail from then on, as kill -9 would;
// WithDirectory keeps the data in files. A client name that is open cannot be opened again, as with file_storage.
// Fail injects faults; FailWrites is the usual one. Statuses returns the component statuses that were reported.
//
// # Fixtures
//
// EachCase runs every testdata/*.txt (txtar: "-- name --" lines separate files) as a parallel subtest:
//
//	componentcheck.EachCase(t, "testdata", func(t *testing.T, c *componentcheck.Case) {
//		cfg := componentcheck.CaseConfig[*Config](t, c, NewFactory()) // config.yaml over the defaults, validated
//		in := c.Metrics(t, "in")                                      // pmetric as YAML (OTLP JSON's names)
//		...
//		c.EqualMetrics(t, "out", sink.AllMetrics()[0])                // -update rewrites the golden
//		c.EqualTelemetry(t, tel, "otelcol_some_")                     // the file "telemetry"
//	})
//
// AssertTelemetry compares self-metrics without a fixture: lines such as otelcol_x_dropped{reason="full"} 2.
package componentcheck
