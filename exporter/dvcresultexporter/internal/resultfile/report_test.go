package resultfile

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/digest"
	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/gpuuse"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// drawDigest makes what a worker may answer.
func drawDigest(t *rapid.T) digest.Digest {
	d := digest.Digest{Status: rapid.SampledFrom([]digest.Status{
		digest.OK, digest.Pending, digest.Missing, digest.TooLarge, digest.RefusedOutside, digest.RefusedNotRegular, digest.ChangedDuringHash, digest.Timeout, digest.Error,
	}).Draw(t, "status")}
	if d.Status == digest.OK {
		d.Kind, d.SHA256, d.MD5 = digest.File, strings.Repeat("0a", 32), strings.Repeat("0b", 16)
		if rapid.Bool().Draw(t, "folder") {
			d.Kind, d.MD5, d.Files = digest.Folder, d.MD5+".dir", 2
		}
	}
	return d
}

func TestReportShowsTheRun(t *testing.T) {
	t.Parallel()
	two, four, x := int64(2), int64(4), 1.5e6
	st := &trainrun.State{
		RunID: "r|<b>#1", StartedAt: 1796045300e9, EndedAt: 1796045400e9, Durations: trainrun.Durations{Run: 100e9},
		Epochs:   trainrun.Epochs{Completed: &two, Planned: &four},
		Series:   []trainrun.Series{curve("", "train/loss", 2, 1), curve("", "val/loss", 3, math.NaN()), curve("fold=0", "val/acc", 0.5)},
		Best:     &trainrun.Best{Metric: "val/loss", Value: 3, Axis: trainrun.AxisEpoch, Checkpoint: &trainrun.Checkpoint{Path: "a_b.pt"}},
		Failures: []trainrun.Failure{{Attempt: 1, Type: "OOM", Message: "CUDA out of\nmemory ![x](http://evil) <img src=x> `a`"}},
	}
	opts := options
	opts.Report = true
	opts.GPUs = &gpuuse.Report{Attribution: gpuuse.ByPod, GPUs: []gpuuse.GPU{{UUID: "GPU-0", Energy: &x}}}
	got := byName(Render(st, Verdict{Final: true, Outcome: "failed"}, opts))
	page := got[ReportName]
	for _, want := range []string{
		"# r\\|&lt;b&gt;\\#1: failed\n", "| Best | **val/loss 3** at epoch 0, a\\_b.pt |", "| Epochs | 2 of 4 |", "| Duration | 1m40s |",
		"| train/loss | 1 | 1 at 1 | 2 at 0 | 2 |", "| val/loss | nan | 3 at 0 | 3 at 0 | 1 |",
		"![loss](report/", "![fold=0/acc](report/fold=0/val/acc.svg)", "- Attempt 1: OOM CUDA out of memory \\!\\[x\\]\\(http\\://evil\\) &lt;img src=x&gt; \\`a\\`",
		"|  GPU-0 | 0.416667 |  |  |  |", "[result.json](result.json)",
	} {
		assert.Contains(t, page, want)
	}
	var drawings []string
	for name := range got {
		if strings.HasPrefix(name, ReportDir+"/") {
			drawings = append(drawings, name)
			assert.Contains(t, got[ResultName], `"`+name+`": {`, "listed in result.json")
			assert.Contains(t, page, "("+pathURL(name)+")")
		}
	}
	assert.Len(t, drawings, 2, "one for the losses, one for the part")
	assert.NotContains(t, byName(Render(st, ended, options)), ReportName, "nobody asked for it")
}

// No text of a record becomes markup.
func TestReportEscapes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.SampledFrom(hostile), rapid.StringOfN(rapid.RuneFrom([]rune("<>&|`*_[]()!#~@:\\\n\r w.")), 1, 40, -1)).Draw(t, "text")
		got := escape(s)
		require.NotContains(t, got, "\n")
		require.NotContains(t, got, "\r")
		require.NotContains(t, got, "<")
		plain := strings.NewReplacer("\\\\", "", "\\|", "", "\\`", "", "\\[", "", "\\]", "", "\\!", "", "\\*", "", "\\_", "", "\\@", "", "\\:", "").Replace(got)
		require.False(t, strings.ContainsAny(plain, "|`[]!*_@:"), got)
	})
	assert.Equal(t, "a%20b/%28c%29%23.svg", pathURL("a b/(c)#.svg"))
}

func TestALongCurveIsDrawnWithFewPoints(t *testing.T) {
	t.Parallel()
	s := curve("", "val/loss")
	for i := range 5000 {
		s.Points = append(s.Points, trainrun.Point{X: int64(i), V: float64(i % 7)})
	}
	s.Count = 5000
	m := &metric{name: "val/loss", series: &s}
	points := shownPoints(m)
	assert.LessOrEqual(t, len(points), maxDrawPoints)
	assert.EqualValues(t, 4999, points[len(points)-1].Step)
}
