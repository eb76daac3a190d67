package trainrun

// fileHosts tells the hosts of files. A record that names none is of the only host that others of its file name; of none where they name
// several: hosts may have equal paths.
type fileHosts struct {
	bare   map[uint32]uint32 // by the file of a host, that of records that name none
	only   map[uint32]uint32 // by the file of records that name none, that of the only host; 0 for several
	recent uint32            // was seen last
}

// path is the file of a record: each host has its own.
func (e *Entry) path() uint32 {
	if e.Path == 0 || e.ID.Kind != IDUID {
		return 0
	}
	if e.Where.Host == "" {
		return e.Path
	}
	return max(e.Path^uint32(hashName(e.Where.Host)), 1)
}

// see notes the host of a record.
func (h *fileHosts) see(e *Entry) {
	if path := e.path(); e.Where.Host != "" && path != h.recent {
		h.add(path, e.Path)
	}
}

func (h *fileHosts) add(path, bare uint32) {
	h.recent = path
	if path == 0 || h.bare[path] == bare {
		return
	}
	if h.bare == nil {
		h.bare, h.only = map[uint32]uint32{}, map[uint32]uint32{}
	}
	h.bare[path] = bare
	if _, ok := h.only[bare]; ok {
		path = 0
	}
	h.only[bare] = path
}

// same gives the name under which the records of a file with and without a host are found.
func (h *fileHosts) same(path uint32) uint32 {
	if bare, ok := h.bare[path]; ok && h.only[bare] == path {
		return bare
	}
	return path
}

func (h *fileHosts) absorb(o *fileHosts) {
	for path, bare := range o.bare {
		h.add(path, bare)
	}
}

func (h *fileHosts) size() int64 { return int64(len(h.bare)+len(h.only)) * 16 }

func (h *fileHosts) write(w *writer) {
	w.uint(uint64(len(h.bare)))
	for _, path := range sortedFiles(h.bare) {
		w.fixed32(path)
		w.fixed32(h.bare[path])
	}
}

func (h *fileHosts) read(r *reader) {
	for range r.count(8) {
		path, bare := r.fixed32(), r.fixed32()
		if h.bare[path] != 0 || path == 0 || bare == 0 {
			r.fail("want another file")
			return
		}
		h.add(path, bare)
	}
}
