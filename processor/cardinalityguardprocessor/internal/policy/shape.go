package policy

import "strings"

// Shape is what a value looks like.
type Shape uint8

// Shapes, numbered as their words.
const (
	noShape Shape = iota
	shapeUUID
	shapeULID
	shapeHex16
	shapeHex32
	shapeSHA1
	shapeSHA256
	shapePath
	shapeURL
	shapeRFC3339
	shapeSeconds
	shapeMillis
	shapes // one more than their number
)

var shapeNames = []string{
	"uuid", "ulid", "hex16", "hex32", "sha1", "sha256", "path", "url", "rfc3339", "epoch_seconds", "epoch_millis",
}

// Words are what an operator writes.
func (Shape) Words() []string { return shapeNames }

func (s Shape) String() string { return shapeNames[s-1] }

// shapeSet is a set of shapes.
type shapeSet uint16

func (set shapeSet) has(s Shape) bool { return set&(1<<s) != 0 }

// likely tells by length and first byte that a text has no shape of a set.
type likely struct {
	set     shapeSet
	lengths uint64 // of shapes that are told by their length; longer ones than 63 are looked at
}

func likelyOf(set shapeSet) likely {
	l := likely{set: set}
	for shape, lengths := range map[Shape][]int{
		shapeUUID: {32, 36, 38, 45}, shapeULID: {26}, shapeHex16: {16}, shapeHex32: {32}, shapeSHA1: {40, 45}, shapeSHA256: {},
	} {
		for _, n := range lengths {
			if set.has(shape) {
				l.lengths |= 1 << n
			}
		}
	}
	return l
}

// some says whether a text may have a shape of the set.
func (l likely) some(text string) bool {
	const anyLength = 1<<shapePath | 1<<shapeURL
	n := len(text)
	return l.set&anyLength != 0 || n > 63 || l.lengths>>n&1 != 0 || (n > 9 && isDigit(text[0]))
}

// longestValue is the length from which a text is no shape but a path or a URL; those are recognised by their beginning.
const longestValue = 4096

// find gives a shape of the set that the whole text has, or none. Its time is bounded, and for most texts a look at length and first byte.
func (set shapeSet) find(text string) Shape {
	n := len(text)
	if n < 2 {
		return noShape
	}
	if s := set.findFixed(text); s != noShape {
		return s
	}
	switch c := text[0]; {
	case c >= '0' && c <= '9':
		if s := set.findTime(text); s != noShape {
			return s
		}
	case set.has(shapeURL) && isURL(text):
		return shapeURL
	}
	if set.has(shapePath) && isPath(text) {
		return shapePath
	}
	return noShape
}

// findFixed looks for what is told by its length.
func (set shapeSet) findFixed(text string) Shape {
	switch len(text) {
	case 16:
		return set.hexes(shapeHex16, text)
	case 26:
		if set.has(shapeULID) && isULID(text) {
			return shapeULID
		}
	case 32:
		if set.has(shapeUUID) && !set.has(shapeHex32) && isUUIDv(text) {
			return shapeUUID
		}
		return set.hexes(shapeHex32, text)
	case 36:
		if set.has(shapeUUID) && isUUID(text) {
			return shapeUUID
		}
	case 38: // in braces
		if set.has(shapeUUID) && text[0] == '{' && text[37] == '}' && isUUID(text[1:37]) {
			return shapeUUID
		}
	case 40:
		return set.hexes(shapeSHA1, text)
	case 45:
		if set.has(shapeUUID) && strings.EqualFold(text[:9], "urn:uuid:") && isUUID(text[9:]) {
			return shapeUUID
		}
		if strings.EqualFold(text[:5], "sha1:") {
			return set.hexes(shapeSHA1, text[5:])
		}
	case 64:
		return set.hexes(shapeSHA256, text)
	case 71:
		if strings.EqualFold(text[:7], "sha256:") {
			return set.hexes(shapeSHA256, text[7:])
		}
	}
	return noShape
}

func (set shapeSet) hexes(s Shape, text string) Shape {
	if !set.has(s) {
		return noShape
	}
	for i := range len(text) {
		if !isHex(text[i]) {
			return noShape
		}
	}
	return s
}

func isHex(c byte) bool { return isDigit(c) || (c|0x20 >= 'a' && c|0x20 <= 'f') }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isUUID wants the form with hyphens.
func isUUID(text string) bool {
	for i := range len(text) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if text[i] != '-' {
				return false
			}
		} else if !isHex(text[i]) {
			return false
		}
	}
	return true
}

// isUUIDv wants the form without hyphens, with a version and a variant.
func isUUIDv(text string) bool {
	if v := text[12]; v < '1' || v > '8' || !strings.ContainsRune("89abAB", rune(text[16])) {
		return false
	}
	return shapeSet(1<<shapeHex32).hexes(shapeHex32, text) == shapeHex32
}

// isULID wants 26 letters and digits of Crockford's alphabet, of which the first is a digit up to 7.
func isULID(text string) bool {
	if text[0] < '0' || text[0] > '7' {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if !isDigit(c) && (!isLetter(c) || strings.IndexByte("ilou", c|0x20) >= 0) {
			return false
		}
	}
	return true
}

// isURL wants a scheme, :// and something without a space behind.
func isURL(text string) bool {
	if !isLetter(text[0]) {
		return false
	}
	for i := 1; i < min(len(text), 32); i++ {
		c := text[i]
		if c == ':' {
			return strings.HasPrefix(text[i:], "://") && len(text) > i+3 && noSpace(text[i+3:])
		}
		if !isLetter(c) && !isDigit(c) && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	return false
}

func noSpace(text string) bool {
	return strings.IndexByte(text[:min(len(text), longestValue)], ' ') < 0
}

// isPath wants a file's path: absolute, of Unix or Windows, or relative from . .. or ~, or a relative one that ends in a name with an extension.
func isPath(text string) bool {
	text = text[:min(len(text), longestValue)]
	switch c := text[0]; {
	case c == '/':
		return text != "//"
	case c == '\\':
		return text[1] == '\\' && len(text) > 2
	case len(text) > 2 && isLetter(c) && text[1] == ':' && (text[2] == '\\' || text[2] == '/'):
		return true
	case strings.HasPrefix(text, "./"), strings.HasPrefix(text, "../"), strings.HasPrefix(text, "~/"), strings.HasPrefix(text, `.\`), strings.HasPrefix(text, `..\`):
		return true
	}
	at := strings.LastIndexAny(text, `/\`)
	if at <= 0 || at+1 == len(text) {
		return false
	}
	return hasExtension(text[at+1:])
}

// hasExtension says whether a name ends in a point, a letter and a few letters and digits. Media types such as application/vnd.api are none.
func hasExtension(name string) bool {
	stem, ext := name, ""
	if at := strings.LastIndexByte(name, '.'); at > 0 {
		stem, ext = name[:at], name[at+1:]
	}
	if len(ext) == 0 || len(ext) > 11 || !isLetter(ext[0]) || stem == "vnd" || stem == "x" || strings.HasPrefix(stem, "vnd.") {
		return false
	}
	for i := range len(ext) {
		if !isLetter(ext[i]) && !isDigit(ext[i]) {
			return false
		}
	}
	return true
}
