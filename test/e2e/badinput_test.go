package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpclient"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
)

const metricBadLines = "otelcol_train_jsonl_bad_lines"

// TestBadLinesAreCountedByReasonAndCostNothingElse mixes every kind of bad line into a good stream.
func TestBadLinesAreCountedByReasonAndCostNothingElse(t *testing.T) {
	t.Parallel()
	bad := map[string]string{
		"not_json":      "Epoch 1/3: loss 0.5",
		"not_object":    `["a", 1]`,
		"trailing_data": `{"a": 1} x`,
		"nul_bytes":     strings.Repeat("\x00", 4096),
		"python_repr":   `{'loss': 0.5, 'epoch': 1.0}`,
		"wrong_type":    `{"schema":"pathologize.ml.training/1","event":"epoch.end","run_id":"native-7f3a9c","rank":"one"}`,
		"too_deep":      strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000),
		"too_long":      `{"a":"` + strings.Repeat("x", 17<<20) + `"}`,
	}
	f := newFolders(t)
	tr := newTrainer(t, f, "native-7f3a9c")
	c := quickstart(t, f)
	c.Start()
	lines := sample(t, "native")
	tr.lines(lines[0], "", "\xff\xfe not UTF-8", `{"half": `)
	for _, line := range bad {
		tr.lines(line)
	}
	tr.lines(`{"schema":"pathologize.ml.training/1","event":"heartbeat","run_id":"native-7f3a9c","seq":50,"ts":"yesterday"}`)
	tr.lines(lines[1:]...)
	requireResult(t, f, liveRuns[0])
	c.WaitMetric("otelcol_train_jsonl_flaws", map[string]string{"kind": "field_dropped"}, 1, 10*time.Second)
	assert.Contains(t, c.Logs(), `"key": "ts: want RFC 3339`, "the log names what was left out, and what is wanted")
	for reason := range bad {
		want := 1.0
		if reason == "not_json" {
			want = 3
		}
		c.WaitMetric(metricBadLines, map[string]string{"reason": reason}, want, 10*time.Second)
		m := c.Metrics()
		assert.InDelta(t, want, m.Sum(metricBadLines, map[string]string{"reason": reason}), 0, reason)
	}
	assert.Less(t, strings.Count(c.Logs(), tr.path), 5, "more than a line a minute about one file")
	assert.NotContains(t, c.Logs(), "Epoch 1/3", "the content of a line is in the log")
}

// TestABadLineReachesTheBackendAsTheBeginningOfItsText wants a log event with the reason and 4 KiB of the line, whatever is wrong with it.
func TestABadLineReachesTheBackendAsTheBeginningOfItsText(t *testing.T) {
	t.Parallel()
	rest := strings.Repeat("x", 5000)
	bad := map[string]string{
		"not_json":      "Epoch 1/3: " + rest,
		"not_object":    `["` + rest + `"]`,
		"trailing_data": `{"a": 1} ` + rest,
		"wrong_type":    `{"schema":"pathologize.ml.training/1","event":"epoch.end","part":["` + rest + `"]}`,
		"too_deep":      strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000),
		"too_long":      `{"a":"` + strings.Repeat("x", 17<<20) + `"}`,
	}
	sink := otlpsink.Start(t, otlpsink.Accept)
	f := newFolders(t)
	env := f.env(t)
	env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
	collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env, YAML: "processors: {batch: {timeout: 100ms}}\n"})
	tr := newTrainer(t, f, "bad")
	for _, line := range bad {
		tr.lines(line)
	}
	require.Eventually(t, func() bool { return len(sink.LogRecords()) >= len(bad) }, resultWithin, 20*time.Millisecond)
	got := map[string]string{}
	for _, lr := range sink.LogRecords() {
		reason, _ := lr.Attributes().Get(trainrecord.AttrRecordError)
		message, _ := lr.Body().Map().Get("message")
		assert.Equal(t, trainrecord.EventName(trainrecord.EventLog), lr.EventName())
		got[reason.Str()] = message.Str()
	}
	want := map[string]string{}
	for reason, line := range bad {
		want[reason] = line[:4096]
	}
	assert.Equal(t, want, got)
}

// TestHostileRunIDsStayInTheResultsFolder writes runs whose ids are paths, names of devices, or clash but for their case.
func TestHostileRunIDsStayInTheResultsFolder(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	ids := []string{
		"../../escape", "/etc/passwd", "..", ".", "a/b", `a\\b`, "con", "Run-1", "run-1", "run-1.", "ünï", "unï", "x\\u0000y",
		strings.Repeat("long", 75), "run-1-0123456789ab", ".dvc_result",
	}
	for i, id := range ids {
		newTrainer(t, f, "writer-"+string(rune('a'+i))).lines(
			`{"schema":"pathologize.ml.training/1","event":"epoch.end","run_id":"`+id+`","seq":1,"body":{"epoch":0,"measurements":{"val/loss":1}}}`,
			`{"schema":"pathologize.ml.training/1","event":"run.end","run_id":"`+id+`","seq":2,"body":{"outcome":"success"}}`)
	}
	quickstart(t, f).Start()
	require.Eventually(t, func() bool {
		found, err := filepath.Glob(filepath.Join(f.Results, "*", "result.json"))
		return err == nil && len(found) == len(ids)
	}, resultWithin, 50*time.Millisecond, "want a folder of its own for each of %d ids", len(ids))
	entries, err := os.ReadDir(f.Results)
	require.NoError(t, err)
	for _, e := range entries {
		assert.Regexp(t, `^(\.dvc_result|[a-z0-9]([a-z0-9._-]{0,78}[a-z0-9])?)$`, e.Name())
	}
	beside, err := os.ReadDir(filepath.Dir(f.Results))
	require.NoError(t, err)
	assert.Len(t, beside, 3, "something was written outside the results folder")
}

// TestAFileThatCannotBeReadIsCountedAndCostsNoOther puts a link that leads to itself, and one to a name that no file system has, beside a run.
func TestAFileThatCannotBeReadIsCountedAndCostsNoOther(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	links := map[string]string{"endless": "train.jsonl", "unheard": strings.Repeat("x", 300)}
	for run, target := range links {
		require.NoError(t, os.MkdirAll(filepath.Join(f.Runs, run), 0o755))
		require.NoError(t, os.Symlink(target, filepath.Join(f.Runs, run, "train.jsonl")))
	}
	c := quickstart(t, f)
	c.Start()
	newTrainer(t, f, "native-7f3a9c").lines(sample(t, "native")...)
	requireResult(t, f, liveRuns[0])
	c.WaitMetric("otelcol_train_jsonl_skipped_files", map[string]string{"reason": "link_loop"}, 1, 30*time.Second)
	c.WaitMetric("otelcol_train_jsonl_discovery_errors", map[string]string{"reason": "io"}, 1, 30*time.Second)
	for run := range links {
		assert.Contains(t, c.Logs(), filepath.Join(f.Runs, run, "train.jsonl"))
	}
}

// TestARecordWithoutARunIsCounted sends one over OTLP, where no path names the run.
func TestARecordWithoutARunIsCounted(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	env := f.env(t)
	c := collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env})
	ld := plog.NewLogs()
	ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().SetEventName(trainrecord.EventName(trainrecord.EventEpochEnd))
	client := otlpclient.Connect(t, env["OTLP_ENDPOINT"])
	require.NoError(t, client.Logs(t.Context(), ld), "bad input is no error of the sender's call")
	c.WaitMetric("otelcol_dvc_result_ignored_records", map[string]string{"reason": "no_run_id"}, 1, 10*time.Second)
}

// TestAFolderThatIsMissingAtStartIsFoundLater starts before the first run exists.
func TestAFolderThatIsMissingAtStartIsFoundLater(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	require.NoError(t, os.RemoveAll(f.Runs))
	quickstart(t, f).Start()
	newTrainer(t, f, "native-7f3a9c").lines(sample(t, "native")...)
	requireResult(t, f, liveRuns[0])
}

// TestResultsThatCannotBeWrittenAreWrittenLater takes the results folder away while the collector runs and puts a file in its place.
func TestResultsThatCannotBeWrittenAreWrittenLater(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	c := quickstart(t, f)
	c.Start()
	require.NoError(t, os.RemoveAll(f.Results))
	require.NoError(t, os.WriteFile(f.Results, []byte("in the way"), 0o600))
	newTrainer(t, f, "native-7f3a9c").lines(sample(t, "native")...)
	c.WaitMetric("otelcol_dvc_result_write_errors", nil, 1, resultWithin)
	require.NoError(t, os.Remove(f.Results))
	requireResult(t, f, liveRuns[0])
}

// TestResultsGoToTheFolderThatHasTheName moves the results folder away and makes a new one, as somebody does who wants to start afresh.
func TestResultsGoToTheFolderThatHasTheName(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	quickstart(t, f).Start()
	newTrainer(t, f, "hf").lines(sample(t, "hf-transformers")...)
	waitResult(t, f, "hf", "success")
	require.NoError(t, os.Rename(f.Results, f.Results+".old"))
	require.NoError(t, os.Mkdir(f.Results, 0o755))
	newTrainer(t, f, "native-7f3a9c").lines(sample(t, "native")...)
	requireResult(t, f, liveRuns[0])
	waitResult(t, f, "hf", "success")
	assert.NoDirExists(t, filepath.Join(f.Results+".old", "native-7f3a9c"))
}

// TestAFileWhereTheResultsFolderShouldBeIsAClearError starts with a mistake that no waiting mends.
func TestAFileWhereTheResultsFolderShouldBeIsAClearError(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	require.NoError(t, os.WriteFile(f.Results, []byte("in the way"), 0o600))
	c := quickstart(t, f)
	require.NoError(t, c.Launch())
	require.Error(t, c.Wait(30*time.Second))
	assert.Contains(t, c.Logs(), "directory: ")
	assert.Contains(t, c.Logs(), f.Results)
}

// TestMistakesInAConfigurationSayWhatToDo wants a message for each mistake that names the place and says what is wanted there.
func TestMistakesInAConfigurationSayWhatToDo(t *testing.T) {
	t.Parallel()
	profile := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(profile, []byte("profile: mine\nrulez: []\n"), 0o600))
	for name, tc := range map[string]struct{ yaml, want string }{
		"no include":        {"receivers: {train_jsonl: {include: []}}", "include: name at least one glob, such as /data/runs/*/train.jsonl"},
		"bad glob":          {`receivers: {train_jsonl: {include: ["[a"]}}`, "close its brackets and braces or escape them"},
		"start at the end":  {"receivers: {train_jsonl: {start_at: end}}", "use beginning"},
		"bad run id regex":  {`receivers: {train_jsonl: {run_id: {path_regex: "("}}}`, "path_regex: error parsing regexp: missing closing )"},
		"regex without run": {`receivers: {train_jsonl: {run_id: {path_regex: "/runs/(.*)"}}}`, "path_regex: name the group of the run: (?P<run_id>...)"},
		"bad time zone":     {"receivers: {train_jsonl: {timezone: Mars/Olympus}}", "timezone: want a name such as UTC, Local or Europe/Berlin"},
		"unknown key":       {"receivers: {train_jsonl: {includes: [a]}}", "has invalid keys: includes"},
		"no directory":      {`exporters: {dvc_result: {directory: ""}}`, "directory: want the folder that receives the results, such as "},
		"no unit":           {"exporters: {dvc_result: {idle_timeout: 30}}", "with a unit such as 30m"},
		"home of a shell":   {`receivers: {train_jsonl: {include: ["~/runs/*.jsonl"]}}`, "~ is not expanded, write ${env:HOME} instead"},
		"negative time":     {"exporters: {dvc_result: {idle_timeout: -1s}}", "idle_timeout: want at least 10ms, with a unit such as 30m"},
		"missing profile":   {`processors: {training_norm: {profiles: [/nowhere/p.yaml]}}`, "want the path of a profile that can be read"},
		"bad profile":       {`processors: {training_norm: {profiles: ["` + profile + `"]}}`, "rulez: unknown key (line 2); known are profile, "},
		"bad policy": {"processors: {cardinality_guard: {policy: {deny: [run_id]}}}\nreceivers: {otlp: {protocols: {http: {}}}}\nexporters: {debug: {}}\n" +
			"service: {pipelines: {metrics: {receivers: [otlp], processors: [cardinality_guard], exporters: [debug]}}}", "policy: deny: unknown key, want one of attributes, "},
		"no queue": {"connectors: {isolate: {max_bytes: 0}}\nservice: {pipelines: {logs: {exporters: [dvc_result, isolate]}, logs/b: {receivers: [isolate], exporters: [dvc_result]}}}", "max_bytes: want a size above 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := collector.Options{Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: newFolders(t).env(t), YAML: tc.yaml + "\n"}
			out, err := collector.Validate(t, opts)
			if err == nil { // what only the start can know
				c := collector.New(t, opts)
				require.NoError(t, c.Launch())
				err = c.Wait(30 * time.Second)
				out = c.Logs()
			}
			require.Error(t, err)
			assert.Contains(t, out, tc.want)
		})
	}
}
