package trainprofile

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// loggers write a line with a text as its message, as their source does by default.
var loggers = map[string]string{
	"structlog":            `{"event": %s, "level": "info", "timestamp": "2026-11-29T13:27:26Z"}`,
	"python_json_logger":   `{"asctime": "2026-11-29 13:27:26,029", "levelname": "INFO", "name": "trainer", "message": %s, "taskName": null}`,
	"google_cloud_logging": `{"message": %s, "severity": "INFO", "logging.googleapis.com/labels": {"python_logger": "t"}, "logging.googleapis.com/trace": "", "httpRequest": {} }`,
	"otel_log":             `{"body": %s, "severity_number": 9, "severity_text": "INFO", "attributes": {}, "timestamp": "2026-11-29T13:27:26Z", "trace_id": "0x00000000000000000000000000000000", "span_id": "0x0000000000000000", "trace_flags": 0, "resource": {"attributes": {"service.name": "train"}}}`,
	"container_log":        `{"log": %s, "stream": "stdout", "time": "2026-11-29T13:27:26.1Z"}`,
	"rust_tracing":         `{"timestamp":"2026-11-29T13:27:26.1Z","level":"INFO","fields":{"message":%s},"target":"py::bridge"}`,
	"loguru": `{"text": "x\n", "record": {"elapsed": {"seconds": 1.0}, "exception": null, "extra": {}, "file": {"name": "a.py"}, "level": {"name": "INFO", "no": 20}, "line": 1, ` +
		`"message": %s, "name": "__main__", "process": {"id": 7}, "time": {"repr": "2026-11-29 13:27:26.029114+00:00", "timestamp": 1795958846.029114}}}`,
}

func logged(t testing.TB, logger, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	return fmt.Sprintf(loggers[logger], quoted)
}

// TestRowsOfEveryFrameworkInEveryEnvelope writes the streams of all fixtures through each logger, and each logger through a
// container's log: the records must be those of the bare rows, but for what the logger itself adds.
func TestRowsOfEveryFrameworkInEveryEnvelope(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*/*.txt")
	require.NoError(t, err)
	set := embeddedSet(t)
	for _, path := range paths {
		p := set.Profile(filepath.Base(filepath.Dir(path)))
		if p == nil || p.unwrap != nil || filepath.Base(path) == sameFile {
			continue
		}
		t.Run(strings.TrimSuffix(strings.TrimPrefix(path, "testdata/"), ".txt"), func(t *testing.T) {
			t.Parallel()
			lines := readFixture(t, path).in
			if p.condition(levelStrong) == nil && p.name != "logged" && within(t, set, lines, "python_json_logger") {
				return // rows of no certain framework that look like a logger's line are no bare rows: in another's message they are no framework's
			}
			bare := shared(t, set, lines)
			for logger := range loggers {
				if within(t, set, lines, logger) {
					continue // no logger writes lines of its own kind as text
				}
				once := make([]string, len(lines))
				twice := make([]string, len(lines))
				for i, line := range lines {
					once[i] = logged(t, logger, line)
					twice[i] = logged(t, "container_log", once[i]+"\n")
				}
				sameShared(t, bare, shared(t, set, once), lines, logger)
				if logger != "container_log" { // a container's log holds no other's
					sameShared(t, bare, shared(t, set, twice), lines, logger+" in a container")
				}
			}
		})
	}
}

// carriers write a line with the keys of an object as fields, beside a message that says nothing.
var carriers = map[string]string{
	"structlog":            `{"event": "row", "level": "info", "timestamp": "2026-11-29T13:27:26Z", %s}`,
	"python_json_logger":   `{"asctime": "2026-11-29 13:27:26,029", "levelname": "INFO", "name": "trainer", "message": "row", %s}`,
	"google_cloud_logging": `{"message": "row", "severity": "INFO", "logging.googleapis.com/trace": "", %s}`,
	"otel_log":             `{"body": "row", "severity_number": 9, "severity_text": "INFO", "attributes": {%s}, "timestamp": "2026-11-29T13:27:26Z"}`,
	"rust_tracing":         `{"timestamp":"2026-11-29T13:27:26.1Z","level":"INFO","fields":{"message":"row", %s},"target":"py::bridge"}`,
	"loguru": `{"text": "x\n", "record": {"exception": null, "extra": {%s}, "level": {"name": "INFO", "no": 20}, "message": "row", ` +
		`"time": {"repr": "2026-11-29 13:27:26.029114+00:00", "timestamp": 1795958846.029114}}}`,
}

// TestRowsOfEveryFrameworkAsFieldsOfEveryLogger gives the keys of rows to loggers as their extra. A row with a key that is
// the logger's own is left out: the logger would lose the one or the other.
func TestRowsOfEveryFrameworkAsFieldsOfEveryLogger(t *testing.T) {
	t.Parallel()
	set := embeddedSet(t)
	for _, f := range fixtures(t, "*") {
		if p := set.Profile(f.profile); p == nil || p.unwrap != nil {
			continue
		}
		for logger, form := range carriers {
			if f.profile == "keras" && logger == "rust_tracing" {
				continue // its keys are common words, and a Rust program's own as fields
			}
			var rows, carried []string
			for _, line := range f.in {
				line = strings.TrimSpace(withoutPrefix(line))
				if lr, ok := receive(t, line); ok && lr.EventName() == "" && line != "{}" && fieldsOf(set.Profile(logger), lr.Body().Map()) {
					rows = append(rows, line)
					carried = append(carried, fmt.Sprintf(form, line[1:len(line)-1]))
				}
			}
			if len(rows) == len(f.in) && !within(t, set, rows, logger) {
				sameShared(t, shared(t, set, rows), shared(t, set, carried), rows, f.path+" "+logger)
			}
		}
	}
}

func fieldsOf(logger *Profile, row pcommon.Map) bool {
	for key := range row.All() {
		if key == trainrecord.BodyMessage || anyMatches(logger.unwrap.hide, key) || isRecordKey(key) {
			return false
		}
	}
	return true
}

// within tells whether lines are a logger's already.
func within(t *testing.T, set *Set, lines []string, logger string) bool {
	t.Helper()
	for _, line := range lines {
		if lr, ok := receive(t, line); ok {
			out, _ := process(NewMapper(nil), set, nil, lr)
			if out.Envelope != nil && out.Envelope.name == logger {
				return true
			}
		}
	}
	return false
}

// sameShared compares what rows became with what bare rows became. Rows that a bare stream passes on are left out: in an
// envelope they are text of the program.
func sameShared(t *testing.T, bare, got [][]string, lines []string, in string) {
	t.Helper()
	for i := range bare {
		if bare[i] != nil && !assert.Equal(t, bare[i], got[i], "%s: %s", in, lines[i]) {
			return
		}
	}
}

// shared maps lines as one stream and gives what each became, without the time, the severity, the trace and what stays with
// the framework's details. Of a weak match a logger's message may know more, so it counts for nothing.
func shared(t *testing.T, set *Set, lines []string) [][]string {
	t.Helper()
	m, stream := NewMapper(nil), &Stream{}
	all := make([][]string, len(lines))
	for i, line := range lines {
		lr, ok := receive(t, line)
		if !ok {
			continue
		}
		lr.Attributes().PutInt(trainrecord.AttrLogFileRecordOffset, int64(100*i))
		out, records := process(m, set, stream, lr)
		if out.Kind != Mapped || out.Weak && (out.Envelope == nil || len(out.Envelope.unwrap.named) == 0) {
			continue
		}
		for _, lr := range records {
			all[i] = append(all[i], sharedOf(lr))
		}
	}
	return all
}

func sharedOf(lr plog.LogRecord) string {
	lr.SetTimestamp(0)
	lr.SetSeverityText("")
	if lr.Body().Type() == pcommon.ValueTypeMap {
		lr.Body().Map().Remove(trainrecord.BodyFramework)
	}
	return show(lr)
}

// TestWordsBesideRowsAreNoRows writes a sentence through a logger after the rows of each framework: it is a log record of the
// framework, not another row.
func TestWordsBesideRowsAreNoRows(t *testing.T) {
	t.Parallel()
	set := embeddedSet(t)
	for _, f := range fixtures(t, "*") {
		p := set.Profile(f.profile)
		if p == nil || p.unwrap != nil {
			continue
		}
		m, stream := NewMapper(nil), &Stream{}
		for _, line := range f.in {
			if lr, ok := receive(t, logged(t, "container_log", line)); ok {
				process(m, set, stream, lr)
			}
		}
		lr, ok := receive(t, logged(t, "container_log", "warming the cache"))
		require.True(t, ok)
		out, all := process(m, set, stream, lr)
		require.Equal(t, Mapped, out.Kind, f.path)
		require.Len(t, all, 1, f.path)
		assert.Equal(t, trainrecord.EventName(trainrecord.EventLog), lr.EventName(), "%s, by %s", f.path, out.Profile.Name())
	}
}
