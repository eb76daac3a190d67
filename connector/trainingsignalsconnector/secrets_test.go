package trainingsignalsconnector

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// TestTheStorageHoldsNoSecrets looks at every byte that is ever written, in the journal and in snapshots, with spans that wait.
func TestTheStorageHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	h := componentcheck.NewStorageHost(t)
	back := &backend{}
	back.refusesTraces.Store(true)
	b := newBenchAt(t, t0, h, back, stored(h), func(c *Config) {
		c.ResourceAttributes = append(c.ResourceAttributes, "process.command_line")
		c.ExtraAttributes = []ExtraAttribute{{Key: "model", From: "params.hub_token", Values: []string{"a"}}}
	})
	seen := 0
	look := func(when string) {
		for _, client := range h.OpenClients() {
			for key, value := range h.Data(client) {
				seen++
				assert.False(t, bytes.Contains(value, []byte("planted")), "%s: %s", when, key)
			}
		}
	}
	feed := func(seconds float64, event string, body map[string]any) {
		ld := logsOf(t, m{"event": event, "run_id": "run token=planted", "part": "token=planted", "framework": "pytorch", "ts": at(seconds), "body": body})
		attrs := ld.ResourceLogs().At(0).Resource().Attributes()
		attrs.PutStr("process.command_line", "train.py --password planted")
		attrs.PutStr("api_key", "planted")
		attrs.PutStr("service.name", "s")
		require.NoError(t, attrs.PutEmptySlice("process.command_args").FromRaw([]any{"train.py", "--hf-token", "planted"}))
		ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).SetObservedTimestamp(pcommon.Timestamp(at(seconds)))
		if event == "run.end" {
			ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes().PutInt(trainrecord.AttrRunAttempt, -1)
		}
		b.clock = at(seconds)
		require.NoError(t, b.ports[0].ConsumeLogs(context.Background(), ld))
		look(event)
	}
	feed(1, "run.start", m{"params": m{"hub_token": "planted"}})
	feed(2, "phase.start", m{"phase": "token=planted"})
	b.tick(10)
	feed(11, "run.failure", m{"error_type": "E(token='planted')", "message": "cannot log in with password='planted' at https://u:planted@h"})
	feed(12, "run.end", m{"outcome": "failed", "stop_reason": "token=planted", "durations": m{"run_s": -1}})
	b.core.mu.Lock()
	written := b.core.replace()
	b.core.mu.Unlock()
	b.core.await(context.Background(), written)
	look("snapshot with records that wait")
	b.tick(200)
	b.core.mu.Lock()
	assert.NotEmpty(t, b.core.spans.waiting)
	written = b.core.replace()
	b.core.mu.Unlock()
	b.core.await(context.Background(), written)
	look("snapshot with spans that wait")
	assert.Greater(t, seen, 5)
	assert.Contains(t, b.self(), `values_replaced{connector="training_signals",reason="secret"} 25`)
	assert.Contains(t, b.self(), `values_replaced{connector="training_signals",reason="off_list"} 1`, "the model")
	assert.Contains(t, b.self(), `values_replaced{connector="training_signals",reason="bad_value"} 1`)
	assert.Contains(t, b.self(), `values_replaced{connector="training_signals",reason="bad_attribute"} 1`, "the end's attempt")
	require.NoError(t, b.core.close(context.Background()))
}

// TestTextsOfResourcesAreMaskedBeforeTheyAreCut: wherever the bound falls into a secret, nothing of use of it is left.
func TestTextsOfResourcesAreMaskedBeforeTheyAreCut(t *testing.T) {
	t.Parallel()
	const told = " --password planted-word at https://me:planted-word@hub"
	for cut := 1; cut < len(told); cut++ {
		attrs := pcommon.NewMap()
		attrs.PutStr("service.name", strings.Repeat("word ", maxResourceText)[:maxResourceText-cut]+told)
		b := newTable(&Config{ResourceAttributes: []string{"service.name"}, Limits: Limits{Resources: 1}}, 0)
		g := b.group(sources{}.of(attrs).kept)
		name, ok := g.attrs.Get("service.name")
		require.True(t, ok)
		assert.LessOrEqual(t, len(name.Str()), maxResourceText)
		assert.NotContains(t, name.Str(), "pla", cut)
	}
}
