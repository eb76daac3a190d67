package resultfile

import (
	"bytes"
	"encoding/json"
	"math"
	"os/exec"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTable(t *testing.T) {
	t.Parallel()
	points := []Point{{0, 2.5}, {1, 1e-5}, {2, 3}}
	assert.Equal(t, "step\tloss\n0\t2.5\n1\t1e-05\n2\t3.0\n", string(table("loss", points)))
	assert.Equal(t, "step\tstep_\n", string(table("step", nil)), "two columns of one name")
	assert.Equal(t, "step\t\"\"\"x\"\n", string(table(`"x`, nil)), "a quote that nothing ends")
	assert.Equal(t, "step\tit's \n", string(table("it's ", nil)))
}

// csv.DictReader is what DVC reads tables with.
func TestPythonReadsEveryColumnName(t *testing.T) {
	t.Parallel()
	if err := exec.Command("python3", "-c", "import csv").Run(); err != nil {
		t.Skip("python3 is not here")
	}
	names := append([]string{`"`, `""`, `"x"`, `x"`, `"x`, `'x`, `\`, `x\`, ",", "a,b", " x ", "#", "=1"}, hostile...)
	var tables, want []any
	for _, name := range names {
		series := curve("", name, 1, 2)
		m := &metric{name: name, path: MetricPaths([]string{name})[name], series: &series}
		files := plotFiles([]*metric{m}, options, &cuts{})
		tables = append(tables, string(files[0].Bytes))
		column := path.Base(m.path)
		want = append(want, []any{object{"step": "0", column: "1.0"}, object{"step": "1", column: "2.0"}})
	}
	cmd := exec.Command("python3", "-c", "import csv,io,json,sys\n"+
		`json.dump([list(csv.DictReader(io.StringIO(t),delimiter="\t")) for t in json.load(sys.stdin.buffer)],sys.stdout)`)
	cmd.Stdin = bytes.NewReader(encodeJSON(tables))
	out, err := cmd.Output()
	require.NoError(t, err)
	var got []any
	require.NoError(t, json.Unmarshal(out, &got))
	assert.Equal(t, want, got)
}

func TestFewPointsAreAllKept(t *testing.T) {
	t.Parallel()
	points := make([]Point, 1000)
	for i := range points {
		points[i] = Point{int64(i), 1}
	}
	assert.Equal(t, points, decimate(points, 1000, 1, 2, 3))
}

// A golden of which steps are kept: another machine must choose the same.
func TestDecimationChoosesTheseSteps(t *testing.T) {
	t.Parallel()
	points := make([]Point, 200)
	for i := range points {
		points[i] = Point{int64(i), float64((i*7919)%101) / 7}
	}
	var steps []int64
	for _, p := range decimate(points, 16, 17, 18, 19) {
		steps = append(steps, p.Step)
	}
	assert.Equal(t, []int64{0, 2, 17, 18, 19, 20, 39, 69, 76, 101, 113, 138, 145, 170, 182, 199}, steps)
}

func TestDecimationKeepsEndsAndForcedPointsWithinTheLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(6, 40).Draw(t, "limit")
		values := rapid.SliceOfN(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), limit+1, 300).Draw(t, "values")
		points := make([]Point, len(values))
		for i, v := range values {
			points[i] = Point{int64(i) * 3, v}
		}
		forced := rapid.SliceOfN(rapid.IntRange(0, len(points)-1), 0, 3).Draw(t, "forced")
		got := decimate(points, limit, forced...)
		require.LessOrEqual(t, len(got), limit)
		require.Equal(t, points[0], got[0])
		require.Equal(t, points[len(points)-1], got[len(got)-1])
		for _, i := range forced {
			require.Contains(t, got, points[i])
		}
		require.True(t, slices.IsSortedFunc(got, func(a, b Point) int { return int(a.Step - b.Step) }))
		require.Equal(t, len(got), len(slices.CompactFunc(slices.Clone(got), func(a, b Point) bool { return a.Step == b.Step })))
	})
}

func TestExtremesTakeTheFirstOfEqualValues(t *testing.T) {
	t.Parallel()
	least, greatest := extremes([]Point{{0, 2}, {1, 1}, {2, 3}, {3, 1}, {4, 3}})
	assert.Equal(t, []int{1, 2}, []int{least, greatest})
}
