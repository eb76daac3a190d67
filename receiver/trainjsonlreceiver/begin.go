package trainjsonlreceiver

import "github.com/cespare/xxhash/v2"

// begin notes that the pipeline is offered bytes of the window up to a place, and has accepted none of the file before: it may
// have them and not say so. They stay those of the run of the path where they were read, wherever the file is when they are
// read again. It gives the mark that says so.
func (s *stream) begin(was mark, upTo int64) mark {
	if now, _ := s.get(); now.Offset > 0 || was.Offset > 0 || was.Begun > 0 {
		return was
	}
	was.Begun = int(min(upTo, headBytes))
	was.Begin = xxhash.Sum64(s.window.slice(0, int64(was.Begun)))
	s.set(was)
	return was
}

// verifyBegin compares the start of a file of which nothing is accepted with what was offered of it, and tells why it is another
// one. A line that was reported as torn may be written anew; it is a line of its own then.
func (s *stream) verifyBegin(f openFile, m *mark) (why string, err error) {
	if m.Begun == 0 {
		return "", nil
	}
	buf := make([]byte, m.Begun)
	n, err := readAt(f, buf, 0)
	switch {
	case err != nil:
		return "", err
	case n == len(buf) && xxhash.Sum64(buf) == m.Begin:
		return "", nil
	case m.Torn == m.Offset:
		m.Begun, m.Begin, m.Origin = 0, 0, m.Path
		return "", nil
	case n < len(buf):
		return rewriteShorter, nil
	default:
		return rewriteChanged, nil
	}
}
