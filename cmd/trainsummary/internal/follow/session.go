package follow

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/source"
	"github.com/pathologize/otelcol-train/internal/trainlines"
	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Session follows the streams that arguments name.
type Session struct {
	args     []string
	profiles func() (*trainprofile.Set, error) // those that may fail have been loaded
	reader   *reader
	buf      []byte
	runs     map[Key]*Run
	order    []*Run
	streams  []*Stream
	paths    map[string]*Stream // by root and name

	Roots   []string
	Omitted int              // files beyond the bound
	Errors  map[string]error // arguments that cannot be used, by argument
	Missing []string         // arguments that name nothing yet
	owners  map[string]string

	searched time.Time // when Find was called last
	folders  []source.Folder
}

// Profiles say how rows are read, as the keys of training_norm do.
type Profiles struct {
	Framework string   // of every row; "": it is recognised
	Files     []string // beside the shipped ones
}

// Open makes a session.
func Open(args []string, p Profiles) (*Session, error) {
	load := sync.OnceValues(func() (*trainprofile.Set, error) { return trainprofile.Load(p.Framework, p.Files) })
	if p.Framework != "" || len(p.Files) > 0 { // else records alone need none
		if _, err := load(); err != nil {
			return nil, err
		}
	}
	prefixes, err := trainlines.CompilePrefixes([]string{trainlines.PrefixesKnown})
	if err != nil {
		return nil, err
	}
	s := &Session{args: args, profiles: load, buf: newBuffer(), owners: map[string]string{}}
	s.reader = &reader{
		session: s, lines: trainlines.NewReader(trainlines.Options{Location: time.UTC, Prefixes: prefixes}),
		mapper: trainprofile.NewMapper(time.UTC), scratch: plog.NewLogRecord(), none: pcommon.NewResource(),
	}
	s.reset()
	return s, nil
}

func (s *Session) reset() {
	s.runs, s.order, s.streams, s.paths = map[Key]*Run{}, nil, nil, map[string]*Stream{}
}

func (s *Session) run(k Key, from *Stream) *Run {
	r := s.runs[k]
	if r == nil {
		name := k.ID
		if name == "" {
			name = from.name
		}
		r = newRun(k, trainrun.RunID(name))
		s.runs[k] = r
		s.order = append(s.order, r)
	}
	if n := len(r.Streams); n == 0 || r.Streams[n-1] != from {
		if r.add(from) {
			from.runs = append(from.runs, r)
		}
	}
	return r
}

// searchAfter is how long a search counts though no folder changed: the time of a folder has a grain.
const searchAfter = 5 * time.Second

// Look searches for streams where some may have come, and reads what was appended.
func (s *Session) Look() {
	if len(s.streams) == 0 || len(s.Missing) > 0 || time.Since(s.searched) >= searchAfter ||
		slices.ContainsFunc(s.folders, source.Folder.Changed) {
		s.Find()
	}
	s.Read()
}

// Find looks for streams. It says whether there are new ones.
func (s *Session) Find() bool {
	s.searched, s.folders = time.Now(), nil
	s.Errors, s.Missing, s.Roots, s.Omitted = map[string]error{}, nil, nil, 0
	before := len(s.streams)
	for _, arg := range s.args {
		found := source.Find(arg)
		switch {
		case found.Missing:
			s.Missing = append(s.Missing, arg)
		case found.Err != nil:
			s.Errors[arg] = found.Err
		default:
			for _, ref := range found.Refs {
				s.stream(ref)
			}
		}
		s.Omitted += found.Omitted
		s.folders = append(s.folders, found.Folders...)
		for _, root := range found.Roots {
			if !slices.Contains(s.Roots, root) {
				s.Roots = append(s.Roots, root)
			}
		}
	}
	return len(s.streams) > before
}

func (s *Session) stream(ref source.Ref) {
	key := filepath.Join(ref.Root, ref.Name)
	if s.paths[key] != nil {
		return
	}
	st := newStream(ref, len(s.streams))
	st.owner = s.owners[key]
	s.paths[key] = st
	s.streams = append(s.streams, st)
}

// Read reads what was appended to every stream. It says whether anything was.
func (s *Session) Read() (grown bool) {
	for i := 0; i < len(s.streams); i++ {
		st := s.streams[i]
		fi, err := st.Ref.Stat()
		if err == nil && !fi.Mode().IsRegular() {
			err = source.ErrNotRegular
		}
		if st.Err = err; err != nil {
			continue
		}
		if !st.file.changed(fi.Size(), fi.ModTime().UnixNano()) {
			continue
		}
		grown = true
		err = st.file.read(s.buf, func(offset int64, line []byte, tooLong bool) { s.reader.line(st, offset, line, tooLong) })
		if errors.Is(err, errRestart) || err == nil && s.claim(st) {
			s.reset()
			s.Find()
			i = -1
			continue
		}
		st.Err = err
		if err == nil {
			s.touch(st)
		}
	}
	return grown
}

// touch makes sure that a stream has a run, though it is empty, and that its runs know that it changed.
func (s *Session) touch(st *Stream) {
	if len(st.runs) == 0 {
		s.run(st.ownKey(), st)
	}
	for _, r := range st.runs {
		r.Changed = true
	}
	if len(st.runs) < 2 {
		return
	}
	for _, r := range slices.Clone(st.runs) {
		lone := slices.ContainsFunc(r.Streams, func(o *Stream) bool { return len(o.runs) < 2 })
		if r.empty() && !lone { // it stood for streams that had no line yet
			s.forget(r)
		}
	}
}

func (s *Session) forget(r *Run) {
	same := func(o *Run) bool { return o == r }
	delete(s.runs, r.Key)
	s.order = slices.DeleteFunc(s.order, same)
	for _, st := range r.Streams {
		st.runs = slices.DeleteFunc(st.runs, same)
	}
}

// claim gives lines that name no run to the only run that the other lines of their stream name, as a launcher does that appends
// the end to a framework's rows. It says whether the streams must be read again.
func (s *Session) claim(st *Stream) bool {
	if !st.bare {
		return false
	}
	owner := ""
	if len(st.named) == 1 {
		owner = st.named[0]
	}
	if owner == st.owner {
		return false
	}
	s.owners[filepath.Join(st.Ref.Root, st.Ref.Name)] = owner
	return true
}

// Runs gives the runs in the order in which they were found.
func (s *Session) Runs() []*Run { return s.order }

// Streams gives the streams.
func (s *Session) Streams() []*Stream { return s.streams }

// ModTime is when a stream was written last, as far as it was read.
func (s *Stream) ModTime() time.Time { return time.Unix(0, s.file.modTime) }

// Broken is why a packed stream cannot be read to its end, nil when it can.
func (s *Stream) Broken() error { return s.file.broken }
