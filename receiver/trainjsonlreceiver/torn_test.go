package trainjsonlreceiver

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const half = `{"ts":1790000000,"event":"log","body":{"i":7`

func TestTornLineIsNoRecordBeforeItsNewline(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		r.write("a/train.jsonl", rows(0, 1)+half)
		r.start()
		time.Sleep(9 * time.Minute)
		assert.Len(t, r.sink.got(), 1)
		r.append("a/train.jsonl", "}}\n"+rows(8, 1))
		time.Sleep(20 * time.Minute)
		r.stop()
		text := rows(0, 1) + half + "}}\n" + rows(8, 1)
		assert.Equal(t, offsetsOf(text), offsetsOfGot(r.sink.of("train.jsonl")))
		assert.Equal(t, "7", r.sink.got()[1].text)
	})
}

func TestSilentTornLineIsReportedOnceAndDeliveredWhenWhole(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		r.write("a/train.jsonl", rows(0, 1)+half)
		r.start()
		time.Sleep(11 * time.Minute)
		all := r.sink.got()
		require.Len(t, all, 2)
		assert.Equal(t, "torn", all[1].reason)
		assert.Equal(t, half, all[1].text)
		r.append("a/train.jsonl", "}") // still torn, at the same place
		time.Sleep(30 * time.Minute)
		r.stop()
		r.start() // and over a restart
		time.Sleep(30 * time.Minute)
		require.Len(t, r.sink.got(), 2)
		r.append("a/train.jsonl", "}\n")
		time.Sleep(time.Minute)
		r.stop()
		all = r.sink.got()
		require.Len(t, all, 3)
		assert.Equal(t, all[1].offset, all[2].offset)
		assert.Equal(t, "7", all[2].text)
		assert.NotEqual(t, all[1].uid, all[2].uid)
		r.telemetry(`otelcol_train_jsonl_bad_lines{reason="torn",receiver="train_jsonl"} 1`)
	})
}

func TestALineThatLacksItsNewlineAloneHasAnotherUIDWhenItIsWhole(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		r.write("a/train.jsonl", rows(0, 1)+half+"}}")
		r.start()
		time.Sleep(11 * time.Minute)
		r.append("a/train.jsonl", "\n")
		time.Sleep(time.Minute)
		r.stop()
		all := r.sink.got()
		require.Len(t, all, 3)
		assert.Equal(t, "torn", all[1].reason)
		assert.Equal(t, "7", all[2].text)
		assert.Equal(t, all[1].offset, all[2].offset)
		assert.NotEqual(t, all[1].uid, all[2].uid)
	})
}

func TestATornFirstLineDoesNotNameTheStream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		r.write("a/train.jsonl", half)
		r.start()
		time.Sleep(11 * time.Minute)
		require.Len(t, r.sink.got(), 1)
		r.append("a/train.jsonl", "}}\n")
		time.Sleep(time.Minute)
		r.stop()
		require.Len(t, r.sink.got(), 2)
		uid, ok := trainrecord.ParseUID(r.sink.got()[1].uid)
		require.True(t, ok)
		assert.Equal(t, trainrecord.FileID([]byte(half+"}}")), uid.File)
	})
}

func TestTornLineAfterRunEndIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	end := `{"ts":1790000000,"event":"run.end","body":{"outcome":"success"}}` + "\n"
	start := `{"ts":1790000000,"event":"run.start","body":{}}` + "\n"
	for name, c := range map[string]struct {
		text  string
		after time.Duration
		torn  bool
	}{
		"ended":               {end + half, 0, true},
		"started again":       {end + start + half, 0, false},
		"failed only":         {`{"ts":1790000000,"event":"run.failure","body":{}}` + "\n" + half, 0, false},
		"never without end":   {half, 0, false},
		"blanks are no line":  {end + "  ", time.Minute, false},
		"first line, silence": {half, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cfg.TornAfter = c.after
			synctest.Test(t, func(t *testing.T) {
				r.write("a/train.jsonl", c.text)
				r.start()
				time.Sleep(5*time.Second + c.after)
				r.stop()
				var torn []string
				for _, g := range r.sink.got() {
					if g.reason != "" {
						torn = append(torn, g.reason+" "+g.text)
					}
				}
				if c.torn {
					assert.Equal(t, []string{"torn " + half}, torn)
				} else {
					assert.Empty(t, torn)
				}
			})
		})
	}
}

func TestALineThatComesByteByByteIsOneRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	r.write("a/train.jsonl", "")
	tl := r.open()
	text := "\xef\xbb\xbf" + rows(0, 2)
	for i := range len(text) {
		r.append("a/train.jsonl", text[i:i+1])
		tl.step(ctx)
	}
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, []string{"@3 0", "@64 1"}, r.sink.of("train.jsonl"))
}

func TestAnUnterminatedLineThatIsRewrittenIsReadAsItIsThen(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"shorter":     "{}\n",
		"same size":   `{"i":9}` + strings.Repeat(" ", len(half)-8) + "\n",
		"two of them": `{"i":1}` + "\n" + `{"i":2,"pad":"` + strings.Repeat("x", 100) + `"}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			ctx := context.Background()
			r.write("a/train.jsonl", rows(0, 3)+half)
			tl := r.open()
			tl.step(ctx)
			r.write("a/train.jsonl", rows(0, 3)+text)
			tl.step(ctx)
			require.NoError(t, tl.close(ctx))
			assert.Equal(t, offsetsOf(rows(0, 3)+text), offsetsOfGot(r.sink.of("train.jsonl")))
			assert.Equal(t, int64(len(rows(0, 3)+text)), r.offset(tl, "a/train.jsonl"))
		})
	}
}

func TestALongLineThatGrowsIsLookedAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	long := strings.Repeat("y", 3*turnBytes)
	text := rows(0, 1) + `{"ts":1790000000,"event":"log","body":{"i":1,"pad":"`
	r.write("a/train.jsonl", text)
	tl := r.open()
	tl.step(ctx)
	counting := &countingFiles{fileSystem: osFiles{}}
	tl.handles.closeAll()
	tl.handles.fs = counting
	for i := 0; i < len(long); i += 1 << 14 {
		r.append("a/train.jsonl", long[i:i+1<<14])
		tl.step(ctx)
	}
	assert.Less(t, counting.read(), 2*len(long), "bytes of a line without end are read again and again")
	r.append("a/train.jsonl", `"}}`+"\n"+rows(2, 1))
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, []string{"0", "1", "2"}, []string{r.sink.got()[0].text, r.sink.got()[1].text, r.sink.got()[2].text})
	uid, ok := trainrecord.ParseUID(r.sink.got()[1].uid)
	require.True(t, ok)
	assert.Equal(t, int64(len(rows(0, 1))), uid.Offset)
}

// TestAStreamHasOneIDHoweverItsFirstLineIsRead: a carriage return where the part ends that identifies a stream is a part of it.
func TestAStreamHasOneIDHoweverItsFirstLineIsRead(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, at := range []int{trainrecord.MaxRaw - 2, trainrecord.MaxRaw - 1, trainrecord.MaxRaw} {
		text := strings.Repeat("x", at) + "\r" + strings.Repeat("y", 40000) + "\r\n" + rec1 + "\n"
		small := func(r *rig) { r.cfg.MaxLineSize = trainrecord.MaxRaw }
		whole := readAll(t, text, small).sink.got()
		require.Len(t, whole, 2)
		r := newRig(t)
		small(r)
		r.write("run7/train.jsonl", text[:30000])
		tl := r.open()
		tl.step(ctx)
		r.append("run7/train.jsonl", text[30000:])
		tl.step(ctx)
		require.NoError(t, tl.close(ctx))
		assert.Equal(t, whole, r.sink.got(), at)
	}
}
