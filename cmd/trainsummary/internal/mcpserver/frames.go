package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// frames gives the library the messages of a client. It would end the server at a line that is none: such a line is answered with an
// error, as section 5.1 of JSON-RPC 2.0 has it, and the next one is read. The messages of a batch are given one by one.
type frames struct {
	in    *bufio.Reader
	close func() error
	out   io.Writer
	ready []byte // messages, each with its newline
}

// maxFrame is the length of a line in bytes, as the library bounds it.
const maxFrame = mcp.DefaultMaxLineLength

const (
	notJSON    = "no JSON: want one message a line, without line breaks in it"
	tooLong    = "the line is longer than 16 MiB"
	emptyBatch = "a batch without messages"
	noMessage  = `no JSON-RPC 2.0 message: want "jsonrpc":"2.0", a method as text, and an id that is a text or an integer`
)

func newFrames(in io.ReadCloser, out io.Writer) *frames {
	return &frames{in: bufio.NewReaderSize(in, 64<<10), close: in.Close, out: out}
}

func (f *frames) Close() error { return f.close() }

func (f *frames) Read(p []byte) (int, error) {
	for len(f.ready) == 0 {
		line, whole, err := f.line()
		if err != nil && (!errors.Is(err, io.EOF) || !json.Valid(line)) { // a line that was not written to its end is no mistake
			return 0, err
		}
		if err := f.take(bytes.TrimSpace(line), whole); err != nil {
			return 0, err
		}
	}
	n := copy(p, f.ready)
	f.ready = f.ready[n:]
	return n, nil
}

// line reads one. Of one that is too long it gives the beginning.
func (f *frames) line() (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := f.in.ReadSlice('\n')
		if whole = whole && len(line)+len(part) <= maxFrame; whole {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

// take gives on what is a message and answers what is none.
func (f *frames) take(line []byte, whole bool) error {
	if !whole {
		return f.answer(jsonrpc.CodeParseError, nil, tooLong)
	}
	if len(line) == 0 {
		return nil
	}
	if !json.Valid(line) {
		return f.answer(jsonrpc.CodeParseError, nil, notJSON)
	}
	if line[0] != '[' {
		return f.message(line)
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
		return f.answer(jsonrpc.CodeInvalidRequest, nil, emptyBatch)
	}
	for _, one := range batch {
		if err := f.message(one); err != nil {
			return err
		}
	}
	return nil
}

func (f *frames) message(text []byte) error {
	if _, err := jsonrpc.DecodeMessage(text); err == nil {
		f.ready = append(append(f.ready, text...), '\n')
		return nil
	}
	var has struct {
		ID json.RawMessage `json:"id"`
	}
	id := json.RawMessage(nil)
	if json.Unmarshal(text, &has) == nil {
		var n json.Number
		if json.Unmarshal(has.ID, &n) == nil && len(has.ID) > 0 || len(has.ID) > 0 && has.ID[0] == '"' {
			id = has.ID
		}
	}
	return f.answer(jsonrpc.CodeInvalidRequest, id, noMessage)
}

// answer writes an error; without an id it is that of no request that could be told.
func (f *frames) answer(code int, id json.RawMessage, message string) error {
	text, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: int64(code), Message: message}})
	if err != nil {
		return err
	}
	_, err = f.out.Write(append(text, '\n'))
	return err
}

// whole writes one message after another: each comes in one Write, of the library or of frames.
type whole struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *whole) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// Close leaves the stream open: it is the process's.
func (w *whole) Close() error { return nil }
