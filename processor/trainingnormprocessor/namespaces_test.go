package trainingnormprocessor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func TestNamespacesThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, confmap.Validate(cfg))
	assert.Nil(t, newNamer(cfg), "the default costs nothing")
	cfg.Namespace, cfg.AlsoNamespaces = "acme.", []string{"a b", "acme.train", "acme.train", "acme."}
	const form = " want words joined by points, such as pathologize.ml.training, got "
	assert.EqualError(t, confmap.Validate(cfg), "namespace:"+form+`"acme."`+"\n"+
		"also_namespaces[0]:"+form+`"a b"`+"\nalso_namespaces[2]: acme.train is named twice\nalso_namespaces[3]:"+form+`"acme."`)
}

// TestABatchThatComesAgainIsNamedTheSame offers what the processor handed on once more, as a receiver does whose batch was
// refused behind it: rows that were recognised stay, their streams are known, names do not pile up.
func TestABatchThatComesAgainIsNamedTheSame(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]*Config{
		"another":           {Namespace: "acme.train", Timezone: "UTC"},
		"another and ours":  {Namespace: "acme.train", AlsoNamespaces: []string{trainrecord.Namespace}, Timezone: "UTC"},
		"ours and another":  {Namespace: trainrecord.Namespace, AlsoNamespaces: []string{"acme.train"}, Timezone: "UTC"},
		"one begins ours":   {Namespace: "pathologize.ml", AlsoNamespaces: []string{"pathologize"}, Timezone: "UTC"},
		"one is longer":     {Namespace: trainrecord.Namespace + ".run", Timezone: "UTC"},
		"several at a time": {Namespace: "a", AlsoNamespaces: []string{"b", "c.d", trainrecord.Namespace}, Timezone: "UTC"},
	} {
		set, _ := settings(t)
		p, err := NewFactory().CreateLogs(t.Context(), set, cfg, consumertest.NewNop())
		require.NoError(t, err)
		ld := plog.NewLogs()
		records := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
		for range 2 { // recognised, then known by its stream
			lr := records.AppendEmpty()
			lr.Attributes().PutStr(trainrecord.AttrRunID, "r")
			require.NoError(t, lr.Body().SetEmptyMap().FromRaw(huggingFaceRow))
		}
		lr := records.AppendEmpty()
		lr.Attributes().PutStr(trainrecord.AttrRunID, "r")
		lr.Body().SetEmptyMap().PutStr("nobody", "knows")
		require.NoError(t, p.ConsumeLogs(t.Context(), ld))
		first := plog.NewLogs()
		ld.CopyTo(first)
		id, ok := lr.Attributes().Get(cfg.Namespace + ".run.id")
		require.True(t, ok, name)
		assert.Equal(t, "r", id.Str())
		assert.Equal(t, cfg.Namespace+".step.end", records.At(0).EventName(), name)
		require.NoError(t, p.ConsumeLogs(t.Context(), ld))
		want := first.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords()
		for i, lr := range records.All() {
			assert.Equal(t, want.At(i).EventName(), lr.EventName(), name)
			assert.Equal(t, want.At(i).Attributes().AsRaw(), lr.Attributes().AsRaw(), name)
			assert.Equal(t, want.At(i).Body().AsRaw(), lr.Body().AsRaw(), name)
		}
	}
}

// TestARecordWithOursBesideAnotherNamespaceIsARecord reads it as dvc_result does.
func TestARecordWithOursBesideAnotherNamespaceIsARecord(t *testing.T) {
	t.Parallel()
	for _, also := range [][]string{nil, {trainrecord.Namespace}} {
		set, _ := settings(t)
		cfg := &Config{Namespace: "acme.train", AlsoNamespaces: also, Timezone: "UTC"}
		p, err := NewFactory().CreateLogs(t.Context(), set, cfg, consumertest.NewNop())
		require.NoError(t, err)
		ld := plog.NewLogs()
		lr := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		lr.Attributes().PutStr(trainrecord.AttrRunID, "r")
		require.NoError(t, lr.Body().SetEmptyMap().FromRaw(huggingFaceRow))
		require.NoError(t, p.ConsumeLogs(t.Context(), ld))
		r, ok := trainrecord.FromLog(pcommon.NewResource(), lr)
		require.Equal(t, also != nil, ok)
		if ok {
			assert.Equal(t, "r", r.RunID)
			assert.Equal(t, trainrecord.EventStepEnd, r.Event)
			assert.Equal(t, "huggingface", r.Framework)
		}
	}
}
