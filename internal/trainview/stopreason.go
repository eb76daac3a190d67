package trainview

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Reasons of a stop.
const (
	reasonCompleted   = "completed"
	reasonUnknown     = "unknown"
	reasonError       = "error"
	reasonPlanned     = "planned_reached"
	reasonEndReported = "end_reported"
	reasonProcessGone = "process_gone"
)

// StopReason is a reason and the expressions by which a text means it, tried in the order of the list.
type StopReason struct {
	Reason   string   `json:"reason"`
	Patterns []string `json:"patterns"`
}

// table is the order in which a text is tried: what is more telling goes first. Texts are lower case, with blanks for _ and -.
var table = []StopReason{
	{"oom", []string{
		`out of (?:\w+ )?memory`, `outofmemory`, `\boom\b`, `oom ?kill`, `\bmemoryerror\b`, `bad ?alloc`, `alloc failed`, `resource exhausted.*(?:memory|alloc)`,
		`(?:unable|failed) to (?:\w+ )?alloc`, `cannot allocate memory`, `can't allocate memory`, `memory cgroup`,
	}},
	{"disk_full", []string{`no space left`, `\benospc\b`, `disk (?:is )?full`, `(?:disk )?quota exceeded`, `\berrno 28\b`, `not enough (?:disk )?space`}},
	{"collective_timeout", []string{
		`(?:nccl|rccl|gloo|collective|allreduce|all reduce|barrier|rendezvous|store)\b.*(?:time ?out|timed out|watchdog)`,
		`(?:time ?out|timed out|watchdog).*(?:nccl|rccl|gloo|collective|allreduce|all reduce|barrier|rendezvous)`,
	}},
	{"data_loader", []string{`data ?loader`, `\bdataset ?error`, `insufficient shared memory`, `\bshm\b.*bus error`, `bus error.*\bshm\b`, `tf ?record`, `webdataset`}},
	{"non_finite", []string{
		`\bnans?\b`, `non ?finite`, `not finite`, `infinite loss`, `loss is inf`, `\binf(?:inity)?\b.*\b(?:loss|grad)`, `\b(?:loss|grad\w*)\b.*\binf(?:inity)?\b`,
		`floatingpointerror`, `loss (?:has )?diverged`,
	}},
	{"device_error", []string{
		`\bcuda\b.*(?:error|assert|fault|illegal|fail)`, `cudaerror`, `cu(?:dnn|blas|fft|sparse) (?:error|status)`, `\bhip\b.*(?:error|fault)`, `device side assert`,
		`illegal (?:memory access|instruction.*(?:gpu|device))`, `\bxid\b`, `(?:uncorrectable|double bit) ecc|ecc error`, `fallen off the bus`, `unspecified launch failure`, `nvlink.*error`,
		`\b(?:gpu|tpu|device)\b.*(?:lost|unavailable|not responding|hung)`, `xlaruntimeerror`, `\btpu\b.*(?:error|halt)`,
	}},
	{"preempted", []string{`pre ?empt`, `spot (?:instance|termination|reclaim)`, `\bevict`, `node (?:is )?(?:shutting|shut) ?down`, `\brequeue`, `maintenance event`}},
	{"max_time", []string{
		`time ?limit`, `wall ?(?:clock ?)?time`, `max(?:imum)? ?(?:training |train |run ?|wait ?)?(?:time|duration|runtime|hours|minutes)`, `deadline ?exceeded`, `time budget`, `time (?:is )?up`,
	}},
	{"early_stopping", []string{`early ?stop`, `\bpatience\b`, `(?:no|not|stopped) improv`, `did not improve`, `\bplateau`, `\bconverged\b`}},
	{"user", []string{`keyboard ?interrupt`, `\bsigint\b`, `ctrl ?\+? ?c\b`, `(?:by|from) (?:the )?user`, `user (?:abort|cancel|interrupt|stop|request)`, `\bcancell?ed\b`, `\bmanual(?:ly)?\b`, `^interrupted$`}},
	{"max_steps", []string{`max(?:imum)? ?(?:global )?(?:steps?|iter\w*|updates?)`, `(?:step|iteration|update) (?:limit|budget)`}},
	{"signal", []string{
		`\bsig(?:term|kill|segv|abrt|bus|hup|usr1|usr2|quit|xcpu|fpe|ill|pipe)\b`, `segmentation fault`, `\b(?:received|by|caught|got) signal`, `\bsignal \d+`, `^killed$`, `\bkilled by\b`,
		`exit ?(?:code|status)?:? (?:\-\d+|13[0-9]|14[0-3])\b`, `\bterminated\b`, `core dumped`, `signalexception`,
	}},
	{"completed", []string{
		`^exit(?:ed)? ?(?:code|status|with code|with status)?:? 0$`,
		`^(?:training )?(?:is )?(?:complete|completed|done|finished|success|successful|succeeded|ok|normal|end of training)(?: successfully)?$`,
		`max(?:imum)? ?(?:number of )?epochs?`, `all epochs`, `epoch limit`, `(?:training|run) (?:has )?(?:completed|finished)`,
	}},
}

// reasons are all words that a document has for it.
var reasons = []string{
	"completed", "early_stopping", "max_steps", "max_time", "user", "signal", "preempted", "oom", "non_finite", "device_error", "collective_timeout", "disk_full",
	"data_loader", "error", "planned_reached", "end_reported", "process_gone", "unknown",
}

// stopReasons is the table as it is printed.
func stopReasons() []StopReason { return table }

type compiledReason struct {
	reason   string
	patterns []*regexp.Regexp
}

var compiled = sync.OnceValue(func() []compiledReason {
	list := make([]compiledReason, len(table))
	for i, r := range table {
		list[i].reason = r.Reason
		for _, p := range r.Patterns {
			list[i].patterns = append(list[i].patterns, regexp.MustCompile(p))
		}
	}
	return list
})

// bounded gives the reason that a text spells, "" when it spells none.
func bounded(text string) string {
	word := strings.Trim(strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(text))), "_")
	if slices.Contains(reasons, word) {
		return word
	}
	return ""
}

// maxClassified is how much of a text is looked at.
const maxClassified = 4096

// classify gives the reason that a text means, "" when it means none of them.
func classify(text string) string {
	text = strings.TrimRight(strings.TrimSpace(plainText(text[:min(len(text), maxClassified)])), ".!")
	if text == "" {
		return ""
	}
	for _, r := range compiled() {
		for _, p := range r.patterns {
			if p.MatchString(text) {
				return r.reason
			}
		}
	}
	return ""
}

// plainText is lower case, with blanks for what joins words; the sign of a number stays.
func plainText(text string) string {
	b := []byte(strings.ToLower(text))
	for i, c := range b {
		if c == '_' || c == '\n' || c == '-' && (i+1 == len(b) || b[i+1] < '0' || b[i+1] > '9') {
			b[i] = ' '
		}
	}
	return string(b)
}

// classifyFailure looks at the type, then at the message.
func classifyFailure(f *trainrun.Failure) string {
	for _, text := range []string{f.Type, f.Message} {
		if reason := classify(text); reason != "" && reason != reasonCompleted {
			return reason
		}
	}
	return ""
}
