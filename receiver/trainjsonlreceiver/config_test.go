package trainjsonlreceiver

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"

	"github.com/pathologize/otelcol-train/internal/componentkit"
)

func TestConfigReportsEveryMistakeAtOnce(t *testing.T) {
	t.Parallel()
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, confmap.NewFromStringMap(map[string]any{
		"include":             []any{"/x/[a"},
		"exclude":             []any{"/y/[b"},
		"start_at":            "end",
		"run_id":              map[string]any{"path_regex": `(?P<run>.*)`},
		"timezone":            "Nowhere/Town",
		"line_prefixes":       []any{"", "^(", "^(?P<host>x)"},
		"non_finite":          "drop",
		"torn_after":          "-1s",
		"max_line_size":       "1KiB",
		"max_in_flight_bytes": 10,
		"checkpoint_interval": "1ms",
		"poll_interval":       "0s",
	}).Unmarshal(cfg))
	err := cfg.Validate()
	require.Error(t, err)
	for _, want := range []string{
		"include: ", "exclude: ", "start_at: end would drop", "run_id: path_regex: name the group", `group "run" is none`,
		"timezone: ", "line_prefixes: entry 0 is empty", "line_prefixes: \"^(\"", `group "host" is neither`, `non_finite: want keep, null or string, got "drop"`, "torn_after: ",
		"max_line_size: ", "max_in_flight_bytes: ", "checkpoint_interval: ", "poll_interval: ",
	} {
		assert.ErrorContains(t, err, want)
	}
	for line := range strings.Lines(err.Error()) {
		key, _, _ := strings.Cut(line, ":")
		assert.Contains(t, "include exclude start_at run_id timezone line_prefixes non_finite torn_after max_line_size "+
			"max_in_flight_bytes checkpoint_interval poll_interval", key, "an error does not begin with its key: %s", line)
	}
}

func TestConfigSingleMistakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(*Config)
		want string
	}{
		"no include":      {func(c *Config) { c.Include = nil }, "include: name at least one glob"},
		"home, excluded":  {func(c *Config) { c.Exclude = []string{"~/old/*"} }, "exclude: ~ is not expanded"},
		"other start":     {func(c *Config) { c.StartAt = "middle" }, `start_at: want beginning, got "middle"`},
		"bad expression":  {func(c *Config) { c.RunID.PathRegex = "(" }, "run_id: path_regex: "},
		"line over 16MiB": {func(c *Config) { c.MaxLineSize = 16<<20 + 1 }, "max_line_size: "},
		"budget":          {func(c *Config) { c.MaxInFlightBytes = 1 << 20 }, "max_in_flight_bytes: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := createDefaultConfig().(*Config)
			cfg.Include = []string{"/data/*/train.jsonl"}
			require.NoError(t, cfg.Validate())
			c.edit(cfg)
			assert.ErrorContains(t, cfg.Validate(), c.want)
		})
	}
}

func TestConfigReadsUnits(t *testing.T) {
	t.Parallel()
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, confmap.NewFromStringMap(map[string]any{
		"include": []any{"/data/*/train.jsonl"}, "storage": "file_storage/x",
		"max_line_size": "8MiB", "max_in_flight_bytes": 32 << 20, "torn_after": "1h",
		"run_id": map[string]any{"path_regex": `(?P<run_id>[^/]+)/rank(?P<rank>\d+)/(?P<attempt>\d+)/(?P<part>\w+)`},
	}).Unmarshal(cfg))
	require.NoError(t, cfg.Validate())
	assert.Equal(t, componentkit.ByteSize(8<<20), cfg.MaxLineSize)
	assert.Equal(t, componentkit.ByteSize(32<<20), cfg.MaxInFlightBytes)
	assert.Equal(t, time.Hour, cfg.TornAfter)
	assert.Equal(t, component.MustNewIDWithName("file_storage", "x"), *cfg.Storage)
}

func TestPathID(t *testing.T) {
	t.Parallel()
	cfg := `(?P<run_id>[^/]*)/(?:rank(?P<rank>\d+)/)?(?:try(?P<attempt>\d+)/)?(?:(?P<part>fold=\d)/)?log\.jsonl$`
	for path, want := range map[string]pathID{
		"/d/r1/rank3/try2/fold=1/log.jsonl":        {run: "r1", rank: 3, attempt: 2, part: "fold=1"},
		"/d/r1/log.jsonl":                          {run: "r1", rank: -1},
		"/d/r1/try0/log.jsonl":                     {run: "r1", rank: -1},
		"/d/r1/rank99999999999999999999/log.jsonl": {run: "r1", rank: -1},
		"/d/r2/train.jsonl":                        {run: "r2", folder: true, rank: -1},
		"/d/r%é/train.jsonl":                       {run: "r%é", folder: true, rank: -1},
		"/d/é\xe9/train.jsonl":                     {run: "é%E9", folder: true, rank: -1},
		"/d/r\xff/train.jsonl":                     {run: "r%FF", folder: true, rank: -1},
		"/train.jsonl":                             {rank: -1},
		"train.jsonl":                              {rank: -1},
		"../train.jsonl":                           {rank: -1},
		"//log.jsonl":                              {rank: -1},
	} {
		assert.Equal(t, want, newPathID(regexp.MustCompile(cfg), path), path)
	}
}

func TestMarkSurvivesStorage(t *testing.T) {
	t.Parallel()
	m := mark{
		Path: "/a/\xff", Origin: "/b/\xfe", Born: 5, Offset: 2000, Before: 1 << 63, HeadLen: 1024, Head: 1<<64 - 1,
		FileID: 1 << 31, HasFile: true, Text: 3, From: 2, Torn: 2000, Ended: true, Run: "r\xff", GoneTime: 9,
		Was: &mark{Path: "/a/\xff", Offset: 20, Before: 7, HeadLen: 20, Head: 8, Text: 6, From: 6, Torn: noTorn, GoneTime: time.Now().Unix()},
	}
	back, unread, err := decodeMark(encodeMark(m, 77))
	require.NoError(t, err)
	assert.EqualValues(t, 77, unread)
	assert.Equal(t, m, back)
	m.Was.GoneTime -= int64(goneFor / time.Second)
	back, _, err = decodeMark(encodeMark(m, 0))
	require.NoError(t, err)
	assert.Nil(t, back.Was, "a day is over")
	m.Was.Unread = 5
	back, _, err = decodeMark(encodeMark(m, 0))
	require.NoError(t, err)
	assert.Equal(t, m, back, "bytes of it are still to be counted")
	for _, text := range []string{
		"", "x", "{}", `{"v":1}`, `{"v":2,"offset":-1}`, `{"v":2,"offset":10,"head_len":11}`, `{"v":2,"offset":5000,"head_len":1025}`, `{"v":2,"unread":-1}`, `{"v":2,"was":{"offset":-1}}`,
	} {
		_, _, err := decodeMark([]byte(text))
		assert.Error(t, err, text)
	}
}
