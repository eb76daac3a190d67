package mcpserver

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatIsNoMessageIsAnswered and what comes behind it is read.
func TestWhatIsNoMessageIsAnswered(t *testing.T) {
	t.Parallel()
	const good = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	parse := func(why string) string {
		return `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"` + why + `"}}` + "\n"
	}
	invalid := func(id, why string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32600,"message":"` + strings.ReplaceAll(why, `"`, `\"`) + `"}}` + "\n"
	}
	for name, c := range map[string]struct{ in, given, answered string }{
		"a message":              {good + " \r\n", good + "\n", ""},
		"blank lines":            {"\n \n" + good + "\n", good + "\n", ""},
		"no JSON":                {"{\"jsonrpc\n" + good + "\n", good + "\n", parse(notJSON)},
		"two on a line":          {good + good + "\n" + good + "\n", good + "\n", parse(notJSON)},
		"several lines":          {"{\n}\n" + good + "\n", good + "\n", parse(notJSON) + parse(notJSON)},
		"too long":               {`"` + strings.Repeat("x", maxFrame) + "\"\n" + good + "\n", good + "\n", parse(tooLong)},
		"no object":              {"7\n" + good + "\n", good + "\n", invalid("null", noMessage)},
		"another version":        {`{"jsonrpc":"1.0","id":4,"method":"ping"}` + "\n" + good + "\n", good + "\n", invalid("4", noMessage)},
		"a method that is none":  {`{"jsonrpc":"2.0","id":"a","method":7}` + "\n", "", invalid(`"a"`, noMessage)},
		"an id that is none":     {`{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n", "", invalid("null", noMessage)},
		"an answer to nobody":    {`{"jsonrpc":"2.0","result":{}}` + "\n", "", invalid("null", noMessage)},
		"a batch":                {"[" + good + ", 7," + good + "]\n", good + "\n" + good + "\n", invalid("null", noMessage)},
		"an empty batch":         {"[]\n" + good + "\n", good + "\n", invalid("null", emptyBatch)},
		"an end without newline": {good, good + "\n", ""},
		"an end within a line":   {good + "\n" + good[:9], good + "\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			given, err := io.ReadAll(newFrames(io.NopCloser(strings.NewReader(c.in)), &out))
			require.NoError(t, err)
			assert.Equal(t, [2]string{c.given, c.answered}, [2]string{string(given), out.String()})
		})
	}
	broken := errors.New("the stream is gone")
	_, err := io.ReadAll(newFrames(io.NopCloser(iotest.ErrReader(broken)), io.Discard))
	assert.ErrorIs(t, err, broken)
}
