package trainjsonlreceiver

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
)

const (
	headBytes = 1024 // of the start of a file, that identify it
	// beforeBytes before the offset tell whether the file was rewritten. They are more than the fields, equal in all lines,
	// with which many a line ends.
	beforeBytes = 1024
	noTorn      = -1
)

// mark is what is kept of a file over a restart. It speaks only of bytes that were delivered, or else of those offered first.
type mark struct {
	Path     string       // where the file was last seen
	Origin   string       // where it was when reading began; says the run
	Born     int64        // birth time of the file, 0 = unknown
	Offset   int64        // everything before was delivered
	Before   uint64       // hash of the 1024 bytes before Offset
	HeadLen  int          // min(Offset, 1024)
	Head     uint64       // hash of the first HeadLen bytes
	FileID   uint32       // of the first line
	HasFile  bool         // FileID is known
	Text     int64        // number of the text that the file has, of those at its path, 0 = the first
	From     int64        // the first of the texts that are gone since
	Torn     int64        // offset of the unterminated line that was reported, -1 = none
	Ended    bool         // run.end was the last word of a run in this file
	Run      string       // that the last record named, "" = none did
	Packed   unpackedSize // of a packed file, as last measured
	GoneTime int64        // Unix seconds at which the file was found gone, 0 = it is there
	Begun    int          // of the first bytes, how many the pipeline was offered while it had accepted none of the file
	Begin    uint64       // hash of these
	Unread   int64        // of a file that was rewritten, the bytes that were seen and not delivered; a packed one may give them
	Was      *mark        // of the file that was there before it was rewritten, for a packed one that goes on with it
}

// stream is one file.
type stream struct {
	key fileKey

	// Of the poll.
	due    atomic.Int64  // when to look at it next, since epoch; 0 = at once
	asked  atomic.Bool   // a look at it waits or goes on
	news   atomic.Bool   // since the last look began, something was told of it
	device atomic.Uint64 // that it is on
	inode  atomic.Uint64 // of the file that was read last, 0 = none was
	before atomic.Uint64 // of the one that was read before at the path, 0 = none was

	// Of the turn, of which a file has one at a time.
	id         *pathID        // of idOrigin
	idOrigin   string         // the origin that id was read from
	head       *xxhash.Digest // of the first headLen bytes, as this turn found them
	headLen    int64
	window     window // the bytes of this turn
	patience   patience
	made       int64     // that its call may take, see calls
	room       *claim    // of its call, for a line that takes more
	known      bool      // it was looked for among the files that had other names
	numbered   bool      // the number of its text was stored
	lookedTime time.Time // the file's modification time in the last turn
	lookedSize int64     // and its size
	handle     *handle   // guarded by handles.mu

	// Of the scheduler, guarded by tailer.mu.
	queued  bool
	running bool
	again   bool

	// Shared by turns, polls, checkpoints and gauges.
	mu       sync.Mutex
	mark     mark
	revision int       // of mark
	saved    int       // the revision that storage has
	size     int64     // of the file as last seen
	looked   int64     // the size at which a turn last found nothing more to read
	modTime  time.Time // of the file as last seen
	tail     tail
	grown    time.Time     // when it was last seen to grow
	idle     time.Duration // between two looks at it
	retryAt  time.Time     // not to be read before, after an error
	failures int           // reads in a row that failed
	denied   bool          // the last of them for want of permission
	watched  bool          // the operating system tells when it grows
	swap     bool          // its path leads to another file: the open one is read to its end first
	written  time.Time     // when it last grew, as far as that is known
	behind   time.Time     // since when it has bytes that are not accepted
	other    bool          // another file has its place, as its birth time or inode says, and no turn has seen that
	packedTo int64         // the place up to which a packed file gives its bytes, 0 = none does
	cut      int64         // size of the file before some of it was cut off that was not delivered
	stayed   int64         // the place before which nothing was cut off then, or all had been looked at
	passing  passing       // what was there since then, and is not there any more
	hanging  bool          // the file system does not answer about it
	calling  time.Time     // since when the pipeline has kept its records without an answer; zero = it has none
	stalled  bool          // the pipeline refuses its records
	gone     bool          // its path leads elsewhere or nowhere
	left     time.Time     // when it went away, until its unread bytes are counted
	unsure   int64         // unread bytes that storage has
	missing  bool          // it went away while the collector did not run, and a packed file may go on where it was

	// Of its state, that is told.
	told      streamState // last
	toldPath  string      // that went with it
	parted    time.Time   // when it had grown last, as it went away
	telling   bool        // a call goes on
	tellLater bool        // the pipeline did not take the last one
}

// hear has the file looked at, also if a look at it goes on.
func (s *stream) hear() {
	s.news.Store(true)
	s.due.Store(0)
}

// never is no time at which a file is looked at.
const never = math.MaxInt64

// epoch is what times are counted from: by the monotonic clock, since a wall clock that is set back would put looks off.
var epoch = time.Now()

// lookAgain says when to look at the file next.
func (s *stream) lookAgain(at time.Time) { s.due.Store(int64(at.Sub(epoch))) }

// isDue says whether it is time to look at the file.
func (s *stream) isDue(now time.Time) bool {
	at := s.due.Load()
	return at == 0 || at <= int64(now.Sub(epoch))
}

// tryAgain puts off the next turn, after an error.
func (s *stream) tryAgain(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retryAt = at
	s.looked = notLooked
	s.lookAgain(at)
}

// get gives a copy of the mark and of the tail.
func (s *stream) get() (mark, tail) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mark, s.tail
}

// set replaces the mark. Path and GoneTime belong to the poll and stay; so does what is kept of the file before, of which bytes
// may be given or lost meanwhile.
func (s *stream) set(m mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.Was = s.mark.Was
	s.replace(m)
}

// reset replaces the mark of a file that turned out to be another one.
func (s *stream) reset(m mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replace(m)
}

// replace is called with the lock.
func (s *stream) replace(m mark) {
	m.Path, m.GoneTime = s.mark.Path, s.mark.GoneTime
	if m != s.mark {
		s.mark = m
		s.revision++
	}
}

// setTail replaces the tail.
func (s *stream) setTail(t tail) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tail = t
}

// move notes where the file is now. One that is where it was needs no checkpoint: each start finds all of them.
func (s *stream) move(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone, s.missing = false, false
	was := s.mark
	s.mark.Path = path
	if s.mark.Offset == 0 && s.mark.Begun == 0 {
		s.mark.Origin = path
	}
	s.mark.GoneTime = 0
	if s.mark != was {
		s.revision++
	}
}

// leave notes that the file is no longer at a path, unless another look has found it elsewhere meanwhile.
func (s *stream) leave(path string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mark.Path != path {
		return false
	}
	s.gone, s.left, s.parted = true, now, s.written
	s.failures, s.denied = 0, false // nobody tries to read what is not there
	if s.mark.GoneTime == 0 {
		s.mark.GoneTime = now.Unix()
		s.revision++
	}
	return true
}

// saveAgain has the mark saved although storage may have it.
func (s *stream) saveAgain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
}

// unsaved says whether storage lacks something. A file of which nothing was delivered or offered needs no checkpoint.
func (s *stream) unsaved() bool {
	return s.revision != s.saved && (s.saved != 0 || s.mark.Offset > 0 || s.mark.Begun > 0)
}

// tornDue says whether the unterminated line has waited long enough.
func (s *stream) tornDue(now time.Time, after time.Duration) bool {
	at := s.tornAt(after)
	return !at.IsZero() && s.size == s.mark.Offset+s.tail.scanned && !now.Before(at)
}

// tornAt is when an unterminated line will have waited long enough; the zero time if it does not wait, or for nothing.
func (s *stream) tornAt(after time.Duration) time.Time {
	switch {
	case !s.tail.text || s.mark.Torn == s.mark.Offset:
		return time.Time{}
	case s.mark.Ended || s.gone:
		return s.grown.Add(tornSettle)
	case after > 0:
		return s.grown.Add(after)
	default:
		return time.Time{}
	}
}

// resize notes another size of the file.
func (s *stream) resize(size int64, now time.Time) {
	if kept := max(size, s.mark.Offset+s.tail.scanned); size < s.size && s.passing.began {
		s.passBy(kept)
	} else if size < s.size {
		s.keepSeen()
		s.stayed, s.passing.began = kept, true
	}
	s.size, s.grown, s.written = size, now, now
	if s.behind.IsZero() && size > s.mark.Offset {
		s.behind = now
	}
}

// lookedAt notes that nothing more is to be read at this size. It gives the bytes that were cut off before they were read, of a
// file that was not written anew.
func (s *stream) lookedAt(size int64) (lost int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.other { // else the next turn finds out
		if s.cut > 0 {
			lost = max(s.cut-max(s.stayed, s.mark.Offset, s.packedTo), 0)
		}
		lost += s.passing.cut
		s.passing = passing{}
	}
	s.passing.began = false // the size of another file is none that was cut off
	if s.size != size {
		s.resize(size, time.Now())
	}
	s.looked, s.cut, s.other, s.passing.began, s.behind = size, 0, false, false, time.Time{}
	s.failures, s.denied, s.stalled = 0, false, false
	return lost
}

// mayTry says whether the pause after an error is over.
func (s *stream) mayTry(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !now.Before(s.retryAt)
}

// swapped says, once, whether the open file is not the one that the path leads to any more.
func (s *stream) swapped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.swap
	s.swap = false
	return was
}
