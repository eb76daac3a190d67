package cardinalityguardprocessor

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// gpu is a row of a scrape: a GPU, or with an instance a part of one that MIG split.
type gpu struct {
	index, instance, run string
	value                int64
}

func scrapeOf(at int64, rows ...gpu) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("DCGM_FI_PROF_GR_ENGINE_ACTIVE")
	m.SetEmptyGauge()
	for _, row := range rows {
		p := m.Gauge().DataPoints().AppendEmpty()
		p.Attributes().PutStr("gpu", row.index)
		p.Attributes().PutStr("UUID", "GPU-00000000-0000-0000-0000-00000000000"+row.index)
		if row.instance != "" {
			p.Attributes().PutStr("GPU_I_ID", row.instance)
			p.Attributes().PutStr("GPU_I_PROFILE", "1g.10gb")
		}
		if row.run != "" {
			p.Attributes().PutStr("run_id", row.run)
		}
		p.SetTimestamp(pcommon.Timestamp(at))
		p.SetIntValue(row.value)
	}
	return md
}

// TestPartsOfAGPUAndGPUsThatComeAndGoStayWhatTheyAre: only the run goes off them, in the same call, and no flush says anything of them.
func TestPartsOfAGPUAndGPUsThatComeAndGoStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../config/policy/training.yaml")
	require.NoError(t, err)
	shipped, err := policy.Parse("training.yaml", text)
	require.NoError(t, err)
	for name, p := range map[string]*policy.Policy{"without a policy": policy.Default(), "training.yaml": shipped} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, 1, p)
			for i, rows := range [][]gpu{
				{{"0", "", "a", 9}, {"1", "1", "a", 1}, {"1", "2", "b", 2}, {"1", "3", "", 3}},
				{{"0", "", "b", 8}, {"1", "1", "b", 4}, {"1", "2", "a", 5}, {"1", "3", "", 6}, {"2", "", "c", 7}}, // one more, and runs changed places
				{{"2", "", "", 1}, {"1", "", "a", 2}},                                                             // one is gone, and one is whole again
			} {
				at := int64(i+1) * 10 * second
				l.at(at)
				l.feed(t, scrapeOf(at, rows...))
				var got, want []string
				for _, p := range flatten(l.taken(t)) {
					require.Equal(t, pcommon.Timestamp(at), p.time)
					got = append(got, p.series+p.value)
				}
				for i := range rows {
					rows[i].run = ""
				}
				for _, p := range flatten(scrapeOf(at, rows...)) {
					want = append(want, p.series+p.value)
				}
				slices.Sort(got)
				slices.Sort(want)
				require.Equal(t, want, got, fmt.Sprint("scrape ", i+1))
				l.guard.flush(t.Context(), false)
				require.Empty(t, l.sink.AllMetrics())
			}
		})
	}
}
