package trainlines

import (
	"regexp/syntax"
	"unicode/utf8"
)

// byteSet is a set of bytes.
type byteSet [256]bool

func (b *byteSet) all() {
	for i := range b {
		b[i] = true
	}
}

// firstBytes gives the bytes that a match of an expression may begin with, so that most lines are spared a match. It may
// give too many, never too few.
func firstBytes(text string) *byteSet {
	var set byteSet
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil || addFirst(re, &set) {
		set.all()
	}
	return &set
}

// addFirst adds the first bytes of what an expression matches, and says whether that may be nothing.
func addFirst(re *syntax.Regexp, set *byteSet) (empty bool) {
	switch re.Op {
	case syntax.OpBeginText, syntax.OpBeginLine, syntax.OpEmptyMatch:
		return true
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			set.all()
		} else {
			set[utf8.AppendRune(nil, re.Rune[0])[0]] = true
		}
		return false
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= min(re.Rune[i+1], utf8.RuneSelf-1); r++ {
				set[r] = true
			}
			if re.Rune[i+1] >= utf8.RuneSelf {
				for b := utf8.RuneSelf; b < len(set); b++ {
					set[b] = true
				}
			}
		}
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return addFirst(re.Sub[0], set)
	case syntax.OpStar, syntax.OpQuest:
		addFirst(re.Sub[0], set)
		return true
	case syntax.OpRepeat:
		return addFirst(re.Sub[0], set) || re.Min == 0
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !addFirst(sub, set) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			empty = addFirst(sub, set) || empty
		}
		return empty
	default:
		set.all()
		return false
	}
}
