package trainjsonlreceiver

import "sync"

const (
	fullBuffer  = beforeBytes + turnBytes
	smallBuffer = 32 << 10
)

// buffers lends turns what they need while they last: a file that waits for its next turn holds nothing.
type buffers struct{ bytes, lines sync.Pool }

// take gives n bytes. What is small is made to measure, so that many waiting files hold no more than is counted.
func (b *buffers) take(n int) []byte {
	if n <= smallBuffer || n > fullBuffer {
		return make([]byte, n)
	}
	if buf, ok := b.bytes.Get().(*[]byte); ok {
		return (*buf)[:n]
	}
	return make([]byte, n, fullBuffer)
}

func (b *buffers) give(buf []byte) {
	if cap(buf) == fullBuffer {
		b.bytes.Put(&buf)
	}
}

func (b *buffers) takeLines() []line {
	if lines, ok := b.lines.Get().(*[]line); ok {
		return (*lines)[:0]
	}
	return nil
}

func (b *buffers) giveLines(lines []line) {
	clear(lines[:cap(lines)])
	b.lines.Put(&lines)
}
