package trainrun

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAFrameworkThatWasToldGoesBeforeOneThatWasGuessed whatever came first: rows of any loop count as PyTorch's until a key tells
// better. Of frameworks of one kind the first counts.
func TestAFrameworkThatWasToldGoesBeforeOneThatWasGuessed(t *testing.T) {
	t.Parallel()
	of := func(event string, at float64, framework string) string {
		return line(event, at, `"framework": "`+framework+`"`, "")
	}
	for name, tc := range map[string]struct {
		lines []string
		want  string
	}{
		"rows of plain names first": {[]string{of("step.end", 1, "pytorch"), of("step.end", 2, "lightning"), of("step.end", 3, "lightning")}, "lightning"},
		"a line of text first":      {[]string{of("log", 1, "other"), of("step.end", 2, "keras")}, "keras"},
		"plain rows behind":         {[]string{of("step.end", 1, "lightning"), of("step.end", 2, "pytorch")}, "lightning"},
		"two that were told":        {[]string{of("step.end", 1, "lightning"), of("step.end", 2, "ray")}, "lightning"},
		"two that were guessed":     {[]string{of("step.end", 1, "pytorch"), of("log", 2, "other")}, "pytorch"},
		"a start that says pytorch": {[]string{of("run.start", 1, "pytorch"), of("epoch.end", 2, "keras")}, "pytorch"},
		"a start of nobody's": {
			[]string{line("run.start", 1, `"framework": "pytorch"`, `"framework": {"event": "train_begin"}`), of("epoch.end", 2, "keras")}, "keras",
		},
		"a start of nobody's before plain rows": {
			[]string{line("run.start", 1, `"framework": "pytorch"`, `"framework": {"type": "train_begin"}`), of("epoch.end", 2, "pytorch")}, "pytorch",
		},
		"a start with other details": {
			[]string{line("run.start", 1, `"framework": "pytorch"`, `"framework": {"torch": "2.9"}`), of("epoch.end", 2, "keras")}, "pytorch",
		},
		"an end that says it":                 {[]string{of("epoch.end", 1, "pytorch"), of("run.end", 2, "keras")}, "keras"},
		"a guess of a newer attempt":          {[]string{of("epoch.end", 1, "keras"), line("epoch.end", 2, `"attempt": 2, "framework": "pytorch"`, "")}, "keras"},
		"what was told first, by a high rank": {[]string{line("epoch.end", 1, `"rank": 3, "framework": "keras"`, ""), of("epoch.end", 2, "pytorch")}, "keras"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, stateOf(t, tc.lines...).Framework)
			entries := readStream(t, tc.lines...)
			back := New(testRun)
			for i := range entries {
				back.Apply(entries[len(entries)-1-i])
			}
			assert.Equal(t, tc.want, back.State().Framework, "in the other order")
		})
	}
}
