package trainview

import "time"

// explainGaps tells what liveness rests on.
func (v *view) explainGaps() {
	g := GapFacts{Count: v.cadence.gaps}
	if g.Count > 0 {
		g.MedianS, g.LongestS = seconds(v.cadence.median), seconds(v.cadence.longest)
	}
	least := limitEarly
	if v.trail.validation {
		least = limitSteady
	}
	g.Floor, g.UnknownS = seconds(least.Nanoseconds()), seconds(v.lostAfter().Nanoseconds())
	if v.last > 0 && !v.ev.ModTime.IsZero() {
		g.ModTimeS = seconds(v.ev.ModTime.UnixNano() - v.last)
		g.ModLimitS = seconds(max(copiedAfter, copiedFactor*time.Duration(v.cadence.median)).Nanoseconds())
	}
	v.explain.Gaps = g
}
