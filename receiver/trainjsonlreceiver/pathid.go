package trainjsonlreceiver

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Named groups of run_id.path_regex.
const (
	groupRunID   = "run_id"
	groupRank    = "rank"
	groupAttempt = "attempt"
	groupPart    = "part"
)

var pathGroups = []string{groupRunID, groupRank, groupAttempt, groupPart}

// pathID is what a path says about the run of its lines.
type pathID struct {
	run     string
	folder  bool // the parent folder's name is the run
	part    string
	rank    int64 // -1 = absent
	attempt int64 // 0 = absent
}

// newPathID reads a path: by the expression if there is one and it matches, else the parent folder names the run.
func newPathID(re *regexp.Regexp, path string) pathID {
	id := pathID{rank: -1}
	if re != nil {
		if m := re.FindStringSubmatch(path); m != nil {
			id.fill(re, m)
		}
	}
	if id.run == "" {
		id.run = parentFolder(path)
		id.folder = id.run != ""
	}
	id.run = validText(id.run)
	id.part = validText(id.part)
	return id
}

func (id *pathID) fill(re *regexp.Regexp, match []string) {
	for i, name := range re.SubexpNames() {
		switch name {
		case groupRunID:
			id.run = match[i]
		case groupPart:
			id.part = match[i]
		case groupRank:
			if n, err := strconv.ParseInt(match[i], 10, 64); err == nil && n >= 0 {
				id.rank = n
			}
		case groupAttempt:
			if n, err := strconv.ParseInt(match[i], 10, 64); err == nil && n >= 1 {
				id.attempt = n
			}
		default:
		}
	}
}

// parentFolder names the folder of a file, "" when that is the root or the working directory.
func parentFolder(path string) string {
	name := filepath.Base(filepath.Dir(path))
	if name == "." || name == ".." || name == string(filepath.Separator) {
		return ""
	}
	return name
}

// put adds what a record does not say itself.
func (id pathID) put(attrs pcommon.Map) {
	if id.part != "" {
		if v, found := attrs.GetOrPutEmpty(trainrecord.AttrRunPart); !found {
			v.SetStr(id.part)
		}
	}
	putRank(attrs, id.rank)
	if id.attempt > 0 {
		if v, found := attrs.GetOrPutEmpty(trainrecord.AttrRunAttempt); !found {
			v.SetInt(id.attempt)
		}
	}
}

// putFile adds where a record was found.
func (s source) putFile(attrs pcommon.Map) {
	if !s.nameless {
		attrs.PutStr(trainrecord.AttrLogFilePath, s.path)
	}
	if s.named {
		attrs.PutStr(trainrecord.AttrLogFileName, filepath.Base(s.path))
	}
}

// putRank adds a rank, unless it is absent (-1) or the record has one.
func putRank(attrs pcommon.Map, rank int64) {
	if rank < 0 {
		return
	}
	if v, found := attrs.GetOrPutEmpty(trainrecord.AttrRunRank); !found {
		v.SetInt(rank)
	}
}

// validText gives a path as text. Bytes that are no UTF-8 are written as %FF: two folders stay two.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "%%%02X", s[0])
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}
