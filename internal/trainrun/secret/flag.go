package secret

import "strings"

// isFlag says that what stands here is the next flag and no value.
func (m *textMasker) isFlag(k int) bool {
	if k >= len(m.s) || m.s[k] != '-' {
		return false
	}
	end := k
	for end < len(m.s) && strings.IndexByte(" \t\r\n\"'`,", m.s[end]) < 0 {
		end++
	}
	return isFlagName(m.s[k:end])
}

// flag masks what follows a flag whose name is a secret's: one value, or for tokens, keys and the like all of them. Flag and
// value may be items of a printed list.
func (m *textMasker) flag(i, j int) int {
	name := m.s[i:j]
	if name[0] != '-' {
		return -1
	}
	kind := secretKey(name)
	user := isUserFlag(name)
	if kind == keyPlain && !user {
		return -1
	}
	many := strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss")
	end := -1
	for at := m.nextItem(j); at >= 0 && !m.isFlag(m.inside(at)); at = m.nextItem(at) {
		v := m.value(at, valueContext{shell: true})
		switch {
		case user && strings.IndexByte(v.text, ':') > 0, secretValue(kind, v.text):
			m.mask(v.from, v.to)
			end = v.end
		default:
			return end
		}
		if at = v.end; !many {
			break
		}
	}
	return end
}

// isClient knows the commands that take a password as -pX.
func isClient(word string) bool {
	word = word[strings.LastIndexByte(word, '/')+1:]
	return strings.HasPrefix(word, "mysql") || strings.HasPrefix(word, "mariadb") || word == "sshpass" || word == "mongo" || word == "mongosh"
}

func isUserFlag(name string) bool { return name == "-u" || name == "--user" || name == "--proxy-user" }

// inside is the place behind a quote.
func (m *textMasker) inside(k int) int { return k + quoteAt(m.s, k) }

// nextItem finds the item that follows one that ends at k; -1 when none does.
func (m *textMasker) nextItem(k int) int {
	end, size := m.limit(k)
	if end == k {
		k += size
		end, _ = m.limit(k)
	}
	from := k
	for k < end && (strings.IndexByte(" \t,", m.s[k]) >= 0 || m.s[k] == '\\' && k+1 < end && m.s[k+1] == '\n') {
		if m.s[k] == '\\' {
			k++
		}
		k++
	}
	if k == from || k >= end || strings.IndexByte("\r\n|&;<>)]}", m.s[k]) >= 0 {
		return -1
	}
	return k
}

// isFlagName says that a word is a flag, and no value that begins like one: a number, or something random.
func isFlagName(w string) bool {
	name := strings.TrimLeft(w, "-")
	return len(name) > 0 && len(name) < len(w) && len(name) >= len(w)-2 && isAlnum(name[0]) && (name[0] < '0' || name[0] > '9') &&
		!looksRandom(w)
}
