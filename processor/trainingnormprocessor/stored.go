package trainingnormprocessor

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
)

// stored is a decision as the storage holds it.
type stored struct {
	profile string
	offset  int64
	sure    bool
	likely  bool
	before  beforeDocument // empty: it revised none
	hasBase bool
	base    baseDocument
	seq     uint64 // the order of decisions
}

func newStored(d *trainprofile.Decision) stored {
	s := stored{profile: d.Profile.Name(), offset: d.Offset, sure: d.Sure, likely: d.Likely}
	if d.Before != nil {
		s.before = beforeDocument{Profile: d.Before.Profile.Name(), Offset: d.Before.Offset, Likely: d.Before.Likely}
		if base := d.Before.Base; base != nil {
			s.before.HasBase, s.before.Base = true, baseDocument{First: base.First, Offset: base.Offset}
		}
	}
	if d.Base != nil {
		s.hasBase, s.base = true, baseDocument{First: d.Base.First, Offset: d.Base.Offset}
	}
	return s
}

// decision gives what is stored; its profile is nil when that is not loaded any more.
func (s *stored) decision(set *trainprofile.Set) trainprofile.Decision {
	d := trainprofile.Decision{Profile: set.Profile(s.profile), Offset: s.offset, Sure: s.sure, Likely: s.likely}
	if p := set.Profile(s.before.Profile); p != nil {
		d.Before = &trainprofile.Decision{Profile: p, Offset: s.before.Offset, Likely: s.before.Likely}
		if s.before.HasBase {
			d.Before.Base = &trainprofile.EpochBase{First: s.before.Base.First, Offset: s.before.Base.Offset}
		}
	}
	if s.hasBase {
		d.Base = &trainprofile.EpochBase{First: s.base.First, Offset: s.base.Offset}
	}
	return d
}

// shardDocument is a value of the storage. Keys hold paths, which need not be UTF-8, so they are bytes.
type shardDocument struct {
	Version int              `json:"v"`
	Streams []storedDocument `json:"streams"`
}

type storedDocument struct {
	Key     []byte          `json:"key"`
	Profile string          `json:"profile"`
	Offset  int64           `json:"offset"`
	Sure    bool            `json:"sure,omitempty"`
	Likely  bool            `json:"likely,omitempty"`
	Before  *beforeDocument `json:"before,omitempty"`
	Base    *baseDocument   `json:"base,omitempty"`
	Seq     uint64          `json:"seq"`
}

// beforeDocument is the decision that was revised.
type beforeDocument struct {
	Profile string       `json:"profile"`
	Offset  int64        `json:"offset"`
	Likely  bool         `json:"likely,omitempty"`
	HasBase bool         `json:"has_base,omitempty"`
	Base    baseDocument `json:"base,omitzero"`
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
		one := storedDocument{Key: []byte(key), Profile: s.profile, Offset: s.offset, Sure: s.sure, Likely: s.likely, Seq: s.seq}
		if s.before != (beforeDocument{}) {
			one.Before = &s.before
		}
		if s.hasBase {
			one.Base = &s.base
		}
		doc.Streams = append(doc.Streams, one)
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
		one := stored{profile: s.Profile, offset: s.Offset, sure: s.Sure, likely: s.Likely, seq: s.Seq}
		if s.Before != nil {
			one.before = *s.Before
		}
		if s.Base != nil {
			one.hasBase, one.base = true, *s.Base
		}
		shard[string(s.Key)] = one
	}
	return shard, nil
}
