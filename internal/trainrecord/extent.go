package trainrecord

import (
	"bytes"

	"go.opentelemetry.io/collector/pdata/plog"
)

// Extent reads the object that data begins with and keeps nothing of it: its length, and whether it is a record of the
// vocabulary. The length is 0 when data begins with no object, or with one beyond the caps.
func (d *Decoder) Extent(data []byte) (length int, isRecord bool) {
	d.scan.reset(data)
	if len(data) == 0 || data[0] != '{' {
		return 0, false
	}
	if err := d.head.read(&d.scan, nil); err != nil {
		return 0, false
	}
	return d.scan.pos, d.head.isRecord()
}

// Refusal says why no object stands at the start of a text: the reason that Decode gives, without a look at what is behind.
func (d *Decoder) Refusal(data []byte) Reason {
	d.scan.reset(data)
	var err error
	if d.scan.peek() != '{' {
		err = d.noObject()
	} else if err = d.head.read(&d.scan, nil); err == nil {
		return ReasonTrailingData
	}
	return d.refuse(plog.NewLogRecord(), err).Reason
}

// pythonWords are what Python prints where JSON has another spelling.
var pythonWords = [][]byte{[]byte("'"), []byte("True"), []byte("False"), []byte("None")}

// isPythonRepr tells a dict that Python printed from other text that is no JSON; offset is where reading it as JSON ended.
func isPythonRepr(line []byte, offset int) bool {
	line = line[:len(bytes.TrimRight(line, " \t\r"))]
	if text := bytes.TrimLeft(line, " \t\r"); len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return false
	}
	if offset >= len(line) {
		return false
	}
	for _, word := range pythonWords {
		if bytes.HasPrefix(line[offset:], word) {
			return true
		}
	}
	return false
}
