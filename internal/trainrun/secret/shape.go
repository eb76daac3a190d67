package secret

import "strings"

const maxToken = 128 // bytes of a token that are looked at

// shape is the beginning of a known form of token; least is the number of letters and digits that must follow.
type shape struct {
	text  string
	least int
}

// shapes by their first byte. The forms are those that the providers publish, so that leaked ones can be found.
var shapes = byFirst([]shape{
	{"ghp_", 4}, {"gho_", 4}, {"ghu_", 4}, {"ghs_", 4}, {"ghr_", 4}, {"github_pat_", 4},
	{"glpat-", 4}, {"gldt-", 12}, {"glrt-", 12}, {"glptt-", 12}, {"glcbt-", 12}, {"glsoat-", 12}, {"gloas-", 12}, {"glagent-", 12}, {"glft-", 12},
	{"dckr_pat_", 4}, {"pypi-", 16}, {"npm_", 16}, {"rubygems_", 16},
	{"xoxb-", 4}, {"xoxp-", 4}, {"xoxa-", 4}, {"xoxr-", 4}, {"xoxs-", 4}, {"xoxe-", 4}, {"xoxe.xox", 4}, {"xapp-", 8},
	{"hf_", 16}, {"api_org_", 16}, {"sk-", 16}, {"sk_live_", 8}, {"sk_test_", 8}, {"rk_live_", 8}, {"rk_test_", 8}, {"whsec_", 16},
	{"nvapi-", 16}, {"gsk_", 16}, {"xai-", 16}, {"pplx-", 16}, {"r8_", 16}, {"lsv2_pt_", 16}, {"lsv2_sk_", 16}, {"pcsk_", 16},
	{"AKIA", 12}, {"ASIA", 12}, {"ABIA", 12}, {"ACCA", 12}, {"AIza", 12}, {"GOCSPX-", 12}, {"ya29.", 16}, {"LTAI", 12},
	{"hvs.", 16}, {"hvb.", 16}, {"SG.", 16}, {"dapi", 28}, {"dop_v1_", 16}, {"doo_v1_", 16}, {"dor_v1_", 16}, {"dp.pt.", 16}, {"dp.st.", 16},
	{"shpat_", 16}, {"shpss_", 16}, {"shpca_", 16}, {"shppa_", 16}, {"glsa_", 16}, {"glc_", 16}, {"lin_api_", 16}, {"PMAK-", 16}, {"pul-", 16},
	{"sntrys_", 16}, {"sntryu_", 16}, {"ntn_", 16}, {"figd_", 16}, {"xkeysib-", 16}, {"NRAK-", 12}, {"AGE-SECRET-KEY-1", 16}, {"sbp_", 16},
	{"sb_secret_", 8}, {"sk-proj-", 8}, {"sk-ant-", 8},
})

func byFirst(list []shape) (out [128][]shape) {
	for _, s := range list {
		out[s.text[0]] = append(out[s.text[0]], s)
	}
	return out
}

// leastShape is how long the shortest known form is.
var leastShape = func() int {
	least := maxToken
	for _, list := range shapes {
		for _, s := range list {
			least = min(least, len(s.text)+s.least)
		}
	}
	return least
}()

// isShape says that a word is a secret whatever its name: a known form of token, or a signed token.
func isShape(w string) bool {
	for i := 0; i+leastShape <= len(w); i++ {
		if i > 0 && isAlnum(w[i-1]) && w[i-1] < 0x80 || w[i] >= 0x80 { // behind another script's letters and signs a token begins as behind a blank
			continue
		}
		for _, s := range shapes[w[i]] {
			if strings.HasPrefix(w[i:], s.text) && follows(w[i+len(s.text):], s.least) {
				return true
			}
		}
		if strings.HasPrefix(w[i:], "eyJ") && strings.Count(w[i:min(len(w), i+maxAhead)], ".") >= 2 && len(w)-i > 40 {
			return true
		}
	}
	return false
}

// follows says that enough of a token follows: letters and digits in one, or, with signs in it, no words.
func follows(s string, least int) bool {
	s = s[:min(len(s), maxToken)]
	n, end, one := 0, 0, 0
	for end < len(s) && (isAlnum(s[end]) || s[end] == '-' || s[end] == '_') {
		if isAlnum(s[end]) {
			n++
		} else if one == 0 {
			one = max(n, 1)
		}
		end++
	}
	return n >= least && (one == 0 || one >= least || !wordlike(s[:end]))
}

// plain are the bytes of a word that no value follows.
var plain = func() (out [256]bool) {
	for c := range 256 {
		out[c] = isAlnum(byte(c)) || strings.IndexByte("_/.()@%+[]", byte(c)) >= 0
	}
	return out
}()

// harmless says at a glance that a text holds no secret: it is one word, without a sign that a value may follow, and not of a
// known form. Nearly every name of a measurement is.
func harmless(s string) bool {
	if len(s) > 256 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; plain[c] || c == '-' && i > 0 && isAlnum(s[i-1]) {
			continue
		}
		return false
	}
	return !isShape(s) && !strings.Contains(s, "hook")
}
