package trainingnormprocessor

import (
	"encoding/hex"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
)

// lifeDocument is what a stream remembers whether or not it was recognised.
type lifeDocument struct {
	Begun  bool            `json:"begun,omitempty"`
	Starts []startDocument `json:"starts,omitempty"`
}

// startDocument is a run.start. Run ids need not be UTF-8, so they are bytes.
type startDocument struct {
	Run    []byte `json:"run"`
	Offset int64  `json:"offset"`
	Trace  string `json:"trace,omitempty"`
}

func newLife(l *trainprofile.Life) *lifeDocument {
	if l == nil {
		return nil
	}
	doc := &lifeDocument{Begun: l.Begun}
	for _, s := range l.Starts {
		doc.Starts = append(doc.Starts, startDocument{Run: []byte(s.RunID), Offset: s.Offset, Trace: s.TraceID.String()})
	}
	return doc
}

func (d *lifeDocument) life() *trainprofile.Life {
	if d == nil {
		return nil
	}
	l := &trainprofile.Life{Begun: d.Begun}
	for _, s := range d.Starts {
		start := trainprofile.Start{RunID: string(s.Run), Offset: s.Offset}
		if id, err := hex.DecodeString(s.Trace); err == nil {
			copy(start.TraceID[:], id)
		}
		l.Starts = append(l.Starts, start)
	}
	return l
}
