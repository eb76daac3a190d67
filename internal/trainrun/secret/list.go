package secret

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// list masks a list. It may be the words of a command, in which a value follows its flag, or a name and its value.
func (w *Walker) list(s pcommon.Slice, depth int, kind keyKind) {
	next, many, cmd := keyPlain, false, command{}
	for i, v := range s.All() {
		word := ""
		if v.Type() == pcommon.ValueTypeStr {
			word = v.Str()
		}
		joined, behind := cmd.passwordFlag(word)
		switch {
		case joined:
			v.SetStr("-p" + Mask)
			w.Masked++
			continue
		case behind:
			next = keySecret
			continue
		case next == keyPlain && cmd.key(word):
			w.mask(v)
			continue
		case next == keyPlain && cmd.set && settingKind(word) >= keyToken:
			next = settingKind(word)
			continue
		}
		cmd.see(word)
		if isFlagName(word) && !strings.ContainsAny(word, "= \t\n") {
			next, many = w.kind(word), strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss")
			if isUserFlag(word) && i+1 < s.Len() && strings.Contains(s.At(i+1).AsString(), ":") {
				next = keyToken
			}
			w.value(v, depth+1, kind)
			continue
		}
		if masked, ok := w.word(word); ok && kind == keyPlain && next == keyPlain {
			w.Masked++
			v.SetStr(masked)
			continue
		}
		w.value(v, depth+1, max(kind, next))
		if !many {
			next = keyPlain
		}
		if i == 0 && s.Len() == 2 && !strings.ContainsAny(word, " =:") {
			next = w.kind(word)
		}
	}
}

// word masks the value of an item such as name=value: it takes all that follows, spaces as well.
func (w *Walker) word(item string) (string, bool) {
	name, value, ok := strings.Cut(item, "=")
	if !ok || len(name) > maxName || strings.ContainsAny(name, " \t\n\"':/?;,{[(") || !secretValue(w.kind(name), value) {
		return item, false
	}
	return name + "=" + Mask, true
}

// Command gives the command line, a text or a list of words, without the values that are secret.
func (w *Walker) Command(v pcommon.Value) string {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return w.Text(v.Str())
	case pcommon.ValueTypeSlice:
		list := pcommon.NewValueEmpty()
		v.CopyTo(list)
		w.list(list.Slice(), 0, keyPlain)
		args := make([]string, 0, list.Slice().Len())
		for _, a := range list.Slice().All() {
			args = append(args, a.AsString())
		}
		return strings.Join(args, " ")
	default:
		return ""
	}
}
