package trainlines

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Options say how lines are read.
type Options struct {
	Location  *time.Location // of times without a zone; nil is UTC
	Prefixes  []Prefix
	NonFinite trainrecord.NonFinite
}

// Reader reads lines. One goroutine at a time may use it.
type Reader struct {
	decoder  *trainrecord.Decoder
	prefixes []Prefix
	location *time.Location
}

// NewReader makes a reader.
func NewReader(o Options) *Reader {
	return &Reader{
		decoder:  trainrecord.NewDecoder(trainrecord.DecoderOptions{Location: o.Location, NonFinite: o.NonFinite}),
		prefixes: o.Prefixes, location: o.Location,
	}
}

// Decoder is the one that read the last line.
func (r *Reader) Decoder() *trainrecord.Decoder { return r.decoder }

// Read is what a line is. One that falls apart has pieces, and nothing else counts then.
type Read struct {
	Line   trainrecord.Line // its Reason may be a better one than the decoder's
	Found  Prefixed
	Pieces []Piece
}

// Read decodes a line, given without its newline, into lr. One that is whole is a piece already: what is bad about it stays
// bad.
func (r *Reader) Read(data []byte, whole bool, lr plog.LogRecord) Read {
	text, found := StripPrefixes(r.prefixes, data)
	return r.read(data, text, found, whole, lr, nil)
}

// ReadRecord is Read for whoever wants the record of a line itself, with what a prefix says of it: lr has its body then. The record's
// resource is the caller's. What a prefix says of an object is in lr.
func (r *Reader) ReadRecord(data []byte, whole bool, lr plog.LogRecord, into *trainrecord.Record) Read {
	text, found := StripPrefixes(r.prefixes, data)
	if found.Rank < 0 && found.Time == "" {
		return r.read(data, text, found, whole, lr, into)
	}
	out := r.read(data, text, found, whole, lr, nil)
	if out.Line.Kind != trainrecord.LineError {
		r.PutTime(lr, found)
		PutRank(lr.Attributes(), found.Rank)
	}
	if out.Line.Kind == trainrecord.LineRecord {
		*into, _ = trainrecord.FromLog(pcommon.NewResource(), lr)
	}
	return out
}

// read decodes the text of a line behind its prefixes.
func (r *Reader) read(data, text []byte, found Prefixed, whole bool, lr plog.LogRecord, into *trainrecord.Record) Read {
	out := Read{Found: found, Line: r.decoder.DecodeRecord(text, lr, into)}
	if end := out.Line.End; end > 0 && len(trimColour(text[end:])) == 0 {
		out.Line = r.decoder.DecodeRecord(text[:end], lr, into)
	}
	if out.Line.Kind == trainrecord.LineError && !whole && mayFallApart(out.Line.Reason) {
		out.Pieces, out.Line.Reason = r.split(data, out.Line.Reason)
	}
	return out
}

// mayFallApart says whether a line with that reason may hold more than one thing.
func mayFallApart(reason trainrecord.Reason) bool {
	return reason == trainrecord.ReasonNotJSON || reason == trainrecord.ReasonTrailingData
}

// PutRank adds a rank, unless it is absent (-1) or the record has one.
func PutRank(attrs pcommon.Map, rank int64) {
	if rank < 0 {
		return
	}
	if v, found := attrs.GetOrPutEmpty(trainrecord.AttrRunRank); !found {
		v.SetInt(rank)
	}
}

// PutTime adds the time of a prefix, unless the record has one.
func (r *Reader) PutTime(lr plog.LogRecord, found Prefixed) {
	if found.Time == "" || lr.Timestamp() != 0 {
		return
	}
	if ts, ok := trainrecord.ParseTime(found.Time, r.location); ok {
		lr.SetTimestamp(ts)
	}
}
