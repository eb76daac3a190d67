package main

import (
	"cmp"
	"fmt"
	"slices"
)

// tolerance is what a small run may miss a target by: it is noisier than the full one.
const tolerance = 1.25

// row is one line of the table: what peer and contender used, in the unit of the measure, a value for each run.
type row struct {
	load, measure, contender string
	format                   string
	peer, ours               []float64
	target                   *target
	least                    *int64 // instead of a target: what ours may be at most
}

// ratio is peer : contender, of medians.
func (r *row) ratio() float64 { return quotient(median(r.peer), median(r.ours)) }

// spread is the least and the greatest ratio of a round.
func (r *row) spread() (least, most float64) {
	var all []float64
	for i := range r.ours {
		all = append(all, quotient(r.peer[i], r.ours[i]))
	}
	return slices.Min(all), slices.Max(all)
}

// met says whether the contender keeps its target, which may be missed by a factor.
func (r *row) met(factor float64) bool {
	switch {
	case r.least != nil:
		return slices.Max(r.ours) <= float64(*r.least)
	case r.target != nil:
		return r.ratio() >= r.target.AtLeast/factor
	default:
		return true
	}
}

// wanted is the target in words.
func (r *row) wanted() string {
	switch {
	case r.least != nil:
		return fmt.Sprintf("at most %d", *r.least)
	case r.target == nil:
		return ""
	case r.target.Aim > 0:
		return fmt.Sprintf("≥ %.3g (aim %.3g)", r.target.AtLeast, r.target.Aim)
	default:
		return fmt.Sprintf("≥ %.3g", r.target.AtLeast)
	}
}

func (r *row) verdict(factor float64) string {
	switch {
	case !r.met(factor):
		return "MISSED"
	case !r.met(1):
		return fmt.Sprintf("within %.3g ×", factor)
	case r.target != nil && r.target.Aim > 0 && r.ratio() >= r.target.Aim:
		return "met, and the aim"
	case r.target == nil && r.least == nil:
		return ""
	default:
		return "met"
	}
}

// line is the row in Markdown.
func (r *row) line(factor float64) string {
	ratio := "" // of nothing to nothing there is none
	if r.least == nil && median(r.peer) > 0 {
		least, most := r.spread()
		ratio = fmt.Sprintf("**%.2f** (%.2f to %.2f)", r.ratio(), least, most)
	}
	return fmt.Sprintf("| %s | %s | "+r.format+" | "+r.format+" | %s | %s | %s |",
		r.load, r.measure, median(r.peer), median(r.ours), ratio, r.wanted(), r.verdict(factor))
}

func median(values []float64) float64 {
	sorted := slices.SortedFunc(slices.Values(values), cmp.Compare[float64])
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func quotient(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
