package resultfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/gpuuse"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// hostileName has as many bytes as the state keeps of a name, and each of them is two in JSON.
func hostileName(i int) string {
	name := fmt.Sprintf("m%03d", i)
	for len(name)+101 < 1024 {
		name += "/" + strings.Repeat(`"`, 100)
	}
	return name
}

// Everything in result.json has a bound of its own, and the list of files grows with the names.
func TestTheLongestNamesKeepTheLimit(t *testing.T) {
	t.Parallel()
	part := strings.Repeat(`"`, 100) + strings.Repeat("/"+strings.Repeat(`"`, 100), 4)
	st := fullState()
	st.Series, st.Finals = nil, nil
	for i := range 300 {
		s := curve(part, hostileName(i), 1, 2)
		s.NonFinite = 1
		st.Series = append(st.Series, s)
	}
	label := strings.Repeat(`"`, 256)
	st.Versions = nil
	for i := range 64 {
		st.Versions = append(st.Versions, trainrun.Pair{Name: fmt.Sprintf("%02d", i) + strings.Repeat(`"`, 500), Value: strings.Repeat(`"`, 500)})
	}
	gpus := &gpuuse.Report{Attribution: gpuuse.ByPod}
	for range 64 {
		gpus.GPUs = append(gpus.GPUs, gpuuse.GPU{UUID: label, Model: label, Host: label, Instance: label, Profile: label, Samples: 1})
	}
	got := byName(Render(st, ended, Options{MaxPoints: 1000, FullFidelity: true, Report: true, GPUs: gpus}))
	checkSchema(t, []byte(got[ResultName]))
	assert.Contains(t, got[ResultName], `"plots": {`, "what was left out is said")
	assert.Greater(t, len(got), 40, "more was left out than had to be")
}
