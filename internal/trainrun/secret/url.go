package secret

import (
	"slices"
	"strings"
)

// hookHosts take messages from whoever knows an address; the address is the secret.
var hookHosts = []string{
	"hooks.slack.com", "hooks.slack-gov.com", "webhook.office.com", "outlook.office.com", "outlook.office365.com", "logic.azure.com", "hooks.zapier.com",
	"maker.ifttt.com", "api.telegram.org", "chat.googleapis.com", "webhook.site", "hook.integromat.com", "hook.make.com", "api.powerplatform.com",
	"events.pagerduty.com", "api.pushover.net", "hc-ping.com", "ntfy.sh",
}

// url masks the user information of an URL whose scheme ends at j. What follows is searched like any text.
func (m *textMasker) url(i, j int) int {
	from := j + len("://")
	end, _ := m.limit(i)
	end = max(min(end, from+maxAhead), from)
	if k := strings.IndexAny(m.s[from:end], " \t\r\n\"'`<>"); k >= 0 {
		end = from + k
	}
	rest := m.s[from:end]
	authority := rest
	if k := strings.IndexAny(rest, "/?#\\"); k >= 0 {
		authority = rest[:k]
	}
	at := strings.LastIndexByte(authority, '@')
	if k := strings.LastIndexByte(authority, ':'); at < 0 && k >= 0 && !isPort(authority[k+1:]) {
		at = strings.LastIndexByte(rest, '@') // a password that holds a slash
	}
	switch {
	case at <= 0:
		return from
	case m.urls == WholeURL:
		return m.mask(i, end)
	default:
		return m.mask(from, from+at)
	}
}

func isPort(s string) bool { return strings.Trim(s, "0123456789") == "" && len(s) <= 5 }

// hook masks the path of an address that takes messages. The host is s[i:j], without its port.
func (m *textMasker) hook(i, j int) int {
	end, _ := m.limit(i)
	end = max(min(end, j+maxAhead), j)
	if k := strings.IndexAny(m.s[j:end], " \t\r\n\"'`<>,;)\\"); k >= 0 {
		end = j + k
	}
	host, path := strings.ToLower(m.s[i:j]), m.s[j:end]
	known := slices.ContainsFunc(hookHosts, func(h string) bool { return host == h || strings.HasSuffix(host, "."+h) })
	from := 1
	if !known {
		if from = hookPath(path); from < 0 {
			return -1
		}
	}
	if from >= len(path) {
		return -1
	}
	return m.mask(j+from, end)
}

// hookPath finds what follows a part of a path that says webhook, when something random does.
func hookPath(path string) int {
	lower := strings.ToLower(path)
	for _, part := range []string{"webhook", "/hooks/"} {
		k := strings.Index(lower, part)
		if k < 0 {
			continue
		}
		slash := strings.IndexByte(path[k+1:], '/')
		if slash < 0 {
			continue
		}
		k += slash + 2
		for w := range strings.SplitSeq(path[k:], "/") {
			if len(w) >= 12 && !wordlike(w) {
				return k
			}
		}
	}
	return -1
}
