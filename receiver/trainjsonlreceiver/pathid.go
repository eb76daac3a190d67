package trainjsonlreceiver

import (
	"path/filepath"
	"regexp"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainlines"
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
		id.run = trainlines.ParentFolder(path)
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

// put adds what a record does not say itself.
func (id pathID) put(attrs pcommon.Map) {
	if id.part != "" {
		if v, found := attrs.GetOrPutEmpty(trainrecord.AttrRunPart); !found {
			v.SetStr(id.part)
		}
	}
	trainlines.PutRank(attrs, id.rank)
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

// validText gives a path as text.
func validText(s string) string { return trainlines.ValidText(s) }
