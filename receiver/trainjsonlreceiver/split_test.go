package trainjsonlreceiver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainlines"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// shown gives "@offset reason text" of every delivered record of a file.
func (k *sink) shown() []string {
	var out []string
	for _, g := range k.got() {
		out = append(out, strings.TrimSpace(fmt.Sprintf("@%d %s", g.offset, strings.TrimSpace(g.reason+" "+g.text))))
	}
	return out
}

const (
	rec1 = `{"ts":1790000000,"event":"log","run_id":"r","body":{"i":1}}`
	rec2 = `{"ts":1790000000,"event":"log","run_id":"r","body":{"i":2}}`
)

func nul(n int) string { return strings.Repeat("\x00", n) }

// onALine are lines, and what is delivered of each: "@offset reason text", or the number of an object.
var onALine = map[string]struct {
	text string
	want []string
}{
	// Objects glued together.
	"two":                      {`{"i":1}{"i":2}`, []string{"@0 1", "@7 2"}},
	"blanks between":           {`{"i":1} ` + "\t" + `{"i":2} `, []string{"@0 1", "@9 2"}},
	"three records":            {rec1 + rec2 + rec1, []string{"@0 1", "@59 2", "@118 1"}},
	"braces in texts":          {`{"a":"}{","i":1}{"i":2}`, []string{"@0 1", "@16 2"}},
	"prefixes of their own":    {`[rank0]: {"i":1}[rank1]: {"i":2}`, []string{"@0 1", "@16 2"}},
	"mark between":             {"{\"i\":1}\xef\xbb\xbf{\"i\":2}", []string{"@0 1", "@10 2"}},
	"mark in the middle":       {"{\"i\":1}\n\xef\xbb\xbf{\"i\":2}", []string{"@0 1", "@11 2"}},
	"second is torn":           {`{"i":1}{"i":`, []string{"@0 1", `@7 not_json {"i":`}},
	"second has rest":          {`{"i":1}{"i":2}x`, []string{"@0 1", `@7 trailing_data {"i":2}x`}},
	"wrong type in the second": {rec1 + strings.Replace(rec2, `"event"`, `"attempt":0,"event"`, 1), []string{"@0 1", `@59 wrong_type {"ts":1790000000,"attempt":0,"event":"log","run_id":"r","body":{"i":2}}`}},
	// In doubt: nothing is taken out of it.
	"object and text":       {`{"i":1}text`, []string{`@0 trailing_data {"i":1}text`}},
	"object and comma":      {`{"i":1},`, []string{`@0 trailing_data {"i":1},`}},
	"text and object":       {`text{"i":1}`, []string{`@0 not_json text{"i":1}`}},
	"halves of two writers": {`{"i":{"loss":12}.5,"e":1}`, []string{`@0 not_json {"i":{"loss":12}.5,"e":1}`}},
	"complete by chance":    {`{"loss":12}.5,"e":1}`, []string{`@0 trailing_data {"loss":12}.5,"e":1}`}},
	"array":                 {`[{"i":1}]`, []string{`@0 not_object [{"i":1}]`}},
	// A record of the vocabulary says what it is.
	"torn, then a record":           {`{"ts":1790000000,"event":"epoch.end","bo` + rec2, []string{`@0 not_json {"ts":1790000000,"event":"epoch.end","bo`, "@40 2"}},
	"text, then a record":           {`Epoch 3 done` + rec2, []string{"@0 not_json Epoch 3 done", "@12 2"}},
	"object, text, record":          {`{"i":1}x` + rec2, []string{`@0 trailing_data {"i":1}x`, "@8 2"}},
	"torn, record, text":            {`{"i":` + rec2 + "x", []string{`@0 not_json {"i":`, `@5 trailing_data ` + rec2 + "x"}},
	"nested record is no record":    {`{"a":` + rec1 + `}`, []string{"@0"}},
	"record in a message is a text": {`{"message":"` + strings.ReplaceAll(rec1, `"`, `\"`) + `"}`, []string{"@0 " + rec1}},
	// A known text behind other text.
	"marker behind text":            {`step 3:::MLLOG {"i":1}`, []string{"@0 not_json step 3", "@6 1"}},
	"marker without object":         {`step 3:::MLLOG nothing`, []string{"@0 not_json step 3:::MLLOG nothing"}},
	"marker behind torn":            {`{"a":1:::MLLOG {"i":1}`, []string{`@0 not_json {"a":1`, "@6 1"}},
	"marker that failed to convert": {`:::MLLOG [convert-error: x]`, []string{"@0 not_json :::MLLOG [convert-error: x]"}},
	// NUL bytes.
	"leading":        {nul(3) + `{"i":1}`, []string{"@0 nul_bytes", "@3 1"}},
	"trailing":       {`{"i":1}` + nul(3), []string{"@0 1", "@7 nul_bytes"}},
	"between":        {`{"i":1}` + nul(3) + `{"i":2}`, []string{"@0 1", "@7 nul_bytes", "@10 2"}},
	"after torn":     {`{"i":` + nul(5) + `{"i":2}`, []string{`@0 not_json {"i":`, "@5 nul_bytes", "@10 2"}},
	"only":           {nul(5), []string{"@0 nul_bytes"}},
	"with blanks":    {" " + nul(2) + " \r", []string{"@1 nul_bytes"}},
	"hole":           {nul(100) + `{"i":1}`, []string{"@0 nul_bytes", "@100 1"}},
	"hole, record":   {"{\"i\":1}\n" + nul(9000) + `{"i":2}`, []string{"@0 1", "@8 nul_bytes", "@9008 2"}},
	"hole, nothing":  {nul(9000), []string{"@0 nul_bytes"}},
	"binary":         {strings.Repeat("a\x00\x00b", 20), []string{"@0 nul_bytes " + strings.Repeat("a\x00\x00b", 20)}},
	"hole in a text": {`{"a":"x` + nul(4) + `y"}`, []string{`@0 not_json {"a":"x`, "@7 nul_bytes", `@11 not_json y"}`}},
	// Python.
	"repr":                 {`{'loss': 0.5, 'epoch': 1.0}`, []string{`@0 python_repr {'loss': 0.5, 'epoch': 1.0}`}},
	"repr behind a prefix": {`[rank0]: {'loss': nan}`, []string{`@0 python_repr [rank0]: {'loss': nan}`}},
	// Colours.
	"coloured":          {"\x1b[36m(RayTrainWorker pid=12, ip=10.0.0.1)\x1b[0m {\"i\":1}\x1b[0m\r", []string{"@0 1"}},
	"coloured and more": {"\x1b[1;32m{\"i\":1}\x1b[0m{\"i\":2}", []string{"@0 1", "@18 2"}},
}

func TestWhatIsOnALine(t *testing.T) {
	t.Parallel()
	for name, c := range onALine {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readAll(t, c.text+"\n"+rec1+"\n", func(r *rig) { r.cfg.MaxLineSize = 4096 })
			assert.Equal(t, append(c.want, fmt.Sprintf("@%d 1", len(c.text)+1)), r.sink.shown())
			var bad int
			for _, g := range r.sink.got() {
				uid, ok := trainrecord.ParseUID(g.uid)
				require.True(t, ok)
				assert.Equal(t, g.offset, uid.Offset)
				if g.reason != "" {
					bad++
				}
			}
			assert.Equal(t, bad, countedBad(r))
		})
	}
}

// countedBad adds up the bad lines of all reasons.
func countedBad(r *rig) (sum int) {
	for _, l := range r.lines() {
		var n int
		if _, rest, ok := strings.Cut(l, "bad_lines{"); ok {
			_, err := fmt.Sscanf(rest[strings.LastIndexByte(rest, ' ')+1:], "%d", &n)
			require.NoError(r.t, err)
			sum += n
		}
	}
	return sum
}

func TestPiecesSurviveRefusalsAndRestarts(t *testing.T) {
	t.Parallel()
	text := `{"i":1}{"i":2}` + nul(2) + `{"i":3}x` + rec1 + "\n" + rec2 + "\n"
	whole := readAll(t, text, nil).sink.got()
	require.Len(t, whole, 6)
	for cut := range len(text) {
		r := newRig(t)
		r.write("run7/train.jsonl", text[:cut])
		tl := r.open()
		tl.step(context.Background())
		require.NoError(t, tl.save(context.Background()))
		require.NoError(t, tl.close(context.Background()))
		r.append("run7/train.jsonl", text[cut:])
		tl = r.open()
		tl.step(context.Background())
		require.NoError(t, tl.close(context.Background()))
		assert.Equal(t, whole, r.sink.got(), cut)
	}
}

// TestALineOfManyPiecesIsTheSameAfterAnyKill: the pieces of a line depend on nothing but its bytes, however many they are, and
// after whichever call the receiver is killed.
func TestALineOfManyPiecesIsTheSameAfterAnyKill(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var text strings.Builder
	for i := range 40000 {
		fmt.Fprintf(&text, `{"i":%d}`, i)
	}
	text.WriteString("\n" + rec1 + "\n")
	whole := readAll(t, text.String(), nil).sink.got()
	require.Len(t, whole, 40001)
	assert.Equal(t, "39999", whole[39999].text)
	for _, calls := range []int{1, 16, 17, 33} {
		r := newRig(t)
		r.write("run7/train.jsonl", text.String())
		r.sink.set(func(_ context.Context, call int, _ plog.Logs) error {
			if call >= calls {
				return errBusy
			}
			return nil
		})
		tl := r.open()
		tl.stepUntilRefused()
		require.NoError(t, tl.save(ctx))
		tl.handles.closeAll()
		r.host.Crash()
		require.Len(t, r.sink.got(), calls*maxBatch)
		r.sink.set(nil)
		tl = r.open()
		tl.step(ctx)
		require.NoError(t, tl.close(ctx))
		assert.True(t, slices.Equal(whole, r.sink.got()), calls)
	}
}

// glued draws a line of what writers, crashes and launchers leave.
func glued(rt *rapid.T) []byte {
	parts := []string{
		`{"i":1}`, `{}`, rec1, "text", `{"a":`, `{'a':1}`, "}", "[1]", "[", "]", `"`, nul(1), nul(70), " ", "\r", "\t", "\xef\xbb\xbf", "[rank0]: ", ":::MLLOG ",
		"\x1b[0m", "\xff\xfe", strings.Repeat(`{"a":`, trainrecord.MaxDepth+1), `{"ts":1,"event":"log","attempt":0,"body":{}}`, "0", "a\x00b\x00",
	}
	return []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 24).Draw(rt, "parts"), ""))
}

// TestPiecesDependOnTheBytesFromThereOn: whoever begins at any piece of a line finds what who began before it found.
func TestPiecesDependOnTheBytesFromThereOn(t *testing.T) {
	t.Parallel()
	b := newBuilders(trainlines.Options{Prefixes: mustPrefixes(t)})
	check := func(t require.TestingT, text []byte) {
		pieces := splitAll(b, text, 0)
		for k, p := range pieces {
			require.Equal(t, places(pieces[k:]), places(splitAll(b, text[p.offset:], p.offset)), "%q from piece %d", text, k)
		}
	}
	check(t, []byte(rec1+nul(70)+"\xef\xbb\xbf"))
	check(t, []byte(rec1+nul(70)+"\xef\xbb\xbftext"))
	rapid.Check(t, func(rt *rapid.T) { check(rt, glued(rt)) })
}

// TestHolesLargerThanALine is what a truncation under a writer that does not append leaves.
func TestHolesLargerThanALine(t *testing.T) {
	t.Parallel()
	for _, size := range []int{turnBytes - 1, turnBytes, 3 << 20} {
		for _, end := range []string{"\n", rec2 + "\n", strings.Repeat("x", 5000) + "\n" + rec2 + "\n"} {
			r := readAll(t, rec1+"\n"+nul(size)+end, func(r *rig) {
				r.cfg.MaxLineSize, r.cfg.MaxInFlightBytes = 4096, 1<<20
			})
			got := r.sink.got()
			require.GreaterOrEqual(t, len(got), 2)
			assert.Equal(t, "nul_bytes", got[1].reason)
			assert.Empty(t, got[1].text)
			assert.Equal(t, int64(len(rec1)+1), got[1].offset)
			uid, ok := trainrecord.ParseUID(got[1].uid)
			require.True(t, ok)
			assert.Equal(t, trainrecord.LineCRC([]byte(nul(size))), uid.CRC)
			if end != "\n" {
				assert.Equal(t, "2", got[len(got)-1].text)
			}
		}
	}
}

// TestAHoleIsTheSameHoweverItIsRead compares one that is read before its line's end with one that is read with it.
func TestAHoleIsTheSameHoweverItIsRead(t *testing.T) {
	t.Parallel()
	text := nul(5000) + rec1 + "\n"
	whole := readAll(t, text, nil).sink.got()
	require.Len(t, whole, 2)
	r := newRig(t)
	r.write("run7/train.jsonl", text[:5010])
	tl := r.open()
	tl.step(context.Background())
	assert.Empty(t, r.sink.got())
	r.append("run7/train.jsonl", text[5010:])
	tl.step(context.Background())
	require.NoError(t, tl.close(context.Background()))
	assert.Equal(t, whole, r.sink.got())
}

func encode16(text string, little bool, mark bool) string {
	if mark {
		text = "\ufeff" + text
	}
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		if little {
			b = append(b, byte(u), byte(u>>8))
		} else {
			b = append(b, byte(u>>8), byte(u))
		}
	}
	return string(b)
}

func TestUTF16IsRefusedClearly(t *testing.T) {
	t.Parallel()
	text := `{"loss":0.5,"é":1}` + "\n" + `{"loss":0.25}` + "\r\n"
	for _, little := range []bool{false, true} {
		for _, mark := range []bool{false, true} {
			t.Run(fmt.Sprintf("little %v mark %v", little, mark), func(t *testing.T) {
				t.Parallel()
				r := readAll(t, encode16(text, little, mark)+"\n"+rec1+"\n", nil)
				all := r.sink.got()
				require.GreaterOrEqual(t, len(all), 3)
				for i, want := range []string{`{"loss":0.5,"é":1}`, `{"loss":0.25}`} {
					assert.Equal(t, "utf16", all[i].reason)
					assert.Equal(t, want, strings.TrimSpace(all[i].text))
				}
				assert.Zero(t, all[0].offset)
				assert.Equal(t, "1", all[len(all)-1].text, "UTF-8 after it is read")
			})
		}
	}
}
