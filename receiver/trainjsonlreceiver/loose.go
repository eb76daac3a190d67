package trainjsonlreceiver

import (
	"path/filepath"
	"strings"

	"go.uber.org/zap"
)

// isLoose says whether a file lies beside the folders of runs: where a glob takes files of a folder and of those below it, the
// folder itself is no run's.
func (g *globs) isLoose(path string) bool {
	dir := filepath.Dir(path)
	for i := range g.include {
		if in := &g.include[i]; filepath.Clean(in.base) == dir && strings.HasPrefix(in.rest, "**/") {
			return true
		}
	}
	return false
}

// meetLoose warns once of a file whose run is named by the folder that all runs lie in.
func (t *tailer) meetLoose(src source) {
	if !t.globs.isLoose(src.origin) || !t.twins.first(src.origin) {
		return
	}
	t.logger.Warn("A file lies beside the folders of runs, and its records name no run: the folder of all runs names it. "+
		"Move it into a folder of its run, or write run_id into the records", zap.String("run_id", src.id.run), zap.String("file", validText(src.origin)))
}
