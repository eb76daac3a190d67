package trainprofile

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEachClauseOfAListIsNeeded takes each clause out of each list, and wants a fixture of a profile that names it to change.
func TestEachClauseOfAListIsNeeded(t *testing.T) {
	t.Parallel()
	words, err := loadWords()
	require.NoError(t, err)
	files, err := filepath.Glob("profiles/*.yaml")
	require.NoError(t, err)
	for name, list := range words {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needed := make([]bool, len(list))
			for _, file := range files {
				data, err := os.ReadFile(file)
				require.NoError(t, err)
				if !strings.Contains(string(data), "words: "+name) {
					continue
				}
				results := func(with []clause) []string {
					lists := maps.Clone(words)
					lists[name] = with
					p, err := parse(filepath.Base(file), data, lists)
					require.NoError(t, err)
					return fixtureResults(t, p)
				}
				want := results(list)
				for i := range list {
					without := slices.Delete(slices.Clone(list), i, i+1)
					needed[i] = needed[i] || !slices.Equal(want, results(without))
				}
			}
			for i := range needed {
				assert.True(t, needed[i], "nothing shows that %s[%d] is needed", name, i)
			}
		})
	}
}

func TestMistakesOfListsNameFileAndField(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: [{extract: 'b', values: {b: c}}]":        "words w.yaml: a[0].extract: want exactly one group, in parentheses (line 1)",
		"a: [{extract: '(b', values: {b: c}}]":       "words w.yaml: a[0].extract: regular expression: missing closing ): `(b` (line 1)",
		"a: [{extract: '(B)', values: {B: c}}]":      "words w.yaml: a[0].values.B: want lower case, and blanks for - and _: so words are looked up (line 1)",
		"a: [{extract: '(b)'}]":                      "words w.yaml: a[0].values: is required",
		"a: [{extract: '(b)', values: {}, from: x}]": "words w.yaml: a[0].from: unknown key (line 1); known are extract, values",
		"a: {}": "words w.yaml: a: want a list (line 1)",
		"":      "words w.yaml: is empty",
	} {
		lists, err := parseWords("w.yaml", []byte(text))
		assert.EqualError(t, err, want)
		assert.Nil(t, lists)
	}
}

// TestAWordIsOneOfAText has what is no text, and what a list does not know.
func TestAWordIsOneOfAText(t *testing.T) {
	t.Parallel()
	lists, err := parseWords("w.yaml", []byte("a: [{extract: '(?i)(b.|c|e_g)', values: {b: 1, c: 2, e g: 4}}, {extract: '(d)', values: {d: 3}}]"))
	require.NoError(t, err)
	for text, want := range map[string]string{"B ": "1", "xC": "2", "bcd": "3", "e": "", "cd": "2", "e_G": "4"} {
		got, ok := meaning(lists["a"], textScalar(text))
		assert.Equal(t, want != "", ok, text)
		if ok {
			assert.Equal(t, want, fmt.Sprint(got.i), text)
		}
	}
	_, ok := meaning(lists["a"], scalar{})
	assert.False(t, ok)
}
