package trainrecord

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"
)

// times are texts with what they mean in Berlin, "" for those that mean nothing.
var times = map[string]string{
	"2026-11-20T10:00:30Z":           "2026-11-20T10:00:30Z",
	"2026-11-20T10:00:30.123456789Z": "2026-11-20T10:00:30.123456789Z",
	"2026-11-20T10:00:30.5+05:30":    "2026-11-20T04:30:30.5Z",
	"2026-11-20T10:00:30-08:00":      "2026-11-20T18:00:30Z",
	"2026-11-20T10:00:30.123+0100":   "2026-11-20T09:00:30.123Z",
	"2026-11-29 13:27:26,029":        "2026-11-29T12:27:26.029Z",
	"2026-07-29 13:27:26.029":        "2026-07-29T11:27:26.029Z",
	"2026-11-29T13:27:26":            "2026-11-29T12:27:26Z",
	"2026-11-29 13:27:26,029 UTC":    "2026-11-29T13:27:26.029Z",
	"2026-11-29 13:27:26 +01:00":     "2026-11-29T12:27:26Z",
	"2026-11-29 13:27:26 -0800":      "2026-11-29T21:27:26Z",
	"2026-11-29 13:27:26+02":         "2026-11-29T11:27:26Z",
	"2026-11-29 13:27:26 GMT":        "2026-11-29T13:27:26Z",
	"2026-11-29T13:27":               "2026-11-29T12:27:00Z",
	"2026/11/29 13:27:26.5":          "2026-11-29T12:27:26.5Z",
	"2026.11.29 13:27:26":            "2026-11-29T12:27:26Z",
	"2026-1-7 9:0:3":                 "2026-01-07T08:00:03Z",
	"11/7/2026 9:0:3":                "2026-11-07T08:00:03Z",
	"11/07/2026 09:00:03":            "2026-11-07T08:00:03Z",
	"7/4/2026 23:59:59":              "2026-07-04T21:59:59Z",
	"2026-11-07_10-11-05":            "2026-11-07T09:11:05Z",
	"2026-11-07_10:11:05":            "2026-11-07T09:11:05Z",
	"20261107T101105Z":               "2026-11-07T10:11:05Z",
	"20261107_101105":                "2026-11-07T09:11:05Z",
	"20261107-101105.25":             "2026-11-07T09:11:05.25Z",
	"Sun Nov 29 13:27:26 2026":       "2026-11-29T12:27:26Z",
	"Sat Nov  7 13:27:26 2026":       "2026-11-07T12:27:26Z",
	" 2026-11-29 13:27:26 ":          "2026-11-29T12:27:26Z",
	"2026-11-29 13:27:26 CET":        "",
	"2026-11-29 13:27:26 EST":        "",
	"29/11/2026 13:27:26":            "",
	"2026-11-29":                     "",
	"2026-11/29 13:27:26":            "",
	"2026-11-29 13:27:26,":           "",
	"2026-11-29 24:00:00":            "",
	"2026-11-29 13:27:26 +24:00":     "",
	"2026-11-29 13:27:26 +1":         "",
	"2026-11-29 13:27:26 0100":       "",
	"2026-11-29 13.27.26":            "",
	"2026-11-29 13-27-26":            "",
	"11/7/26 9:0:3":                  "",
	"1/2":                            "",
	"13:27:26":                       "",
	"1:2:3":                          "",
	"1979-12-31T23:59:59Z":           "",
	"2200-01-01T00:00:00.1Z":         "",
	"1796045246":                     "2026-11-30T13:27:26Z",
	"1796045246.1234567891":          "2026-11-30T13:27:26.123456789Z",
	"1796045246123":                  "2026-11-30T13:27:26.123Z",
	"1796045246123.5":                "2026-11-30T13:27:26.1235Z",
	"1796045246123456":               "2026-11-30T13:27:26.123456Z",
	"1796045246123456789":            "2026-11-30T13:27:26.123456789Z",
	"1.7960452465e9":                 "2026-11-30T13:27:26.5Z",
	"2026-02-29T00:00:00Z":           "",
	"2026-13-01T00:00:00Z":           "",
	"2026-11-20T25:00:30Z":           "",
	"yesterday":                      "",
	"":                               "",
	"12.5":                           "",
	"-1796045246":                    "",
	"1e400":                          "",
	"99999999999999999999":           "",
	"2026-11-20T10:00:30.Z":          "",
	"0x6b0d1e2e":                     "",
}

func TestTimes(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for text, want := range times {
		ts, ok := ParseTime(text, berlin)
		if want == "" {
			assert.False(t, ok, text)
			continue
		}
		require.True(t, ok, text)
		assert.Equal(t, want, ts.AsTime().Format(time.RFC3339Nano), text)
	}
}

func TestTimesFromNumbers(t *testing.T) {
	t.Parallel()
	v := pcommon.NewValueDouble(1796045246.25)
	ts, ok := TimeFromValue(v, nil)
	require.True(t, ok)
	assert.Equal(t, "2026-11-30T13:27:26.25Z", ts.AsTime().Format(time.RFC3339Nano))
	for _, n := range []int64{1796045246, 1796045246_000, 1796045246_000_000, 1796045246_000_000_000} {
		ts, ok = TimeFromValue(pcommon.NewValueInt(n), nil)
		require.True(t, ok)
		assert.Equal(t, pcommon.Timestamp(1796045246e9), ts, n)
	}
	_, ok = TimeFromValue(pcommon.NewValueBool(true), nil)
	assert.False(t, ok)
}

func TestUIDsSurviveTheRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		u := UID{
			RunID: rapid.String().Draw(rt, "run"), File: rapid.Uint32().Draw(rt, "file"),
			Offset: rapid.Int64Min(0).Draw(rt, "offset"), CRC: rapid.Uint32().Draw(rt, "crc"), Index: rapid.IntRange(0, 3).Draw(rt, "index"),
		}
		got, ok := ParseUID(u.String())
		require.True(rt, ok, u.String())
		require.Equal(rt, u, got)
	})
	for _, s := range []string{"", "x", "run/0a1b2c3d", "run/0a1b2c3/0-00000000", "run/0A1b2c3d/0-00000000", "run/0a1b2c3d/00-00000000", "run/0a1b2c3d/0-00000000/0", "run/0a1b2c3d/-1-00000000"} {
		_, ok := ParseUID(s)
		assert.False(t, ok, s)
	}
	assert.Equal(t, "run/e3b0c442/0-00000000", UID{RunID: "run", File: FileID(nil), CRC: LineCRC(nil)}.String())
	assert.Equal(t, uint32(0xe3069283), LineCRC([]byte("123456789")), "the check value of CRC-32C")
}

func record(t *testing.T, line, uid string) Record {
	t.Helper()
	l, lr := decode(t, line)
	require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
	if uid != "" {
		lr.Attributes().PutStr(AttrLogRecordUID, uid)
	}
	lr.SetObservedTimestamp(pcommon.NewTimestampFromTime(time.Now()))
	r, ok := FromLog(pcommon.NewResource(), lr)
	require.True(t, ok)
	return r
}

func TestIdentityOrder(t *testing.T) {
	t.Parallel()
	const head = `{"schema":"pathologize.ml.training/1","run_id":"r",`
	withSeq := head + `"event":"step.end","seq":4,"body":{"step":1}}`
	r := record(t, withSeq, "r/0a1b2c3d/1f-00ff00ff/2")
	assert.Equal(t, Identity{UID: UID{RunID: "r", File: 0x0a1b2c3d, Offset: 31, CRC: 0x00ff00ff, Index: 2}, HasUID: true}, r.Identity())
	r = record(t, withSeq, "somebody else's")
	assert.Equal(t, "u:somebody else's", r.Identity().Key)
	r = record(t, withSeq, "")
	assert.Equal(t, "s:r\x001\x000\x004\x00step.end", r.Identity().Key)

	base := record(t, head+`"event":"step.end","body":{"step":1,"measurements":{"a":1,"b":NaN}}}`, "")
	same := record(t, head+`"event":"step.end","body":{"measurements":{"b":NaN,"a":1},"step":1}}`, "")
	assert.Equal(t, base.Identity(), same.Identity(), "the order of keys is no part of it")
	for _, other := range []string{
		head + `"event":"step.end","body":{"step":1,"measurements":{"a":1.0,"b":NaN}}}`,
		head + `"event":"step.end","rank":1,"body":{"step":1,"measurements":{"a":1,"b":NaN}}}`,
		head + `"event":"step.end","part":"x","body":{"step":1,"measurements":{"a":1,"b":NaN}}}`,
		head + `"event":"step.end","attempt":2,"body":{"step":1,"measurements":{"a":1,"b":NaN}}}`,
		head + `"event":"step.end","ts":1796045246,"body":{"step":1,"measurements":{"a":1,"b":NaN}}}`,
		head + `"event":"epoch.end","body":{"step":1,"measurements":{"a":1,"b":NaN}}}`,
	} {
		r := record(t, other, "")
		assert.NotEqual(t, base.Identity(), r.Identity(), other)
	}
}

func TestOnlyEventsOfTheVocabularyAreRecords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"": false, "epoch.end": false, EventName("epoch.end"): true, EventName("teleport"): false, Namespace: false,
	} {
		lr := plog.NewLogRecord()
		lr.SetEventName(name)
		_, ok := FromLog(pcommon.NewResource(), lr)
		assert.Equal(t, want, ok, name)
	}
	lr := plog.NewLogRecord()
	PutErrorLog(lr, ReasonTorn, []byte("{"))
	r, ok := FromLog(pcommon.NewResource(), lr)
	require.True(t, ok)
	assert.Equal(t, ReasonTorn, r.Error)
	assert.Equal(t, int64(-1), r.Offset)
}

func TestNumbersOfValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"nan": true, "NaN": true, "-inf": true, "Infinity": true, "1.5": false, "info": false, "": false, "nano": false} {
		_, ok := Number(pcommon.NewValueStr(text))
		assert.Equal(t, want, ok, text)
	}
	for _, f := range []float64{1.5, 1e300, -1e300, 9.3e18, 1 << 63, -(1 << 63), math.NaN(), math.Inf(1)} {
		_, ok := Integer(pcommon.NewValueDouble(f))
		assert.False(t, ok, f)
	}
	n, ok := Integer(pcommon.NewValueDouble(3))
	assert.True(t, ok)
	assert.Equal(t, int64(3), n)
}

func TestOffListValuesBecomeOtherAndAreKept(t *testing.T) {
	t.Parallel()
	const head = `{"schema":"pathologize.ml.training/1","event":"run.end","run_id":"r",`
	for line, want := range map[string]struct {
		offList     int
		attrs, body map[string]any
	}{
		`"framework":"mine","phase":"warmup","body":{"task_family":"juggling","outcome":"meh"}}`: {
			4, map[string]any{AttrFramework: "other", AttrPhase: "other", AttrTaskFamily: "other", AttrRunOutcome: "other"},
			map[string]any{"task_family": "juggling", "outcome": "meh", "framework": map[string]any{"framework": "mine", "phase": "warmup"}},
		},
		`"framework":"keras","phase":"train","body":{"outcome":"success"}}`: {
			0, map[string]any{AttrFramework: "keras", AttrPhase: "train", AttrRunOutcome: "success"}, map[string]any{"outcome": "success"},
		},
		`"framework":"other","phase":"other"}`: {0, map[string]any{AttrFramework: "other", AttrPhase: "other"}, map[string]any{}},
		`"phase":"warmup","new":1,"body":{"framework":{"phase":"p"}}}`: {
			1, map[string]any{AttrPhase: "other"}, map[string]any{"framework": map[string]any{"phase": "p", "phase_": "warmup", "new": int64(1)}},
		},
		`"phase":"warmup","body":{"framework":"text"}}`: {
			1, map[string]any{AttrPhase: "other"}, map[string]any{"framework": map[string]any{"framework": "text", "phase": "warmup"}},
		},
	} {
		l, lr := decode(t, head+line)
		require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
		assert.Equal(t, want.offList, l.OffList, line)
		want.attrs[AttrRunID] = "r"
		assert.Equal(t, want.attrs, lr.Attributes().AsRaw(), line)
		assert.Equal(t, want.body, lr.Body().Map().AsRaw(), line)
	}
}

func TestTheFlawOfAValueOffItsListNamesItsKey(t *testing.T) {
	t.Parallel()
	const head = `{"schema":"pathologize.ml.training/1","event":"run.end","run_id":"r",`
	for line, want := range map[string]string{
		`"framework":"mine"}`:                    "framework or phase: want one of its list",
		`"phase":"warmup"}`:                      "framework or phase: want one of its list",
		`"body":{"outcome":"completed"}}`:        "body.outcome or .task_family: want one of its list",
		`"body":{"task_family":"juggling"}}`:     "body.outcome or .task_family: want one of its list",
		`"framework":"keras","body":{"note":1}}`: "",
	} {
		l, _ := decode(t, head+line)
		assert.Equal(t, want, l.Flaw, line)
	}
}

func TestKeysThatAreOverwrittenAreCounted(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		`"new":1,"new":2}`:                        1,
		`"new":1,"body":{"framework":{"new":2}}}`: 1,
		`"new":1,"body":{"framework":{"old":2}}}`: 0,
	} {
		l, _ := decode(t, `{"schema":"pathologize.ml.training/1","event":"log","run_id":"r",`+line)
		assert.Equal(t, want, l.DuplicateKeys, line)
	}
}
