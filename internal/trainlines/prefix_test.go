package trainlines

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func mustPrefixes(t *testing.T) []Prefix {
	t.Helper()
	list, err := CompilePrefixes([]string{PrefixesKnown})
	require.NoError(t, err)
	return list
}

func TestKnownPrefixes(t *testing.T) {
	t.Parallel()
	list := mustPrefixes(t)
	const at = "2026-11-29T13:27:26"
	for text, want := range map[string]Prefixed{
		":::MLLOG ":               {Rank: -1},
		"DLLL ":                   {Rank: -1},
		"[rank3]: ":               {Rank: 3},
		"[rank12]:":               {Rank: 12},
		"[default0]:":             {Rank: 0},
		"[trainer7]: ":            {Rank: 7},
		"slurm_procid 0 : ":       {Rank: 0},
		"slurm_procid 15: ":       {Rank: 15},
		"0: ":                     {Rank: 0},
		"  3: ":                   {Rank: 3},
		"[1,5]<stdout>:":          {Rank: 5},
		"[1,5]<stderr>: ":         {Rank: 5},
		"[job-h-1@1,2]<stdout>: ": {Rank: 2},
		"[4]<stdout>:":            {Rank: 4},
		"(pid=45601) ":            {Rank: -1},
		"(RayTrainWorker pid=1234, ip=10.0.0.1) ":                      {Rank: -1},
		"(train_fn() pid=12) ":                                         {Rank: -1},
		"\x1b[36m(MyActor pid=1)\x1b[0m ":                              {Rank: -1},
		at + ".123456789Z stdout F ":                                   {Rank: -1, Time: at + ".123456789Z"},
		at + ".1+01:00 stderr P ":                                      {Rank: -1, Time: at + ".1+01:00"},
		"[pod/train-0/main] ":                                          {Rank: -1},
		"trainer-1  | ":                                                {Rank: -1},
		"2026-11-29 13:27:26 | INFO | train | ":                        {Rank: -1, Time: "2026-11-29 13:27:26"},
		"2026-11-29 13:27:26 | INFO | fairseq.tasks.translation | ":    {Rank: -1, Time: "2026-11-29 13:27:26"},
		"2026-11-29 13:27:26.029 | INFO     | __main__:<module>:10 - ": {Rank: -1, Time: "2026-11-29 13:27:26.029"},
		"2026-11-29 13:27:26,029 - root - INFO - ":                     {Rank: -1, Time: "2026-11-29 13:27:26,029"},
		"2026-11-29 13:27:26,029 - ":                                   {Rank: -1, Time: "2026-11-29 13:27:26,029"},
		"[2026-11-29 13:27:26,029][root][INFO] - ":                     {Rank: -1, Time: "2026-11-29 13:27:26,029"},
		"[2026-11-29 13:27:26] ":                                       {Rank: -1, Time: "2026-11-29 13:27:26"},
		"2026-11-29 13:27:26,029 INFO ":                                {Rank: -1, Time: "2026-11-29 13:27:26,029"},
		"2026-11-29 13:27:26,029 [INFO] train: ":                       {Rank: -1, Time: "2026-11-29 13:27:26,029"},
		at + "Z WARNING: ":                                             {Rank: -1, Time: at + "Z"},
		"[INFO|trainer.py:4226] 2026-11-29 13:27:26,029 >> ":           {Rank: -1, Time: "2026-11-29 13:27:26,029"},
		"[NeMo I 2026-11-29 13:27:26 exp_manager:12] ":                 {Rank: -1, Time: "2026-11-29 13:27:26"},
		"I1129 13:27:26.029123 140123 train.py:12] ":                   {Rank: -1},
		"INFO:root:":           {Rank: -1},
		"WARNING:train.loop: ": {Rank: -1},
		"slurm_procid 2 : 2026-11-29 13:27:26 | INFO | train | ":            {Rank: 2, Time: "2026-11-29 13:27:26"},
		at + "Z stdout F [rank1]: 2026-11-29 13:27:27 | INFO | :::MLLOG ":   {Rank: 1, Time: "2026-11-29 13:27:27"},
		"0: \x1b[36m(A pid=1)\x1b[0m 2026-11-29 13:27:26,029 - a - INFO - ": {Rank: 0, Time: "2026-11-29 13:27:26,029"},
	} {
		rest, got := StripPrefixes(list, []byte(text+`{"loss":1}`))
		assert.Equal(t, `{"loss":1}`, string(rest), "%q", text)
		assert.Equal(t, want, got, "%q", text)
		if got.Time != "" {
			_, ok := trainrecord.ParseTime(got.Time, time.UTC)
			assert.True(t, ok, "%q is no time", got.Time)
		}
	}
}

func TestFirstBytes(t *testing.T) {
	t.Parallel()
	for re, want := range map[string]string{
		`^abc`: "a", `^(?P<rank>\d)x`: "0123456789", `^a?b`: "ab", `^a*(b|c)`: "abc", `^(a|)b`: "ab", `^[ab]{0,2}c`: "abc", `^[ab]{1,2}c`: "ab",
		`^\x1b`: "\x1b", `^é`: "\xc3", `^(?:^a|b)+c`: "ab",
	} {
		set := firstBytes(re)
		for b, in := range set {
			assert.Equal(t, strings.IndexByte(want, byte(b)) >= 0, in, "%s: %q", re, b)
		}
	}
	for _, re := range []string{`^`, `^.`, `^(?i)a`, `^a*`, `^(a|)`, `^\bx`} {
		assert.True(t, firstBytes(re)['z'], re)
	}
	assert.True(t, firstBytes(`^[^a]`)[0xff])
	assert.False(t, firstBytes(`^[^a]`)['a'])
}

func TestTextThatIsNoPrefixStays(t *testing.T) {
	t.Parallel()
	list := mustPrefixes(t)
	for _, text := range []string{
		"config: ", "Epoch 3: ", "[epoch3]: ", "loss=0.5 ", "rank0: ", "DLL 2026-11-29 ", "INFO ", "2026-11-29 ", "12:30:00 ", "{'a': 1} ", "| ",
		"2026-11-29 13:27:26 | INFO | saved with \"", "2026-11-29 13:27:26 saved ", "{", "",
	} {
		rest, _ := StripPrefixes(list, []byte(text+`{"loss":1}`))
		if text != "" {
			assert.NotEqual(t, `{"loss":1}`, string(rest), "%q", text)
		}
	}
}

func TestAnExpressionMatchesAtTheStartOnly(t *testing.T) {
	t.Parallel()
	list, err := CompilePrefixes([]string{`^A: |B: `, "^(?m:^)D: "})
	require.NoError(t, err)
	for line, want := range map[string]string{
		"A: {}": "{}", "B: {}": "{}", "x B: {}": "x B: {}", "D: {}": "{}", "x D: {}": "x D: {}", "D x B: {}": "D x B: {}", "A B: {}": "A B: {}",
	} {
		got, _ := StripPrefixes(list, []byte(line))
		assert.Equal(t, want, string(got), line)
	}
}
