package resultfile

import (
	"bytes"
	"compress/gzip"
	"path"
)

// Directories of the plot tables. Only the first is in dvc.yaml.
const (
	PlotsDir    = "plots/metrics"
	PlotsSuffix = ".tsv"
	FullDir     = "plots/full"
	FullSuffix  = ".tsv.gz"
)

// maxPlotNames bounds the names of plot tables: result.json lists each, with a hundred bytes of digest and size.
const maxPlotNames = 128 << 10

// plotFiles makes the tables of the first hundred series that have a finite value.
func plotFiles(list []*metric, opts Options, cut *cuts) []File {
	var files []File
	plots, names := 0, 0
	for _, m := range list {
		if m.series == nil {
			continue
		}
		points := seriesPoints(m)
		if len(points) == 0 {
			continue
		}
		name := len(appendJSONString(nil, m.path))
		if opts.FullFidelity {
			name *= 2
		}
		plots, names = plots+1, names+name
		if plots > maxPlots || names > maxPlotNames {
			cut.add("plots", m.name)
			continue
		}
		column := path.Base(m.path)
		shown := points
		if len(points) > opts.MaxPoints {
			shown = decimate(points, opts.MaxPoints, forcedIndexes(m, points)...)
		}
		files = append(files, File{Name: PlotsDir + "/" + m.path + PlotsSuffix, Bytes: table(column, shown)})
		if opts.FullFidelity {
			files = append(files, File{Name: FullDir + "/" + m.path + FullSuffix, Bytes: compress(table(column, points))})
		}
	}
	return files
}

func seriesPoints(m *metric) []Point {
	points := make([]Point, len(m.series.Points))
	for i, p := range m.series.Points {
		points[i] = Point{Step: p.X, Value: p.V}
	}
	return finite(points)
}

// forcedIndexes are those of the least, the greatest and the best point.
func forcedIndexes(m *metric, points []Point) []int {
	least, greatest := extremes(points)
	forced := []int{least, greatest}
	if m.best == nil {
		return forced
	}
	for i, p := range points {
		if p.Step == m.best.X {
			forced = append(forced, i)
		}
	}
	return forced
}

// compress writes gzip without name and time.
func compress(b []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(b)
	}
	if err != nil || w.Close() != nil {
		return nil // a buffer takes everything; the level exists
	}
	return out.Bytes()
}
