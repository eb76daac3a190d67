package trainingsignalsconnector

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// TestAnotherConfigurationBeginsSeriesAnew restarts beside a state that was stored under other attributes, after a stop and after a kill: no
// point has what the new configuration does not give, and the attempt that is open is accounted for where it is announced.
func TestAnotherConfigurationBeginsSeriesAnew(t *testing.T) {
	t.Parallel()
	extra := func(key, from string, values ...string) benchOption {
		return func(c *Config) { c.ExtraAttributes = []ExtraAttribute{{Key: key, From: from, Values: values}} }
	}
	plain := func(*Config) {}
	for name, tt := range map[string]struct {
		before, after benchOption
		key           string
		want          any
	}{
		"replica":             {plain, func(c *Config) { c.Replica = "b" }, attrReplica, "b"},
		"another replica":     {func(c *Config) { c.Replica = "a" }, func(c *Config) { c.Replica = "b" }, attrReplica, "b"},
		"resource attribute":  {plain, func(c *Config) { c.ResourceAttributes = []string{"service.name"} }, "host.name", nil},
		"another parameter":   {extra("model", "params.model", "dqn"), extra("optimizer", "params.optimizer", "adam"), "optimizer", nil},
		"the same one":        {extra("model", "params.model", "dqn"), extra("net", "params.model", "dqn"), "net", "dqn"},
		"fewer values":        {extra("model", "params.model", "dqn"), extra("model", "params.model", "ppo"), "model", "other"},
		"fewer task families": {plain, func(c *Config) { c.TaskFamilies = []string{"pose"} }, trainrecord.AttrTaskFamily, "other"},
	} {
		for how, killed := range map[string]bool{"stopped": false, "killed": true} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				h, back := componentcheck.NewStorageHost(t), &backend{}
				b := newBenchAt(t, t0, h, back, stored(h), tt.before)
				of := m{"resource": m{"host.name": "h", "service.name": "s"}}
				start := m{"params": m{"model": "dqn", "optimizer": "adam"}, "task_family": "detection"}
				b.rec(1, 0, "run.start", "r", of, start)
				b.rec(2, 0, "run.start", "over", of, start)
				b.rec(3, 0, "run.end", "over", of, m{"outcome": "success"})
				b.tick(10)
				b.tick(20)
				if killed {
					h.Crash()
				} else {
					b.core.finish(context.Background())
					require.NoError(t, b.core.close(context.Background()))
				}
				b.took()
				b = newBenchAt(t, at(21), h, back, stored(h), tt.after)
				b.tick(30)
				points, _ := b.took()
				assert.InDelta(t, 1, value1(points, "run.active", "running"), 0)
				assert.InDelta(t, 0, value1(points, "run.active", "stalled"), 0)
				assert.InDelta(t, 0, value1(points, "run.outcomes", "success"), 0)
				b.rec(32, 0, "run.end", "r", of, m{"outcome": "success"})
				b.tick(40)
				more, _ := b.took()
				assert.InDelta(t, 0, value1(more, "run.active", "running"), 0)
				assert.InDelta(t, 1, value1(more, "run.outcomes", "success"), 0)
				for _, p := range append(points, more...) {
					where := p["attributes"].(map[string]any)
					if tt.key == attrReplica || tt.key == trainrecord.AttrHostName {
						where = p["resource"].(map[string]any)
					}
					assert.Equal(t, tt.want, where[tt.key], "%v", p)
				}
				require.NoError(t, b.core.close(context.Background()))
			})
		}
	}
}

func TestAnExtraAttributeIsNoneOfTheMetricsOwn(t *testing.T) {
	t.Parallel()
	for key, fine := range map[string]bool{
		trainrecord.AttrFramework: false, trainrecord.AttrTaskFamily: false, trainrecord.AttrPhase: false, "other.phase": false,
		trainrecord.Namespace + ".model": true, "model": true, "phase": true,
	} {
		cfg := createDefaultConfig().(*Config)
		cfg.AlsoNamespaces = []string{"other"}
		cfg.ExtraAttributes = []ExtraAttribute{{Key: key, From: "params.model", Values: []string{"dqn"}}}
		if err := cfg.Validate(); fine {
			assert.NoError(t, err, key)
		} else {
			assert.ErrorContains(t, err, key+" is an attribute of the metrics themselves", key)
		}
	}
}
