package trainrecord

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// requireOneRecord holds DecodeRecord to Decode and FromLog: one line is one record, whoever asks for it.
func requireOneRecord(t *testing.T, d *Decoder, line []byte) (l Line) {
	t.Helper()
	lr, res := plog.NewLogRecord(), pcommon.NewResource()
	l = d.Decode(line, lr)
	l.Resource = nil // valid until the next line
	d.PutResource(res.Attributes())
	want, _ := FromLog(res, lr)

	bare, got := plog.NewLogRecord(), Record{RunID: "of the line before", Rank: 7, Misfits: 1, Host: "h"}
	direct := d.DecodeRecord(line, bare, &got)
	direct.Resource = nil
	require.Equal(t, fmt.Sprint(l), fmt.Sprint(direct), "%s", line)
	if l.Kind != LineRecord {
		require.Equal(t, "of the line before", got.RunID, "only a record is written")
		require.Equal(t, rawText(lr.Attributes()), rawText(bare.Attributes()))
		require.Equal(t, fmt.Sprint(lr.Body().AsRaw()), fmt.Sprint(bare.Body().AsRaw()))
		return l
	}
	got.SetResource(res)
	require.Equal(t, rawText(want.Body), rawText(got.Body), "%s", line)
	require.Equal(t, rawText(want.Resource), rawText(got.Resource))
	want.Body, got.Body, want.Resource, got.Resource = pcommon.Map{}, pcommon.Map{}, pcommon.Map{}, pcommon.Map{}
	require.Equal(t, want, got, "%s", line)
	return l
}

// rawText spells a map so that NaN equals itself.
func rawText(m pcommon.Map) string { return fmt.Sprint(m.AsRaw()) }

func TestARecordIsTheSameWithoutItsLogRecord(t *testing.T) {
	t.Parallel()
	values := map[string][]string{
		KeyTS: {`1790000000.25`, `"2026-11-29T00:00:00Z"`, `"never"`}, KeyEvent: {`"epoch.end"`, `"step.end"`, `"run.end"`, `"log"`, `"stream.status"`, `"my.event"`, `7`},
		KeySchema: {`"pathologize.ml.training/1"`, `3`}, KeyRunID: {`"r"`, `""`, `5`}, KeyPart: {`"fold=1"`, `null`}, KeyHost: {`"node-1"`, `1`},
		KeyFramework: {`"lightning"`, `"mine"`, `"other"`}, KeyPhase: {`"train"`, `"warm up"`, `{}`}, KeySeverity: {`"DEBUG"`, `"warning"`, `"loud"`},
		KeyTraceID: {`"0af7651916cd43dd8448eb211c80319c"`, `"x"`}, KeySpanID: {`"b7ad6b7169203331"`}, KeyAttempt: {`2`, `0`}, KeySeq: {`9`}, KeyRank: {`0`, `3`},
		KeyResource: {`{"host.name":"a","process.pid":7}`, `{"pathologize.ml.training.run.id":"x"}`, `[]`}, "mine": {`[1,{"a":2}]`},
		KeyBody: {`{"epoch":3,"measurements":{"val/loss":NaN},"learning_rate":{"a":0.1}}`, `{"outcome":"success","task_family":"cooking"}`, `{"outcome":"well","planned_epochs":-1}`,
			`{"epoch":1,"epoch":2}`, `{"metrics":[` + strings.Repeat("1,", MaxElements) + `1]}`, `7`, `{}`},
	}
	d, random := NewDecoder(DecoderOptions{}), rand.New(rand.NewPCG(1, 2))
	kinds := map[LineKind]int{}
	for range 5_000 {
		var keys []string
		for _, key := range []string{KeySchema, KeyTS, KeyEvent, KeyRunID, KeyPart, KeyHost, KeyFramework, KeyPhase, KeySeverity, KeyTraceID, KeySpanID,
			KeyAttempt, KeySeq, KeyRank, KeyResource, "mine", KeyBody} {
			few := key != KeyTS && key != KeyEvent && key != KeyRunID && key != KeyBody
			if of := values[key]; random.IntN(10) >= 1 && (!few || random.IntN(2) == 0) {
				at := int(math.Abs(random.NormFloat64())) % len(of) // the first ones mostly
				keys = append(keys, fmt.Sprintf("%q:%s", key, of[at]))
			}
		}
		kinds[requireOneRecord(t, d, []byte("{"+strings.Join(keys, ",")+"}")).Kind]++
	}
	for _, kind := range []LineKind{LineError, LineObject, LineRecord} {
		require.Greater(t, kinds[kind], 100)
	}
}
