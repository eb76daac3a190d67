package gpuuse

import (
	"math"
	"slices"
)

const maxXIDs = 32

// total is what one GPU did for one run.
type total struct {
	First   int64 `json:"first"` // samples in the window
	Last    int64 `json:"last"`
	Samples int64 `json:"samples"`
	Every   int64 `json:"every,omitempty"`

	Counted int64   `json:"counted,omitempty"` // differences of the counter
	Milli   float64 `json:"milli,omitempty"`   // mJ by the counter
	Resets  int64   `json:"resets,omitempty"`
	Powered int64   `json:"powered,omitempty"` // intervals with power at both ends
	Joules  float64 `json:"joules,omitempty"`  // by power

	Memory, Util, Heat stat

	Violated      [len(violations)]float64 `json:"violated"` // ns
	ViolatedSeen  [len(violations)]bool    `json:"violated_seen"`
	ViolatedReset bool                     `json:"violated_reset,omitempty"`
	Reasons       int64                    `json:"reasons,omitempty"` // samples that tell them
	Slowed        [len(slowed)]int64       `json:"slowed"`            // of these, with one of the bits

	XIDSeen bool    `json:"xid_seen,omitempty"`
	XIDs    []int64 `json:"xids,omitempty"`
	Shared  bool    `json:"shared,omitempty"`

	Prev *Sample `json:"prev,omitempty"` // what the next one is compared with
	Span int64   `json:"span"`           // the beginning of the span that Prev is of
}

// stat is the sum and the greatest of some values.
type stat struct {
	N   int64   `json:"n"`
	Sum float64 `json:"sum"`
	Max float64 `json:"max"`
}

func (s *stat) add(v float64, ok bool) {
	if !ok {
		return
	}
	if s.N == 0 || v > s.Max {
		s.Max = v
	}
	s.N++
	s.Sum += v
}

func (s *stat) mean() float64 { return s.Sum / float64(s.N) }

// slowed are the reasons to slow the clocks down that a result names; idle clocks, and those that somebody set, are none.
var slowed = [...]struct {
	name string
	bits uint64
}{{"power", 0x4}, {"hw_slowdown", 0x8}, {"sync_boost", 0x10}, {"thermal", 0x20 | 0x40}, {"power_brake", 0x80}}

func (t *total) clone() *total {
	c := *t
	c.XIDs = slices.Clone(t.XIDs)
	return &c
}

// add counts a sample of a span that began at from. Before is the sample to compare with, nil for none.
func (t *total) add(s, before *Sample, from, every int64) {
	if t.Samples == 0 {
		t.First = s.Time
	}
	t.Samples++
	t.Last, t.Every = s.Time, every
	t.Shared = t.Shared || len(s.Pods) > 1
	t.Memory.add(s.get(memory))
	t.Util.add(s.get(util))
	t.Heat.add(s.get(heat))
	if mask, ok := s.get(reasons); ok {
		t.Reasons++
		for i := range slowed {
			if uint64(mask)&slowed[i].bits != 0 {
				t.Slowed[i]++
			}
		}
	}
	_, knows := s.get(xid)
	t.XIDSeen = t.XIDSeen || knows
	if before != nil {
		t.compare(s, before, from)
	}
	t.Prev, t.Span = s, from
}

func (t *total) compare(s, before *Sample, from int64) {
	a, okA := before.get(energy)
	b, okB := s.get(energy)
	switch {
	case !okA || !okB:
	case b < a:
		t.Resets++
	default:
		t.Counted++
		t.Milli += b - a
	}
	a, okA = before.get(power)
	b, okB = s.get(power)
	if okA && okB {
		t.Powered++
		t.Joules += float64((a+b)/2) * float64(s.Time-max(before.Time, from)) / 1e9
	}
	for i := range violations {
		a, okA = before.get(violatedPower + field(i)) //nolint:gosec // a few
		b, okB = s.get(violatedPower + field(i))      //nolint:gosec // a few
		if okA && okB {
			t.ViolatedSeen[i] = true
			t.Violated[i] += max(b-a, 0)
			t.ViolatedReset = t.ViolatedReset || b < a
		}
	}
	a, okA = before.get(xid)
	b, okB = s.get(xid)
	if okA && okB && a != b && b != 0 && b == math.Trunc(b) {
		if i, found := slices.BinarySearch(t.XIDs, int64(b)); !found && len(t.XIDs) < maxXIDs {
			t.XIDs = slices.Insert(slices.Clone(t.XIDs), i, int64(b))
		}
	}
}
