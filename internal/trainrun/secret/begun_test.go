package secret

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Wherever a cut falls into a secret, nothing that is of use of it is left.
func TestASecretThatIsCutShowsNothingOfItself(t *testing.T) {
	t.Parallel()
	const random = "Zq7Lm2Xv9Rt4Kw8Ys3Bn6Hd1Jf5Gp0Ca"
	for name, tc := range map[string]struct{ before, secret string }{
		"a form":             {"401 for ", "ghp_" + random},
		"another form":       {`{"message": "no access with `, "hf_" + random},
		"a signed token":     {"got ", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + random},
		"an address":         {"cannot reach ", "https://me:" + random + "@hub/x"},
		"an address, quoted": {`{"url":"`, "https://me:hunter2-" + random + "@hub/x"},
		"a hook":             {"post to ", "https://chat.example.com/hooks/" + random},
		"a header":           {"Authorization: Basic ", strings.ToLower(random)},
		"an assignment":      {`{"event": "x", "password": "`, random},
		"a query":            {"GET /x?token=", random},
		"a key":              {"key=", random},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for length, step := range map[int]int{Kept: 1, Searched: 16} {
				words := strings.Repeat("word ", length/5+1)
				for cut := 0; cut < len(tc.secret); cut += step {
					filler := words[:length-len(tc.before)-cut]
					text, _ := maskText(filler+tc.before+tc.secret[:cut], UserInfo, nil)
					rest := strings.TrimPrefix(text, filler)
					for i := 0; i+4 <= len(random); i++ {
						assert.NotContains(t, rest, random[i:i+4])
						assert.NotContains(t, rest, strings.ToLower(random[i:i+4]))
					}
				}
			}
		})
	}
}

func TestWordsAtACutStay(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("x", Kept), strings.Repeat("\x00", Kept), strings.Repeat("a word and ", Kept)[:Kept], strings.Repeat("0.25, ", Kept)[:Kept],
		"ghp_" + strings.Repeat("a ", 10), strings.Repeat("-", Kept),
	} {
		got, masked := maskText(text, UserInfo, nil)
		assert.Equal(t, text, got)
		assert.Zero(t, masked)
	}
}
