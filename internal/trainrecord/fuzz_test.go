package trainrecord

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// pythonTokens are the three tokens that the decoder takes and encoding/json does not; numbers out of range are the other
// wanted difference in what is accepted.
var pythonTokens = regexp.MustCompile(`NaN|Infinity`)

// FuzzDecodeAgainstEncodingJSON holds the decoder to encoding/json: the same lines are objects, with the same values, but
// for the differences that are wanted: Python's tokens, large numbers, caps and cut arrays.
func FuzzDecodeAgainstEncodingJSON(f *testing.F) {
	for _, line := range []string{
		epochLine, `{"a":1,"a":[{"b":null}],"c":-1.5e-7}`, `{"a":"\u00e9\ud83d\ude00\ud800x","b":"` + "\xff" + `"}`, `[1]`, `{}`,
		`{"a":9007199254740993,"b":18446744073709551615}`, `{"a":1} x`, `{"loss": NaN, "epoch": 1.0}`, "{\"a\":\"\x7f\"}",
		`{"schema":"pathologize.ml.training/1","event":"run.end","run_id":"x","body":{"epoch":1,"outcome":"success"}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		d := NewDecoder(DecoderOptions{})
		lr := plog.NewLogRecord()
		l := d.Decode(line, lr)
		var want map[string]any
		dec := json.NewDecoder(strings.NewReader(string(line)))
		dec.UseNumber()
		err := dec.Decode(&want)
		isObject := err == nil && want != nil && strings.Trim(string(line[dec.InputOffset():]), " \t\r\n") == ""
		switch l.Kind {
		case LineError:
			require.ErrorAs(t, l.Err, new(error))
			if l.Reason == ReasonNotJSON || l.Reason == ReasonTrailingData || l.Reason == ReasonNotObject {
				require.False(t, isObject, "refused what encoding/json takes: %v", l.Err)
			}
		case LineObject:
			if !isObject {
				require.Regexp(t, pythonTokens, string(line), "took what encoding/json refuses: %v", err)
				return
			}
			requireSame(t, want, lr.Body())
		case LineRecord:
			if !isObject {
				require.Regexp(t, pythonTokens, string(line), "took what encoding/json refuses: %v", err)
			}
			require.True(t, IsEvent(strings.TrimPrefix(lr.EventName(), Namespace+".")))
		}
		d.PutResource(pcommon.NewMap())
		requireOneRecord(t, d, line)
	})
}

func requireSame(t *testing.T, want any, got pcommon.Value) {
	t.Helper()
	switch w := want.(type) {
	case nil:
		require.Equal(t, pcommon.ValueTypeEmpty, got.Type())
	case bool:
		require.Equal(t, w, got.Bool())
	case string:
		require.Equal(t, w, got.Str())
		require.True(t, utf8.ValidString(got.Str()))
	case json.Number:
		requireSameNumber(t, w, got)
	case []any:
		require.Equal(t, min(len(w), MaxElements), got.Slice().Len())
		for i := range got.Slice().Len() {
			requireSame(t, w[i], got.Slice().At(i))
		}
	case map[string]any:
		require.Equal(t, len(w), got.Map().Len())
		for k, v := range got.Map().All() {
			require.Contains(t, w, k)
			requireSame(t, w[k], v)
		}
	}
}

func requireSameNumber(t *testing.T, w json.Number, got pcommon.Value) {
	t.Helper()
	if n, err := w.Int64(); err == nil {
		require.Equal(t, n, got.Int())
		return
	}
	if !strings.ContainsAny(w.String(), ".eE") {
		require.Equal(t, w.String(), got.Str())
		return
	}
	f, err := w.Float64()
	if err != nil {
		require.True(t, math.IsInf(got.Double(), 0))
		return
	}
	require.Equal(t, math.Float64bits(f), math.Float64bits(got.Double()))
}

// FuzzParseTime shows that no text panics and that a time is in its range.
func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"2026-11-20T10:00:30.123456Z", "2026-11-29 13:27:26,029", "1796045246.5", "1.796e9", "2026-02-30T00:00:00Z",
		"11/7/2026 9:0:3", "2026-11-07_10-11-05", "20261107T101105+0100", "Sun Nov 29 13:27:26 2026", "2026/1/2 3:04 UTC",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ts, ok := ParseTime(s, time.UTC)
		if !ok {
			require.Zero(t, ts)
			return
		}
		require.False(t, ts.AsTime().Before(minTime) || ts.AsTime().After(maxTime), "%q", s)
		if want, err := time.Parse(time.RFC3339Nano, s); err == nil {
			require.Equal(t, want.UnixNano(), ts.AsTime().UnixNano(), "%q", s)
		}
	})
}

// FuzzParseUID shows that a parsed uid writes the same text.
func FuzzParseUID(f *testing.F) {
	f.Add("run-1/0a1b2c3d/1f-00ff00ff")
	f.Add("a/b/0a1b2c3d/0-00000000/12")
	f.Fuzz(func(t *testing.T, s string) {
		if u, ok := ParseUID(s); ok {
			require.Equal(t, s, u.String())
		}
	})
}
