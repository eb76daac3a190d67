package trainview

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestTextsOfATrainerAreMadeVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"run-7": "run-7", "Größe 日本": "Größe 日本", "": "",
		"\x1b[2J": `\u001B[2J`, "a\nb\tc\x00\x7f": `a\u000Ab\u0009c\u0000\u007F`, "\u009b": `\u009B`,
		"a\u202eb": `a\u202Eb`, "\u2066x\u2069": `\u2066x\u2069`, "z\u200bw\u200d": `z\u200Bw\u200D`, "\u2028\u2029": `\u2028\u2029`,
		"\ufeffx": `\uFEFFx`, "\U000e0041": `\U000E0041`, "a\xffb": "a�b", "\u00a0": `\u00A0`, "\u3164": `\u3164`, "\ufe0f": `\uFE0F`,
	} {
		assert.Equal(t, want, Safe(text, 64), "%q", text)
	}
	assert.Equal(t, "aaaaa…", Safe("aaaaaaaaa", 8))
	assert.Equal(t, "éé…", Safe("ééééé", 8))
	assert.Equal(t, "…", Safe("\x1b\x1b", 8))
	assert.Equal(t, "aaaaaaaa", Safe("aaaaaaaa", 8))
}

func FuzzSafe(f *testing.F) {
	for _, s := range []string{"a", "\x1b]0;x\a", "\u202e", "日本語日本語", "\xff\xfe", strings.Repeat("\U000e0041", 9)} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, most int) {
		most = 4 + max(most, -most)%100
		got := Safe(s, most)
		assert.LessOrEqual(t, len(got), most)
		assert.True(t, utf8.ValidString(got))
		for _, r := range got {
			assert.False(t, unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r), "%q", got)
		}
		assert.Equal(t, got, Safe(got, most), "once is enough")
	})
}
