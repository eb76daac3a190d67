package trainjsonlreceiver

import (
	"path/filepath"
	"sync"

	"go.uber.org/zap"
)

// twins finds folders of one name whose streams say no run: their runs become one.
type twins struct {
	mu     sync.Mutex
	places map[string]*place // by run
	loose  map[string]bool   // files that lie beside the folders of runs, and were told of
}

// place is where the folder of a run is.
type place struct {
	folder string
	file   string
	told   bool
}

// meet notes that a file's run is named by its folder, and gives another file whose folder of another place names the same
// run. It does so once a run.
func (w *twins) meet(run, path string) (other string, found bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.places[run]
	if p == nil {
		if w.places == nil {
			w.places = map[string]*place{}
		}
		w.places[run] = &place{folder: filepath.Dir(path), file: path}
		return "", false
	}
	if p.told || p.folder == filepath.Dir(path) {
		return "", false
	}
	p.told = true
	return p.file, true
}

// first says that a file was not told of before.
func (w *twins) first(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.loose[path] {
		return false
	}
	if w.loose == nil {
		w.loose = map[string]bool{}
	}
	w.loose[path] = true
	return true
}

// forget lets go of a file that is gone for long.
func (w *twins) forget(run, path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.places[run]; p != nil && p.file == path {
		delete(w.places, run)
	}
	delete(w.loose, path)
}

// meetTwins warns of two folders of one name.
func (t *tailer) meetTwins(src source) {
	other, found := t.twins.meet(src.id.run, src.origin)
	if !found {
		return
	}
	t.logger.Warn("Two folders of one name become one run, as their records name none; write run_id into the records or set run_id.path_regex",
		zap.String("run_id", src.id.run), zap.String("file", validText(src.origin)), zap.String("other_file", validText(other)))
}
