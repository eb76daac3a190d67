package trainprofile

import (
	_ "embed"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed words.yaml
var shippedWords []byte

// clauseDoc is a clause of a list of words as words.yaml spells it.
type clauseDoc struct {
	Extract regex          `yaml:"extract" required:"true"`
	Values  map[string]any `yaml:"values" required:"true"`
}

// clause finds words in a text and tells what they stand for.
type clause struct {
	extract *regexp.Regexp
	values  map[string]any // by the word in lower case, with blanks for - and _
}

// wordLists are the lists that sources name, each with its clauses in order.
type wordLists map[string][]clause

var loadWords = sync.OnceValues(func() (wordLists, error) { return parseWords("words.yaml", shippedWords) })

// parseWords reads lists of words. The error names the file and the path of every mistake.
func parseWords(file string, data []byte) (wordLists, error) {
	var docs map[string][]clauseDoc
	lines, errs := readYAML(data, reflect.ValueOf(&docs).Elem())
	c, lists := compiler{lines: lines}, wordLists{}
	for name, list := range docs {
		for i, doc := range list {
			lists[name] = append(lists[name], c.clause(doc, fmt.Sprintf("%s[%d]", name, i)))
		}
	}
	if errs = append(errs, c.errs...); len(errs) > 0 {
		return nil, inFile("words", file, errs)
	}
	return lists, nil
}

func (c *compiler) clause(doc clauseDoc, path string) clause {
	if doc.Extract.Regexp != nil && doc.Extract.NumSubexp() != 1 {
		c.fail(join(path, "extract"), "want exactly one group, in parentheses")
	}
	for word := range doc.Values {
		if word != blanks.Replace(strings.ToLower(word)) {
			c.fail(join(path, "values."+word), "want lower case, and blanks for - and _: so words are looked up")
		}
	}
	return clause{extract: doc.Extract.Regexp, values: doc.Values}
}

// wordsOf gives the list of words that a source names.
func (c *compiler) wordsOf(doc sourceDoc, path string) []clause {
	if doc.Words == "" {
		return nil
	}
	path = join(path, "words")
	if doc.Extract != nil || doc.Lower || len(doc.Values) > 0 {
		c.fail(path, "a list of words says itself what is found; leave out extract, lower and values")
	}
	list, known := c.words[doc.Words]
	if !known {
		c.fail(path, "there is no list %q; known are %s", doc.Words, strings.Join(slices.Sorted(maps.Keys(c.words)), ", "))
	}
	return list
}

// wordsFit refuses a list of words of which a target could not hold what they stand for.
func (c *compiler) wordsFit(t *target, doc *sourceDoc, path string) {
	for ; doc != nil; doc, path = doc.Or, join(path, "or") {
		for _, clause := range c.words[doc.Words] {
			for _, v := range clause.values {
				if _, reason, ok := constantScalar(v).convert(t, &source{base: baseZero}, numbers{}); !ok {
					c.fail(join(path, "words"), "what %s stands for does not fit %s (%s)", doc.Words, t.spelling, reason)
					return
				}
			}
		}
	}
}

// blanks makes one spelling of words that programs join in their ways: out_of_mem, timed-out.
var blanks = strings.NewReplacer("_", " ", "-", " ")

// meaning gives what the first clause that knows its word in a text says of it.
func meaning(clauses []clause, of scalar) (scalar, bool) {
	text, isText := of.text()
	for i := range clauses {
		found := clauses[i].extract.FindStringSubmatch(text)
		if !isText || found == nil {
			continue
		}
		if constant, ok := clauses[i].values[strings.TrimSpace(blanks.Replace(strings.ToLower(found[1])))]; ok {
			return constantScalar(constant), true
		}
	}
	return scalar{}, false
}
