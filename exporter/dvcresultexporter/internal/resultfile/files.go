package resultfile

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/digest"
	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/gpuuse"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Names of the files of a run.
const (
	ResultName  = "result.json"
	MetricsName = "metrics.json"
	ParamsName  = "params.yaml"
	DVCName     = "dvc.yaml"
)

// File is one file of a run's directory.
type File struct {
	Name  string // slash-separated, relative to the run's directory
	Bytes []byte
}

// Options say what results hold beside the state.
type Options struct {
	Kept         Params // of a result that the state goes on with
	Directory    string // of the run; "" for the one that its id gives
	MaxPoints    int
	FullFidelity bool
	Report       bool                     // adds report.md
	Digests      map[string]digest.Digest // of Files, by key; nil when none may be read
	GPUs         *gpuuse.Report           // what the run did with GPUs, nil when nothing was seen
}

// FromRestart is what a verdict rests on when nobody watched the run fall silent.
const FromRestart = "restart"

// Verdict is what the watcher of a run adds to its records.
type Verdict struct {
	Final       bool
	Provisional bool
	Outcome     string // "" while nobody knows
	From        string // what the outcome rests on: end, failure, parts, silence, restart
}

// Render makes all files of a run in the order in which they are to be written; result.json, the last, lists the others.
func Render(st *trainrun.State, v Verdict, opts Options) []File {
	cut := &cuts{fold: st.Truncated}
	dir := opts.Directory
	if dir == "" {
		dir = RunDirectory(st.RunID)
	}
	list := place(listMetrics(st), cut)
	files := plotFiles(list, opts, cut)
	plots := len(files) > 0
	params := paramsOf(st.Params, cut)
	if params.Digest == "" {
		params = opts.Kept
	}
	if params.File != nil {
		files = append(files, File{ParamsName, params.File})
	}
	metrics := metricsFile(st, list)
	if string(metrics) != emptyObject { // DVC would show a row without anything in it
		files = append(files, File{MetricsName, metrics})
	}
	if dvc := dvcFile(string(metrics) != emptyObject, params.File != nil, plots); dvc != nil {
		files = append(files, File{DVCName, dvc})
	}
	r := &result{state: st, verdict: v, dir: dir, gpus: opts.GPUs, digests: opts.Digests, metrics: list, cut: cut, params: params}
	if opts.Report {
		files = append(files, reportFiles(r)...)
	}
	r.files = manifest(files)
	return append(files, File{ResultName, r.encode()})
}

// manifest lists files with size and digest: a reader takes a result for committed when all of them match.
func manifest(files []File) object {
	out := make(object, len(files))
	for _, f := range files {
		sum := sha256.Sum256(f.Bytes)
		out[f.Name] = object{"size": len(f.Bytes), "sha256": hex.EncodeToString(sum[:])}
	}
	return out
}

// dvcFile is dvc.yaml, nil when there is nothing for DVC. It holds no text of the run: DVC interpolates it.
func dvcFile(metrics, params, plots bool) []byte {
	text := ""
	if metrics {
		text = "metrics:\n- " + MetricsName + "\n"
	}
	if params {
		text += "params:\n- " + ParamsName + "\n"
	}
	if plots {
		text += "plots:\n- " + PlotsDir + ":\n    x: " + stepKey + "\n"
	}
	if text == "" {
		return nil
	}
	return []byte(text)
}

const emptyObject = "{}\n"
