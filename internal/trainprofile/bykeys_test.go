package trainprofile

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// withoutShapes gives a mapper that remembers no shape, so that every object is asked anew.
func withoutShapes(set *Set) *Mapper {
	m := NewMapper(nil)
	m.forget(set)
	for i := range maxShapes {
		m.shapes[uint64(i)] = &shape{}
	}
	return m
}

func resultOf(t require.TestingT, m *Mapper, set *Set, line string) (all []string) {
	lr, ok := receiveRow(line)
	require.True(t, ok, line)
	out, records := process(m, set, nil, lr)
	all = append(all, fmt.Sprint(out.Kind, out.Detected, out.Weak, out.Ambiguous, out.Errors))
	if out.Profile != nil {
		all = append(all, out.Profile.Name())
	}
	for _, lr := range records {
		all = append(all, show(lr))
	}
	return all
}

// TestWhatKeysSayIsWhatConditionsSay maps the rows of all fixtures by a mapper that knows what their keys rule out, and by one that
// asks every condition and every source of every row.
func TestWhatKeysSayIsWhatConditionsSay(t *testing.T) {
	t.Parallel()
	set := embeddedSet(t)
	warm, blind := NewMapper(nil), withoutShapes(set)
	for _, f := range fixtures(t, "*") {
		for _, line := range f.in {
			if _, ok := receiveRow(line); ok {
				assert.Equal(t, resultOf(t, blind, set, line), resultOf(t, warm, set, line), "%s: %s", f.path, line)
			}
		}
	}
	assert.NotEmpty(t, warm.shapes)
	assert.Len(t, blind.shapes, maxShapes)
	assert.Nil(t, blind.shape)
}

// TestWhatKeysSayIsWhatConditionsSayOfAnyRow has rows of the keys of several frameworks with values of any type.
func TestWhatKeysSayIsWhatConditionsSayOfAnyRow(t *testing.T) {
	t.Parallel()
	set := embeddedSet(t)
	var keys []string
	for key := range set.index.keys {
		keys = append(keys, key)
	}
	keys = append(keys, "loss", "val_loss", "eval_loss", "train_acc", "lr", "learning_rate", "epoch", "step", "iter", "event", "type", "lr-Adam", "train/loss", "val/loss")
	for _, f := range fixtures(t, "*") {
		for _, line := range f.in {
			if lr, ok := receiveRow(line); ok {
				for key := range lr.Body().Map().All() {
					keys = append(keys, key)
				}
			}
		}
	}
	values := rapid.SampledFrom([]string{`0`, `1`, `2.0`, `0.5`, `"7"`, `""`, `"epoch_end"`, `"train"`, `-1`, `-0.5`, `NaN`, `Infinity`, `1e300`, `4000000000`, `null`, `true`, `{}`, `{"loss": 1.5}`, `[1, 2]`, `"2026-11-07T10:00:00Z"`})
	rapid.Check(t, func(t *rapid.T) {
		warm, blind := NewMapper(nil), withoutShapes(set)
		row := rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 1, 8, rapid.ID).Draw(t, "keys")
		for range 3 { // of one shape
			var cells []string
			for _, key := range row {
				cells = append(cells, strconv.Quote(key)+": "+values.Draw(t, "value"))
			}
			line := "{" + strings.Join(cells, ", ") + "}"
			if _, ok := receiveRow(line); !ok {
				continue
			}
			require.Equal(t, resultOf(t, blind, set, line), resultOf(t, warm, set, line), line)
		}
	})
}

// TestWhatKeysSayOfACondition has an object with the keys a, o and lr-Adam.
func TestWhatKeysSayOfACondition(t *testing.T) {
	t.Parallel()
	w := (&views{}).open(decode(t, `{"a": 1, "o": {"x": 1}, "lr-Adam": 2}`).Body().Map())
	for condition, want := range map[string][2]bool{
		`{has: a}`:                                   {true, true},
		`{has: [a, b]}`:                              {false, false},
		`{has: [[o, x]]}`:                            {true, false},
		`{has_any: [b, a]}`:                          {true, true},
		`{has_any: [b, [o, x]]}`:                     {true, false},
		`{has_any: [b, c]}`:                          {false, false},
		`{has: a, lacks: b}`:                         {true, true},
		`{has: a, lacks: o}`:                         {false, false},
		`{has: a, lacks: [[o, x]]}`:                  {true, false},
		`{has: a, lacks: [[p, x]]}`:                  {true, true},
		`{same: [a, lr-Adam]}`:                       {true, false},
		`{same: [a, b]}`:                             {false, false},
		`{type: {a: integer}}`:                       {true, false},
		`{match: {b: "x"}}`:                          {false, false},
		`{equals: {a: 1}}`:                           {true, false},
		`{like: "lr-*"}`:                             {true, true},
		`{like: "b*"}`:                               {false, false},
		`{has: a, unlike: "lr-*"}`:                   {false, false},
		`{in: [o], has: [y]}`:                        {true, false},
		`{in: [p], has: [y]}`:                        {false, false},
		`{any: [{has: b}, {has: a}]}`:                {true, true},
		`{any: [{has: b}, {type: {a: float}}]}`:      {true, false},
		`{any: [{has: b}, {has: c}]}`:                {false, false},
		`{all: [{has: a}, {type: {a: float}}]}`:      {true, false},
		`{all: [{has: a}, {has: b}]}`:                {false, false},
		`{has: a, not: {has: b}}`:                    {true, true},
		`{has: a, not: {has: o}}`:                    {false, false},
		`{has: a, not: {type: {o: object}}}`:         {true, false},
		`{has: a, not: {all: [{has: b}, {has: a}]}}`: {true, true},
	} {
		p, err := Parse("p.yaml", []byte("profile: p\nframework: other\ndetect: {weak: "+condition+"}\nrules: [{name: r, event: log}]"))
		require.NoError(t, err, condition)
		may, always := p.weak.byKeys(w)
		assert.Equal(t, want, [2]bool{may, always}, condition)
	}
	may, always := (*condition)(nil).byKeys(w)
	assert.True(t, may && always)
}

// receiveRow reads a line as the receiver does; ok is false for what is no object of a framework.
func receiveRow(line string) (lr plog.LogRecord, ok bool) {
	lr = plog.NewLogRecord()
	l := trainrecord.NewDecoder(trainrecord.DecoderOptions{}).Decode([]byte(line), lr)
	lr.Attributes().PutStr(trainrecord.AttrRunID, testRun)
	return lr, l.Kind == trainrecord.LineObject
}
