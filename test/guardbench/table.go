package main

import (
	"fmt"
	"io"
	"strings"
)

// none is the number of allocations a point below which there are none a point: what a batch costs is not a point's.
const none = 0.01

// target is what a comparison must reach; zero ratios are not compared, nor are negative allocations.
type target struct {
	atMost  float64 // times the peer's time
	atLeast float64 // times faster than the peer
	allocs  float64
}

// ratio is in the direction that the target is told in.
func (w target) ratio(peer, ours *cost) float64 {
	if w.atMost > 0 {
		return ours.perPoint() / peer.perPoint()
	}
	return peer.perPoint() / ours.perPoint()
}

// met says whether the target is reached; the ratio may miss it by a factor.
func (w target) met(peer, ours *cost, factor float64) bool {
	ratio := w.ratio(peer, ours)
	switch {
	case w.allocs >= 0 && ours.allocsPerPoint() > w.allocs+none, w.atMost > 0 && ratio > w.atMost*factor:
		return false
	default:
		return ratio >= w.atLeast/factor
	}
}

func (w target) String() string {
	var all []string
	if w.atMost > 0 {
		all = append(all, fmt.Sprintf("≤ %g ×", w.atMost))
	}
	if w.atLeast > 0 {
		all = append(all, fmt.Sprintf("≥ %g ×", w.atLeast))
	}
	if w.allocs >= 0 {
		all = append(all, fmt.Sprintf("≤ %g allocations", w.allocs))
	}
	return strings.Join(all, ", ")
}

// table prints what was measured in Markdown and keeps what was missed.
type table struct {
	out    io.Writer
	factor float64
	missed []string
}

func (t *table) head(what, peer, ratio, allocs string) {
	fmt.Fprintf(t.out, "\n| %s | %s, ns | guard, ns | %s | wanted | %s, peer → guard | bytes | |\n| --- | ---: | ---: | ---: | --- | --- | --- | --- |\n",
		what, peer, ratio, allocs)
}

// compare prints a row of times a point.
func (t *table) compare(name string, peer, ours *cost, want target) {
	wanted := want.String()
	verdict := t.verdict(name, wanted != "", want.met(peer, ours, 1), want.met(peer, ours, t.factor))
	fmt.Fprintf(t.out, "| %s | %.0f | %.0f | %.1f × | %s | %.2f → %.2f | %.0f → %.0f | %s |\n",
		name, peer.perPoint(), ours.perPoint(), want.ratio(peer, ours), wanted,
		peer.allocsPerPoint(), ours.allocsPerPoint(), peer.bytesPerPoint(), ours.bytesPerPoint(), verdict)
}

func (t *table) limits(what, measured, most string) {
	fmt.Fprintf(t.out, "\n| %s | %s | %s | |\n| --- | ---: | ---: | --- |\n", what, measured, most)
}

// bound prints a row of a value that may be at most so much; zero: anything.
func (t *table) bound(name string, value, most float64, format string) {
	limit := ""
	if most > 0 {
		limit = fmt.Sprintf(format, most)
	}
	fmt.Fprintf(t.out, "| %s | "+format+" | %s | %s |\n", name, value, limit, t.verdict(name, most > 0, value <= most, value <= most*t.factor))
}

func (t *table) verdict(name string, wanted, met, nearly bool) string {
	switch {
	case !wanted:
		return ""
	case met:
		return "met"
	case nearly:
		return "nearly"
	default:
		t.missed = append(t.missed, name)
		return "MISSED"
	}
}
