package trainrun

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun/secret"
)

// TestNoCutShowsTheBeginningOfASecret: wherever a bound falls into a secret, in what a trainer wrote as event or outcome, nothing of use of it is left in the
// attributes and the body that go on, in the line of the log, and in the entry.
func TestNoCutShowsTheBeginningOfASecret(t *testing.T) {
	t.Parallel()
	const random = "Zq7Lm2Xv9Rt4Kw8Ys3Bn6Hd1Jf5Gp0Ca"
	shows := func(text string) bool {
		for i := 0; i+4 <= len(random); i++ {
			if strings.Contains(text, random[i:i+4]) {
				return true
			}
		}
		return false
	}
	for name, told := range map[string]string{
		"a form": "401 for ghp_" + random + random[:4], "an address": "no way to https://me:" + random + "@hub/x", "an assignment": "password=" + random,
		"a name, many words": "password='" + random + " and more words' end",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, bound := range []int{32, 64, maxLabel, trainrecord.MaxRaw, maxScanned} {
				words := strings.Repeat("word ", bound/5+1)
				for cut := 1; cut < len(told); cut += 3 {
					text := words[:max(bound-cut, 0)] + told
					lr := plog.NewLogRecord()
					l := trainrecord.NewDecoder(trainrecord.DecoderOptions{}).Decode([]byte(fmt.Sprintf(`{"schema":%q,"event":%q,"run_id":"r"}`, trainrecord.Schema, text)), lr)
					require.Equal(t, trainrecord.LineRecord, l.Kind, "%v", l.Err)
					assert.False(t, shows(l.Flaw), "the log shows %q", l.Flaw)
					w := secret.Walker{URLs: secret.UserInfo}
					w.Map(lr.Attributes())
					w.Value(lr.Body())
					for k, v := range lr.Attributes().All() {
						assert.False(t, shows(v.AsString()), "%s at %d shows %q", k, bound, v.AsString())
					}
					assert.False(t, shows(lr.Body().AsString()), "the body at %d shows %q", bound, lr.Body().AsString())
					for _, e := range readStream(t,
						fmt.Sprintf(`{"schema":%q,"event":%q,"run_id":%q}`, trainrecord.Schema, text, testRun), line("run.end", 1, "", fmt.Sprintf(`"outcome": %q`, text))) {
						require.NotEmpty(t, e.Detail.Said)
						assert.False(t, shows(e.Detail.Said), "at %d: %q", bound, e.Detail.Said)
					}
				}
			}
		})
	}
}

// TestWhoCutsAndWhoMasksAgree on the length at which a text may have been cut in a secret.
func TestWhoCutsAndWhoMasksAgree(t *testing.T) {
	t.Parallel()
	assert.EqualValues(t, secret.Kept, trainrecord.MaxRaw)
}
