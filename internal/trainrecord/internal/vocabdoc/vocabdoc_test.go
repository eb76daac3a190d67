package vocabdoc

import (
	"bytes"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	t.Parallel()
	schema, err := Schema(trainrecord.Load())
	require.NoError(t, err)
	for path, want := range map[string][]byte{
		"../../record.schema.json":    schema,
		"../../../../docs/records.md": Page(trainrecord.Load()),
		"../../../../docs/metrics.md": MetricsPage(trainrecord.Load()),
	} {
		got, err := os.ReadFile(path)
		require.NoError(t, err, "run make docs")
		assert.Equal(t, string(want), string(got), "run make docs")
	}
}

func TestTheSchemaTakesRecordsAndRefusesWrongTypes(t *testing.T) {
	t.Parallel()
	schema, err := Schema(trainrecord.Load())
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("record.schema.json", doc))
	s, err := c.Compile("record.schema.json")
	require.NoError(t, err)
	for line, want := range map[string]bool{
		`{"schema":"pathologize.ml.training/1","ts":"2026-11-20T10:00:00Z","event":"run.start","run_id":"es-1","seq":1,"body":{"planned_epochs":100,"objective":{"metric":"val/loss","mode":"min"}}}`: true,
		`{"event":"epoch.end","ts":1796045246.5,"run_id":"r","body":{"epoch":0,"measurements":{"val/loss":1}}}`:                                                                                       true,
		`{"event":"heartbeat","body":{"epoch":"anything goes here"}}`:                                                                                                                                 true,
		`{"event":"teleport.end","ts":1796045246.5,"run_id":"r"}`:                                                                                                                                     false,
		`{"event":"epoch.end","attempt":0}`:                                        false,
		`{"event":"epoch.end","body":{"epoch":-1}}`:                                false,
		`{"event":"epoch.end","body":{"epoch":"one"}}`:                             false,
		`{"event":"run.start","body":{"objective":{"metric":5}}}`:                  false,
		`{"event":"run.start","body":{"objective":{"mode":"up"}}}`:                 false,
		`{"event":"run.start","body":{"resumed_from":{"epoch":1795000000}}}`:       false,
		`{"event":"epoch.end","body":{"best":{"step":-1}}}`:                        false,
		`{"event":"epoch.end","body":{"checkpoint":{"kind":"own","size":0}}}`:      true,
		`{"event":"epoch.end","body":{"checkpoint":{"size":9223372036854775808}}}`: false,
		`{"event":"run.end","body":{"artifacts":[{"path":"a","size":1}]}}`:         true,
		`{"event":"run.end","body":{"artifacts":["a"]}}`:                           false,
		`{"event":"run.end","body":{"artifacts":[{"path":"a"},{"path":5}]}}`:       false,
		`{"ts":1}`: false,
		`{"event":"stream.status","ts":1,"run_id":"r"}`: false, // the receiver's own
	} {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(line)))
		require.NoError(t, err)
		assert.Equal(t, want, s.Validate(v) == nil, line)
	}
}
