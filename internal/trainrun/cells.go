package trainrun

import (
	"cmp"
	"slices"
	"unsafe"
)

// Hosts that write one run id at the same time get a State each, but which ones those are is known only when everything is
// there. So a fold also keeps, for each host, what State needs beside the rows, the records that name no host by the
// file they came from. Rows are kept once: each tells its host and file. While all records are of one cell there is nothing
// to tell apart, and the fold itself is that cell.

// cellKey names a cell: a host, or the file of records that name none (0 for those without uid).
type cellKey struct {
	host string
	file uint32
}

func keyOf(e *Entry) cellKey {
	if e.Where.Host != "" {
		return cellKey{host: e.Where.Host}
	}
	return cellKey{file: fileOf(e)}
}

func fileOf(e *Entry) uint32 {
	if e.ID.Kind == IDUID {
		return streamOf(e)
	}
	return 0
}

func (k cellKey) compare(o cellKey) int {
	return cmp.Or(compareBool(k.host == "", o.host == ""), compareText(k.host, o.host), cmp.Compare(k.file, o.file))
}

// cell is what the records of one key say, without their rows. A nil fold stands for the whole one.
type cell struct {
	key  cellKey
	fold *Fold
}

// cellTable holds the cells of the least hosts and the least files; those beyond share one, the rest.
type cellTable struct {
	items []cell
	rest  *Fold
	named map[uint32]string // by file the one host that its records name, severalHosts for more
}

// severalHosts says that nothing can be told from a file. A host of that name is taken for it, with the same effect.
const severalHosts = "\x00"

// newCell makes the fold of a cell.
func (f *Fold) newCell() *Fold {
	c := newFold(f.runID, f.lim)
	c.rowless = true
	return c
}

// tell adds a record to its cell. It is called before the fold itself takes the record.
func (f *Fold) tell(e *Entry, known bool) {
	t := &f.cells
	if e.Where.Host != "" {
		t.name(fileOf(e), e.Where.Host)
	}
	k := keyOf(e)
	if len(t.items) == 0 {
		t.items = []cell{{key: k}}
		return
	}
	if len(t.items) == 1 && t.items[0].fold == nil {
		if t.items[0].key == k {
			return
		}
		t.items[0].fold = f.newCell()
		t.items[0].fold.absorb(f)
	}
	f.cell(k).take(e, known)
}

func (t *cellTable) name(file uint32, host string) {
	switch t.named[file] {
	case host:
	case "":
		if t.named == nil {
			t.named = map[uint32]string{}
		}
		t.named[file] = host
	default:
		t.named[file] = severalHosts
	}
}

// cell gives the cell of a key, a new one in the place of the greatest when there are too many.
func (f *Fold) cell(k cellKey) *Fold {
	t := &f.cells
	i, found := slices.BinarySearchFunc(t.items, k, func(c cell, k cellKey) int { return c.key.compare(k) })
	if found {
		return t.items[i].fold
	}
	hosts := t.hosts()
	last := hosts // one past the keys of this kind
	if k.host == "" {
		last = len(t.items)
	}
	if n := t.kind(k, hosts); n >= f.lim.hosts {
		if t.rest == nil {
			t.rest = f.newCell()
		}
		if i == last {
			return t.rest
		}
		t.rest.absorb(t.items[last-1].fold)
		t.items = slices.Delete(t.items, last-1, last)
	}
	c := f.newCell()
	t.items = slices.Insert(t.items, i, cell{k, c})
	return c
}

// hosts counts the cells of hosts: they come first.
func (t *cellTable) hosts() int {
	n := 0
	for n < len(t.items) && t.items[n].key.host != "" {
		n++
	}
	return n
}

func (t *cellTable) kind(k cellKey, hosts int) int {
	if k.host != "" {
		return hosts
	}
	return len(t.items) - hosts
}

// find gives the cell of a key, nil for one that is not told apart.
func (t *cellTable) find(k cellKey) *Fold {
	i, found := slices.BinarySearchFunc(t.items, k, func(c cell, k cellKey) int { return c.key.compare(k) })
	if !found {
		return nil
	}
	return t.items[i].fold
}

// only gives the one host that the records of a file name, "" when they name none or several.
func (t *cellTable) only(file uint32) string {
	if h := t.named[file]; h != severalHosts {
		return h
	}
	return ""
}

func (t *cellTable) size() int64 {
	n := int64(len(t.named)) * 64
	for i := range t.items {
		n += int64(unsafe.Sizeof(cell{}))
		if c := t.items[i].fold; c != nil {
			n += c.SizeBytes()
		}
	}
	if t.rest != nil {
		n += t.rest.SizeBytes()
	}
	return n
}

func (t *cellTable) write(w *writer) {
	w.uint(uint64(len(t.items)))
	for i := range t.items {
		c := &t.items[i]
		w.text(c.key.host)
		w.fixed32(c.key.file)
		w.fold(c.fold)
	}
	w.fold(t.rest)
	w.uint(uint64(len(t.named)))
	for _, file := range sortedFiles(t.named) {
		w.fixed32(file)
		w.text(t.named[file])
	}
}

func sortedFiles[V any](m map[uint32]V) []uint32 {
	files := make([]uint32, 0, len(m))
	for file := range m {
		files = append(files, file)
	}
	slices.Sort(files)
	return files
}

// fold writes a cell, or that there is none.
func (w *writer) fold(c *Fold) {
	w.bool(c != nil)
	if c != nil {
		c.compact()
		c.write(w)
	}
}

func (r *reader) fold(f *Fold) *Fold {
	if !r.bool() {
		return nil
	}
	c := f.newCell()
	c.read(r)
	if r.err == nil && (len(c.rows.rows) > 0 || len(c.seen.streams) > 0) {
		r.fail("a cell with rows")
	}
	return c
}

func (t *cellTable) read(r *reader, f *Fold) {
	n := r.count(6)
	for i := range n {
		c := cell{key: cellKey{host: r.text(), file: r.fixed32()}}
		if c.fold = r.fold(f); r.err != nil {
			return
		}
		if i > 0 && t.items[i-1].key.compare(c.key) >= 0 || (c.fold == nil) != (n == 1) {
			r.fail("want another cell")
			return
		}
		t.items = append(t.items, c)
	}
	if t.rest = r.fold(f); t.rest != nil && n < 2 {
		r.fail("a rest of nothing")
		return
	}
	for range r.count(5) {
		file, host := r.fixed32(), r.text()
		if t.named[file] != "" || host == "" {
			r.fail("want another file")
			return
		}
		if t.named == nil {
			t.named = map[uint32]string{}
		}
		t.named[file] = host
	}
}
