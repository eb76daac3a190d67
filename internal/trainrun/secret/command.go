package secret

import (
	"slices"
	"strings"
)

// command is what the words so far tell of a command whose secrets have no telling name.
type command struct {
	client bool // takes its password as -pX
	tool   bool // logs in somewhere, or keeps settings
	login  bool // logs in: its key may stand alone
	behind bool // its password is behind -p
	set    bool // the name of a setting and its value follow
}

var (
	tools = strings.Fields(`aws az clearml comet conda docker dvc gcloud gh git glab hf huggingface-cli helm kaggle kubectl mlflow neptune nerdctl npm
		oras pip pip3 pnpm podman poetry twine uv vault wandb yarn`)
	settings = strings.Fields("config configure modify set")
)

// see takes the next word.
func (c *command) see(word string) {
	word = word[strings.LastIndexByte(word, '/')+1:]
	switch {
	case isClient(word):
		c.client, c.behind = true, word == "sshpass"
	case slices.Contains(tools, word):
		c.tool = true
	case c.tool && (word == "login" || word == "auth"):
		c.login, c.behind = true, true
	case c.tool && slices.Contains(settings, word), word == "setenv":
		c.set = true
	}
}

// key says that a word is the key with which a command logs in.
func (c *command) key(word string) bool {
	return c.login && (isGiven(word) && !strings.ContainsAny(word, "./:@=-") || looksRandom(word))
}

// settingKind classifies the name of a setting, which may end in what it is for: pypi-token.pypi.
func settingKind(name string) keyKind {
	kind := secretKey(name)
	if k := strings.LastIndexByte(name, '.'); k > 0 {
		kind = max(kind, secretKey(name[:k]))
	}
	return kind
}

// passwordFlag says that a word is a flag and a password in one, or with the password behind it.
func (c *command) passwordFlag(word string) (joined, behind bool) {
	if !c.client && !c.behind || !strings.HasPrefix(word, "-p") {
		return false, false
	}
	return len(word) > 2, len(word) == 2 && c.behind
}

// commandWord masks what a command takes without a telling name. The word is s[i:j].
func (m *textMasker) commandWord(i, j int) int {
	w := m.s[i:j]
	joined, behind := m.cmd.passwordFlag(w)
	shell := valueContext{shell: true}
	switch limit, _ := m.limit(i); {
	case joined, w == "-p" && (m.cmd.client || m.cmd.behind) && quoteAt(m.s, j) > 0:
		if end := m.bareEnd(i+2, limit, shell); end > i+2 {
			return m.mask(i+2, end)
		}
	case behind:
		return m.follows(j, keySecret)
	case m.cmd.key(w):
		return m.mask(i, j)
	case m.cmd.set && w[0] != '-':
		if kind := settingKind(w); kind >= keyToken {
			return m.follows(j, kind)
		}
	}
	m.cmd.see(w)
	return -1
}

// follows masks the word of a command behind the one that ends at j.
func (m *textMasker) follows(j int, kind keyKind) int {
	at := m.nextItem(j)
	if at < 0 || m.isFlag(m.inside(at)) || strings.IndexByte("=:", m.s[at]) >= 0 {
		return -1
	}
	v := m.value(at, valueContext{shell: true})
	if !secretValue(kind, v.text) || !v.quoted && slices.Contains(notGiven, strings.ToLower(v.text)) {
		return -1
	}
	m.mask(v.from, v.to)
	return v.end
}
