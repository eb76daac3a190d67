// Package resultfile renders a run's result: the bytes of result.json, metrics.json, params.yaml, dvc.yaml and the plot
// tables, and the names of the run directory and of the files in it. It is pure: the same snapshot gives the same bytes
// on every machine, at every time.
package resultfile
