package main

import (
	"fmt"
	"io"
)

// none is the number of allocations a point below which there are none a point: what a batch costs is not a point's.
const none = 0.01

// target is what a comparison must reach; zero ratios are not compared, nor are negative allocations.
type target struct {
	atMost  float64 // times the peer's time
	atLeast float64 // times faster than the peer
	allocs  float64
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
	ratio, wanted := ours.perPoint()/peer.perPoint(), fmt.Sprintf("≤ %g", want.atMost)
	met := func(factor float64) bool { return ratio <= want.atMost*factor }
	if want.atMost == 0 {
		ratio = 1 / ratio
		wanted, met = "", func(float64) bool { return true }
		if want.atLeast > 0 {
			wanted, met = fmt.Sprintf("≥ %g", want.atLeast), func(factor float64) bool { return ratio >= want.atLeast/factor }
		}
	}
	allocs := ours.allocsPerPoint()
	if want.allocs >= 0 {
		if wanted != "" {
			wanted += ", "
		}
		wanted += fmt.Sprintf("%g allocations", want.allocs)
		if want.allocs > 0 {
			wanted = wanted[:len(wanted)-len(fmt.Sprintf("%g allocations", want.allocs))] + fmt.Sprintf("≤ %g allocation", want.allocs)
		}
	}
	few := want.allocs < 0 || allocs <= want.allocs+none
	verdict := t.verdict(name, wanted != "", met(1) && few, met(t.factor) && few)
	fmt.Fprintf(t.out, "| %s | %.0f | %.0f | %.1f × | %s | %.2f → %.2f | %.0f → %.0f | %s |\n",
		name, peer.perPoint(), ours.perPoint(), ratio, wanted, peer.allocsPerPoint(), allocs, peer.bytesPerPoint(), ours.bytesPerPoint(), verdict)
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
