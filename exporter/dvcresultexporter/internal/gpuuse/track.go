package gpuuse

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

const (
	maxStays = 64
	maxSpans = 16
)

// Kind is what a record means for the time in which a run uses GPUs.
type Kind uint8

// The kinds. A run works from its first record until its end, and again from work that comes after it.
const (
	Other Kind = iota
	Work       // a start, an epoch, a step, a phase
	End        // of the run
)

// Mark is what a record of a run tells about when and where.
type Mark struct {
	Time int64 // 0 for none: such a record tells nothing
	Kind Kind
	Rank int64
	Host string
	Pod  Pod
}

// Track says when and where a run worked.
type Track struct {
	Spans []Span `json:"spans,omitempty"`
	Stays []Stay `json:"stays,omitempty"`
	Quiet bool   `json:"quiet,omitempty"` // silent for too long: it works no more
}

// Span is a time of work; while it is open the run may go on.
type Span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"` // the last record so far
	Open bool  `json:"open,omitempty"`
}

// Stay is a place of work: a pod, or a host without one.
type Stay struct {
	Host  string `json:"host,omitempty"`
	Pod   Pod    `json:"pod"`
	Rank  int64  `json:"rank,omitempty"` // the lowest
	First int64  `json:"first"`
	Last  int64  `json:"last"`
}

// mark takes a record; it says whether other runs may be concerned: a place is new, or the run works again, or no more.
func (t *Track) mark(m *Mark) bool {
	if m.Time <= 0 {
		return false
	}
	was, quiet, places := t.open(), t.Quiet, len(t.Stays)
	t.Quiet = false
	t.span(m)
	t.stay(m)
	return was != t.open() || quiet || places != len(t.Stays)
}

func (t *Track) open() bool { return len(t.Spans) > 0 && t.Spans[len(t.Spans)-1].Open }

func (t *Track) span(m *Mark) {
	if len(t.Spans) == 0 {
		t.Spans = []Span{{m.Time, m.Time, m.Kind != End}}
		return
	}
	if first := &t.Spans[0]; m.Time < first.From {
		first.From = m.Time
		return
	}
	last := &t.Spans[len(t.Spans)-1]
	switch {
	case m.Time <= last.To && m.Kind != End, m.Time < last.From:
	case m.Kind == End:
		if last.Open { // a launcher may say it once more
			last.Open, last.To = false, max(last.To, m.Time)
		}
	case last.Open:
		last.To = m.Time
	case m.Kind == Work:
		t.Spans = append(t.Spans, Span{m.Time, m.Time, true})
		if len(t.Spans) > maxSpans {
			t.Spans = slices.Delete(t.Spans, 0, 1)
		}
	}
}

func (t *Track) stay(m *Mark) {
	if m.Host == "" && m.Pod.Name == "" || len(m.Host)+len(m.Pod.Name)+len(m.Pod.Namespace) > 3*maxLabel {
		return
	}
	s := Stay{Host: m.Host, Pod: m.Pod, Rank: m.Rank, First: m.Time, Last: m.Time}
	i, found := slices.BinarySearchFunc(t.Stays, s, compareStays)
	if found {
		o := &t.Stays[i]
		o.Rank, o.First, o.Last = min(o.Rank, s.Rank), min(o.First, s.First), max(o.Last, s.Last)
		return
	}
	t.Stays = slices.Insert(t.Stays, i, s)
	if len(t.Stays) > maxStays {
		t.Stays = t.Stays[:maxStays]
	}
}

func compareStays(a, b Stay) int {
	return cmp.Or(strings.Compare(a.Host, b.Host), comparePods(a.Pod, b.Pod))
}

// until is when a stay is over: with its last record when its rank went on somewhere else, else with the run.
func (t *Track) until(s *Stay) int64 {
	for i := range t.Stays {
		if o := &t.Stays[i]; o != s && o.Rank == s.Rank && o.First >= s.Last && o.First > s.First {
			return s.Last
		}
	}
	return math.MaxInt64
}

// since is when a stay begins: with the run, unless its rank was somewhere else before.
func (t *Track) since(s *Stay) int64 {
	for i := range t.Stays {
		if o := &t.Stays[i]; o != s && o.Rank == s.Rank && o.First < s.First {
			return s.First
		}
	}
	return 0
}

// spanAt finds the span of a time at a stay. Beyond the last record of an open one it is not sure.
func (t *Track) spanAt(s *Stay, at int64) (from int64, sure, ok bool) {
	since := t.since(s)
	if at < since || at > t.until(s) {
		return 0, false, false
	}
	for i := range t.Spans {
		sp := &t.Spans[i]
		if at >= sp.From && (at <= sp.To || sp.Open && !t.Quiet) {
			return max(sp.From, since), at <= sp.To, true
		}
	}
	return 0, false, false
}

// meets says whether the work at a stay and that of another run at one overlap in time. That of the other goes on while it is open.
func (t *Track) meets(s *Stay, o *Track, os *Stay) bool {
	for i := range t.Spans {
		from, to := max(t.Spans[i].From, t.since(s)), min(t.Spans[i].To, t.until(s))
		for j := range o.Spans {
			oFrom, oTo := max(o.Spans[j].From, o.since(os)), min(o.Spans[j].To, o.until(os))
			if o.Spans[j].Open && !o.Quiet {
				oTo = o.until(os)
			}
			if from <= oTo && oFrom <= to && from <= to && oFrom <= oTo {
				return true
			}
		}
	}
	return false
}

// place is the key under which runs that work there are found.
func (s *Stay) place() string {
	if s.Pod.Name != "" {
		return podPlace(s.Pod.Name)
	}
	return hostPlace(s.Host)
}

func podPlace(name string) string { return "pod " + name }

// hostPlace puts a host with and without its domain in one place.
func hostPlace(host string) string { return "host " + shortHost(host) }

func shortHost(host string) string {
	host = strings.ToLower(host)
	short, _, found := strings.Cut(host, ".")
	if !found || strings.Trim(short, "0123456789") == "" { // an address
		return host
	}
	return short
}

// sameHost compares two names of a host, one of which may lack the domain.
func sameHost(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b || shortHost(a) == shortHost(b) && (!strings.Contains(a, ".") || !strings.Contains(b, "."))
}

// holds says whether a sample of a card counts for the work at a stay. A GPU that belongs to a pod is nobody else's.
func (s *Stay) holds(c *card, m *Sample) bool {
	if s.Pod.Name == "" {
		return len(m.Pods) == 0 && sameHost(s.Host, c.host)
	}
	return slices.ContainsFunc(m.Pods, s.isPod)
}

func (s *Stay) isPod(p Pod) bool {
	return p.Name == s.Pod.Name && (p.Namespace == s.Pod.Namespace || p.Namespace == "" || s.Pod.Namespace == "")
}

// others says that a sample is that of other pods.
func (s *Stay) others(m *Sample) bool {
	return len(m.Pods) > 0 && !slices.ContainsFunc(m.Pods, s.isPod)
}
