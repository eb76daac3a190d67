package dvcresultexporter

import (
	"slices"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/atomicdir"
	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/resultfile"
)

// resultSet is what atomicdir is to bring to disk.
func (g *engine) resultSet(dir string, files []resultfile.File, j *job, own int64) atomicdir.Set {
	st, result := j.state, files[len(files)-1].Bytes
	set := atomicdir.Set{
		Name:     dir,
		Swept:    g.swept(),
		Optional: []string{resultfile.ParamsName, resultfile.MetricsName, resultfile.DVCName},
		Keep: func(marker []byte) bool { // a state that goes on from the disk has records that the result does not count
			return resultfile.IsBetter(marker, st, own) || !j.foreign && resultfile.IsSurer(marker, result, j.verdict)
		},
	}
	if c, keep := st.Conflict, set.Keep; c != nil && !c.Owner() { // a run whose id is this name comes first
		set.Keep = func(marker []byte) bool { return resultfile.IsOther(marker, st.RunID) || keep(marker) }
	}
	if keep := set.Keep; g.cfg.Layout == layoutFixed {
		set.Keep = func(marker []byte) bool { return resultfile.IsNewer(marker, st) || keep(marker) }
	}
	for _, f := range files {
		set.Files = append(set.Files, atomicdir.Content{Name: f.Name, Bytes: f.Bytes})
	}
	return set
}

// staleSet has nothing of a run's own left in a directory.
func (g *engine) staleSet(dir, id string) atomicdir.Set {
	set := atomicdir.Set{
		Name: dir, Swept: g.swept(), Gone: true,
		Keep: func(marker []byte) bool { return resultfile.IsOther(marker, id) },
	}
	for _, name := range []string{resultfile.ParamsName, resultfile.MetricsName, resultfile.DVCName, resultfile.ResultName} {
		set.Files = append(set.Files, atomicdir.Content{Name: name})
	}
	if g.cfg.Report {
		set.Files = slices.Insert(set.Files, 0, atomicdir.Content{Name: resultfile.ReportName})
	}
	return set
}

// swept names what results alone have. A report is somebody else's where none is asked for.
func (g *engine) swept() []atomicdir.Swept {
	out := []atomicdir.Swept{
		{Below: resultfile.PlotsDir, Suffix: resultfile.PlotsSuffix},
		{Below: resultfile.FullDir, Suffix: resultfile.FullSuffix},
	}
	if g.cfg.Report {
		out = append(out, atomicdir.Swept{Below: resultfile.ReportDir, Suffix: resultfile.ReportSuffix})
	}
	return out
}
