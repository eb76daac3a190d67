package trainprofile

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// TestWhatATargetHoldsIsWhatReadingGives has numbers at the edges of what targets hold: one that is moved without reading is
// what reading it gives.
func TestWhatATargetHoldsIsWhatReadingGives(t *testing.T) {
	t.Parallel()
	var values []pcommon.Value
	for _, n := range []int64{math.MinInt64, -1, 0, 1, 7, 8, maxEpochs + 1, math.MaxInt64} {
		values = append(values, pcommon.NewValueInt(n))
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, -0.5, 0, 0.5, 7, maxEpochs, maxEpochs + 1, math.MaxFloat64} {
		values = append(values, pcommon.NewValueDouble(f))
	}
	held := 0
	for _, c := range []struct {
		target target
		source source
	}{
		{target{kind: kindNumber}, source{}},
		{target{kind: kindInt}, source{}},
		{target{kind: kindInt, minimum: 1, maximum: 7}, source{}},
		{target{kind: kindProgress}, source{}},
		{target{kind: kindDuration}, source{}},
		{target{kind: kindDuration}, source{unit: "s"}},
		{target{kind: kindDuration}, source{unit: "ms"}},
		{target{kind: kindDuration}, source{unit: unitClock}},
		{target{kind: kindEpoch}, source{}},
		{target{kind: kindBool}, source{}},
		{target{kind: kindString}, source{}},
	} {
		for _, v := range values {
			if !c.target.holds(v, &c.source) {
				continue
			}
			held++
			out, reason, ok := scalarOf(v).convert(&c.target, &c.source, numbers{})
			assert.True(t, ok && out.is(v), fmt.Sprint(c.target.kind, " ", v.AsString(), " ", reason))
		}
	}
	assert.Greater(t, held, len(values))
	first := target{kind: kindProgress}
	assert.False(t, first.holds(pcommon.NewValueDouble(0.5), &source{base: baseFirst}), "the stream tells what it counts")
}

// TestAWideRowKeepsItsOrder has more metrics than are put one by one, from the row and from an object in it, and two that get one name.
func TestAWideRowKeepsItsOrder(t *testing.T) {
	t.Parallel()
	set, m := embeddedSet(t), NewMapper(nil)
	for _, n := range []int{3 * trainrecord.WideFrom, 3, trainrecord.WideFrom + 1} { // by one mapper
		row, want := &strings.Builder{}, []string{"train/loss"}
		row.WriteString(`{"step": 1, "loss": 0.5`)
		for i := range n {
			fmt.Fprintf(row, `, "m%d": %d`, i, i)
			want = append(want, fmt.Sprintf("train/m%d", i))
		}
		row.WriteString(`, "train_m2": 7, "train": {"x": 1, "m1": 8}, "val_loss": 0.75}`)
		want = append(want, "val/loss", "train/x")
		out, all := process(m, set, nil, decode(t, row.String()))
		require.Equal(t, Mapped, out.Kind)
		assert.Equal(t, []FieldError{{trainrecord.BodyMeasurements, ReasonCollision}, {trainrecord.BodyMeasurements, ReasonCollision}}, out.Errors)
		v, ok := all[0].Body().Map().Get(trainrecord.BodyMeasurements)
		require.True(t, ok)
		var got []string
		for name := range v.Map().All() {
			got = append(got, name)
		}
		assert.Equal(t, want, got)
		last, _ := v.Map().Get(fmt.Sprintf("train/m%d", n-1))
		assert.EqualValues(t, n-1, last.Int())
		second, _ := v.Map().Get("train/m2")
		assert.EqualValues(t, 2, second.Int())
	}
}
