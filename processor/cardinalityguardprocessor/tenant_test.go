package cardinalityguardprocessor

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

func from(ctx context.Context, metadata map[string][]string) context.Context {
	return client.NewContext(ctx, client.Info{Metadata: client.NewMetadata(metadata)})
}

// byTenant adds up the first point of what each tenant gets and refuses what refuse says.
type byTenant struct {
	consumertest.MetricsSink
	values map[string][]int64
	refuse string
}

func (b *byTenant) ConsumeMetrics(ctx context.Context, md pmetric.Metrics) error {
	tenant := ""
	if v := client.FromContext(ctx).Metadata.Get("X-Tenant"); len(v) > 0 {
		tenant = v[0]
	}
	if tenant == b.refuse {
		return errors.New("not now")
	}
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				for _, p := range numbers(m).All() {
					b.values[tenant] = append(b.values[tenant], p.IntValue())
				}
			}
		}
	}
	return nil
}

var _ consumer.Metrics = (*byTenant)(nil)

func tenantLab(t *testing.T, edit ...func(*Config)) (*lab, *byTenant) {
	t.Helper()
	l := newLab(t, 1, policy.Default(), append(edit, func(c *Config) { c.MetadataKeys = []string{"x-tenant"} })...)
	b := &byTenant{values: map[string][]int64{}, refuse: "-"}
	l.guard.next = b
	l.at(20 * second)
	return l, b
}

func (l *lab) feedAs(t *testing.T, tenant string, md pmetric.Metrics) {
	t.Helper()
	ctx := from(t.Context(), map[string][]string{"X-Tenant": {tenant}, "other": {"x"}})
	if tenant == "" {
		ctx = t.Context()
	}
	md, err := l.guard.processMetrics(ctx, md)
	if err == nil {
		require.NoError(t, l.guard.next.ConsumeMetrics(ctx, md))
	}
}

// TestTenantsDoNotMerge: their merged points go on apart, each with the metadata of its tenant.
func TestTenantsDoNotMerge(t *testing.T) {
	t.Parallel()
	l, b := tenantLab(t)
	for _, tenant := range []string{"red", "blue", ""} {
		l.feedAs(t, tenant, counter("a", cumulative, 10*second, 20*second, 100+int64(len(tenant))))
		l.feedAs(t, tenant, counter("b", cumulative, 10*second, 20*second, 1))
	}
	l.guard.flush(t.Context(), false)
	assert.Equal(t, map[string][]int64{"red": {104}, "blue": {105}, "": {101}}, b.values)

	plain := newLab(t, 1, policy.Default())
	plain.at(20 * second)
	plain.feedAs(t, "red", counter("a", cumulative, 10*second, 20*second, 1))
	plain.feedAs(t, "blue", counter("b", cumulative, 10*second, 20*second, 2))
	plain.guard.flush(t.Context(), false)
	assert.Equal(t, 1, plain.taken(t).DataPointCount(), "without keys there is one tenant")
}

// TestARefusalOfOneTenantRepeatsNothingOfAnother: a delta must not go on twice.
func TestARefusalOfOneTenantRepeatsNothingOfAnother(t *testing.T) {
	t.Parallel()
	l, b := tenantLab(t)
	b.refuse = "red"
	l.feedAs(t, "red", counter("a", deltas, 10*second, 20*second, 3))
	l.feedAs(t, "blue", counter("a", deltas, 10*second, 20*second, 4))
	l.guard.flush(t.Context(), false)
	b.refuse = "-"
	l.at(30 * second)
	l.feedAs(t, "red", counter("a", deltas, 20*second, 30*second, 5))
	l.guard.flush(t.Context(), true)
	assert.Equal(t, map[string][]int64{"red": {8}, "blue": {4}}, b.values)
}

// TestTenantsDoNotMeetInAnOverflowSeries, not even where only one is left for the name.
func TestTenantsDoNotMeetInAnOverflowSeries(t *testing.T) {
	t.Parallel()
	l, b := tenantLab(t, func(c *Config) { c.Limits.SeriesTotal = 2 })
	for _, tenant := range []string{"red", "blue"} {
		for i, host := range []string{"x", "y", "z"} {
			md := counter("a", cumulative, 10*second, 20*second, int64(1+i))
			md.ResourceMetrics().At(0).Resource().Attributes().PutStr("host.name", host)
			l.feedAs(t, tenant, md)
		}
	}
	l.guard.flush(t.Context(), true)
	total := func(list []int64) (sum int64) {
		for _, v := range list {
			sum += v
		}
		return sum
	}
	assert.Equal(t, int64(6), total(b.values["red"]), b.values)
	assert.Equal(t, int64(6), total(b.values["blue"]), b.values)
}

func TestATenantIsKnownAgainAfterARestart(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	id := host.StorageID()
	stored := func(c *Config) { c.Storage = &id }
	l, _ := tenantLab(t, stored)
	require.NoError(t, l.guard.start(t.Context(), host))
	l.feedAs(t, "red", counter("a", cumulative, 20*second, 21*second, 3))
	l.guard.flush(t.Context(), false)
	require.NoError(t, l.guard.shutdown(context.Background()))

	l, b := tenantLab(t, stored)
	require.NoError(t, l.guard.start(t.Context(), host))
	l.at(30 * second)
	l.feedAs(t, "red", counter("a", cumulative, 20*second, 29*second, 5))
	l.feedAs(t, "blue", counter("a", cumulative, 20*second, 29*second, 50))
	l.guard.flush(t.Context(), false)
	require.NoError(t, l.guard.shutdown(context.Background()))
	assert.Equal(t, []int64{5}, b.values["red"])
	assert.NotContains(t, b.values["blue"], int64(5))
}

// TestATenantIsWrittenDownWhole: two tenants differ when a value does, and come back as they were.
func TestATenantIsWrittenDownWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string) map[string][]string {
			return rapid.MapOf(rapid.SampledFrom([]string{"a", "B", "c"}), rapid.SliceOfN(rapid.String(), 1, 3)).Draw(rt, name)
		}
		keys := newTenants([]string{"b", "A"})
		seen := func(m map[string][]string) [2][]string {
			md := client.FromContext(from(t.Context(), m)).Metadata
			return [2][]string{md.Get("a"), md.Get("b")}
		}
		x, y := draw("x"), draw("y")
		one, two := keys.of(from(t.Context(), x)), keys.of(from(t.Context(), y))
		require.Equal(rt, assert.ObjectsAreEqual(seen(x), seen(y)), one == two)
		back := client.FromContext(withTenant(t.Context(), one)).Metadata
		require.Equal(rt, seen(x), [2][]string{back.Get("a"), back.Get("b")})
	})
}

func FuzzTenant(f *testing.F) {
	f.Add("\x01a\x01\x01b")
	f.Add("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")
	f.Fuzz(func(t *testing.T, text string) { withTenant(t.Context(), text) })
}

func TestMetadataKeysAreChecked(t *testing.T) {
	t.Parallel()
	c := createDefaultConfig().(*Config)
	c.MetadataKeys = []string{"X-Tenant", "", "x-tenant"}
	err := c.Validate()
	require.ErrorContains(t, err, "metadata_keys[1]: want at least one character")
	require.ErrorContains(t, err, `metadata_keys[2]: "x-tenant" is there twice; case does not count`)
}
