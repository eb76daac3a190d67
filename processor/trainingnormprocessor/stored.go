package trainingnormprocessor

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
)

// stored is what is remembered of a stream, as the storage holds it. Nothing is remembered of the zero value.
type stored struct {
	profile string // "": it was not recognised
	offset  int64
	sure    bool
	likely  bool
	before  *beforeDocument // nil: it revised none
	base    *baseDocument
	partial *int64
	life    *lifeDocument
	seq     uint64 // the order of decisions
}

func newStored(d *trainprofile.Decision, l *trainprofile.Life) stored {
	s := stored{life: newLife(l)}
	if d != nil {
		s.profile, s.offset, s.sure, s.likely = d.Profile.Name(), d.Offset, d.Sure, d.Likely
		s.before, s.base, s.partial = newBefore(d.Before), newBase(d.Base), d.Partial
	}
	return s
}

func (s *stored) isNothing() bool { return s.profile == "" && s.life == nil }

// restore makes a stream what it was.
func (s *stored) restore(stream *trainprofile.Stream, set *trainprofile.Set) {
	stream.Restore(s.decision(set))
	stream.RestoreLife(s.life.life())
}

func newBefore(d *trainprofile.Decision) *beforeDocument {
	if d == nil {
		return nil
	}
	return &beforeDocument{
		Profile: d.Profile.Name(), Offset: d.Offset, Likely: d.Likely, Base: newBase(d.Base), Partial: d.Partial,
		Before: newBefore(d.Before),
	}
}

func newBase(b *trainprofile.EpochBase) *baseDocument {
	if b == nil {
		return nil
	}
	return &baseDocument{First: b.First, Offset: b.Offset}
}

// decision gives what is stored; its profile is nil when that is not loaded any more.
func (s *stored) decision(set *trainprofile.Set) trainprofile.Decision {
	return trainprofile.Decision{
		Profile: set.Profile(s.profile), Offset: s.offset, Sure: s.sure, Likely: s.likely,
		Before: s.before.decision(set), Base: s.base.epochBase(), Partial: s.partial,
	}
}

func (b *beforeDocument) decision(set *trainprofile.Set) *trainprofile.Decision {
	if b == nil || set.Profile(b.Profile) == nil {
		return nil
	}
	return &trainprofile.Decision{
		Profile: set.Profile(b.Profile), Offset: b.Offset, Likely: b.Likely, Base: b.Base.epochBase(), Partial: b.Partial,
		Before: b.Before.decision(set),
	}
}

func (b *baseDocument) epochBase() *trainprofile.EpochBase {
	if b == nil {
		return nil
	}
	return &trainprofile.EpochBase{First: b.First, Offset: b.Offset}
}

// shardDocument is a value of the storage. Keys hold paths, which need not be UTF-8, so they are bytes.
type shardDocument struct {
	Version int              `json:"v"`
	Streams []storedDocument `json:"streams"`
}

type storedDocument struct {
	Key     []byte          `json:"key"`
	Profile string          `json:"profile,omitempty"`
	Offset  int64           `json:"offset"`
	Sure    bool            `json:"sure,omitempty"`
	Likely  bool            `json:"likely,omitempty"`
	Before  *beforeDocument `json:"before,omitempty"`
	Base    *baseDocument   `json:"base,omitempty"`
	Partial *int64          `json:"partial,omitempty"`
	Life    *lifeDocument   `json:"life,omitempty"`
	Seq     uint64          `json:"seq"`
}

// beforeDocument is the decision that was revised.
type beforeDocument struct {
	Profile string          `json:"profile"`
	Offset  int64           `json:"offset"`
	Likely  bool            `json:"likely,omitempty"`
	Base    *baseDocument   `json:"base,omitempty"`
	Partial *int64          `json:"partial,omitempty"`
	Before  *beforeDocument `json:"before,omitempty"`
}

// baseDocument is the number of the stream's first epoch.
type baseDocument struct {
	First  int64 `json:"first"`
	Offset int64 `json:"offset"`
}

func encodeShard(shard map[string]stored) ([]byte, error) {
	doc := shardDocument{Version: storedVersion}
	for _, key := range slices.Sorted(maps.Keys(shard)) {
		s := shard[key]
		doc.Streams = append(doc.Streams, storedDocument{
			Key: []byte(key), Profile: s.profile, Offset: s.offset, Sure: s.sure, Likely: s.likely, Before: s.before, Base: s.base,
			Partial: s.partial, Life: s.life, Seq: s.seq,
		})
	}
	return json.Marshal(doc)
}

func decodeShard(n int, text []byte) (map[string]stored, error) {
	if text == nil {
		return nil, nil
	}
	var doc shardDocument
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if doc.Version != storedVersion {
		return nil, fmt.Errorf("version %d is not %d", doc.Version, storedVersion)
	}
	shard := make(map[string]stored, len(doc.Streams))
	for _, s := range doc.Streams {
		if shardOf(string(s.Key)) != n {
			return nil, errors.New("holds a stream of another value")
		}
		shard[string(s.Key)] = stored{
			profile: s.Profile, offset: s.Offset, sure: s.Sure, likely: s.Likely, before: s.Before, base: s.Base,
			partial: s.Partial, life: s.Life, seq: s.Seq,
		}
	}
	return shard, nil
}
