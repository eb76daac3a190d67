package componentcheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.yaml.in/yaml/v3"
)

// Logs reads a part that is plog as YAML: the names are those of OTLP's JSON.
func (c *Case) Logs(t testing.TB, name string) plog.Logs {
	t.Helper()
	out, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(c.json(t, name))
	require.NoError(t, err, "%s: part %q", c.Path, name)
	return out
}

// Metrics reads a part that is pmetric as YAML.
func (c *Case) Metrics(t testing.TB, name string) pmetric.Metrics {
	t.Helper()
	out, err := (&pmetric.JSONUnmarshaler{}).UnmarshalMetrics(c.json(t, name))
	require.NoError(t, err, "%s: part %q", c.Path, name)
	return out
}

// Traces reads a part that is ptrace as YAML.
func (c *Case) Traces(t testing.TB, name string) ptrace.Traces {
	t.Helper()
	out, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(c.json(t, name))
	require.NoError(t, err, "%s: part %q", c.Path, name)
	return out
}

// EqualLogs compares a part with logs; how the part is written does not count. -update rewrites it.
func (c *Case) EqualLogs(t testing.TB, name string, got plog.Logs) {
	t.Helper()
	c.equalPData(t, name, YAMLLogs(t, got), func() string { return YAMLLogs(t, c.Logs(t, name)) })
}

// EqualMetrics compares a part with metrics; how the part is written does not count. -update rewrites it.
func (c *Case) EqualMetrics(t testing.TB, name string, got pmetric.Metrics) {
	t.Helper()
	c.equalPData(t, name, YAMLMetrics(t, got), func() string { return YAMLMetrics(t, c.Metrics(t, name)) })
}

// EqualTraces compares a part with traces; how the part is written does not count. -update rewrites it.
func (c *Case) EqualTraces(t testing.TB, name string, got ptrace.Traces) {
	t.Helper()
	c.equalPData(t, name, YAMLTraces(t, got), func() string { return YAMLTraces(t, c.Traces(t, name)) })
}

func (c *Case) equalPData(t testing.TB, name, got string, want func() string) {
	t.Helper()
	if c.Has(name) && want() == got {
		return
	}
	if c.update {
		c.rewrite(t, name, got)
		return
	}
	require.True(t, c.Has(name), "%s has no part %q", c.Path, name)
	require.Equal(t, want(), got, "%s: part %q (-update rewrites it)", c.Path, name)
}

// YAMLLogs writes logs as a fixture does.
func YAMLLogs(t testing.TB, ld plog.Logs) string {
	t.Helper()
	text, err := (&plog.JSONMarshaler{}).MarshalLogs(ld)
	require.NoError(t, err)
	return toYAML(t, text)
}

// YAMLMetrics writes metrics as a fixture does.
func YAMLMetrics(t testing.TB, md pmetric.Metrics) string {
	t.Helper()
	text, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(md)
	require.NoError(t, err)
	return toYAML(t, text)
}

// YAMLTraces writes traces as a fixture does.
func YAMLTraces(t testing.TB, td ptrace.Traces) string {
	t.Helper()
	text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	return toYAML(t, text)
}

// json turns a YAML part into JSON.
func (c *Case) json(t testing.TB, name string) []byte {
	t.Helper()
	var value any
	require.NoError(t, yaml.Unmarshal(c.Part(t, name), &value), "%s: part %q", c.Path, name)
	if value == nil {
		return []byte("{}")
	}
	text, err := json.Marshal(value)
	require.NoError(t, err, "%s: part %q", c.Path, name)
	return text
}

// toYAML writes JSON as block YAML with sorted keys.
func toYAML(t testing.TB, text []byte) string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var value any
	require.NoError(t, dec.Decode(&value))
	value, err := numbers(value)
	require.NoError(t, err)
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	require.NoError(t, enc.Encode(value))
	require.NoError(t, enc.Close())
	return buf.String()
}

// numbers gives YAML numbers where JSON had numbers, without losing digits.
func numbers(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			if v[key], err = numbers(v[key]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range v {
			if v[i], err = numbers(v[i]); err != nil {
				return nil, err
			}
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		f, err := v.Float64()
		if err != nil {
			return nil, fmt.Errorf("number %s: %w", v, err)
		}
		return f, nil
	}
	return value, nil
}
