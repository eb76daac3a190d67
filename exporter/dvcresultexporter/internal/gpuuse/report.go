package gpuuse

import (
	"math"
	"strings"
	"time"
)

// What the GPUs were found by.
const (
	ByPod     = "pod"
	ByHost    = "host"      // the only run there at that time
	Ambiguous = "ambiguous" // not the only one: nothing is told of the GPUs
)

// How energy and throttled time were found.
const (
	MethodCounter  = "counter_delta"
	MethodPower    = "power_integral"
	MethodReasons  = "reason_samples"
	nanosPerSecond = float64(time.Second)
)

// Report is what a run did with GPUs, as far as was seen.
type Report struct {
	Attribution string
	Interval    float64 // seconds between two samples
	GPUs        []GPU   // by UUID and instance
}

// GPU is what a run did with a GPU. What no sample told is nil.
type GPU struct {
	UUID, Model, Host        string
	Instance, Profile        string // MIG
	Shared                   bool   // with other pods, or an instance: energy and power are those of the whole card
	Samples                  int64
	Covered                  float64 // seconds from the first sample to the last
	Energy                   *float64
	EnergyMethod             string
	MemoryPeak, MemoryMean   *float64 // MiB
	UtilMean, TemperatureMax *float64
	Throttled                []Throttle
	ThrottleMethod           string
	XIDs                     []int64 // those that appeared meanwhile; nil when no sample told
}

// Throttle is time in which the clocks were slowed down.
type Throttle struct {
	Reason  string
	Seconds float64
}

// Report gives what a run did with GPUs, nil when nothing was seen. When hosts of a run have results of their own, counts says which
// host's is asked for.
func (t *Tracker) Report(id string, counts func(host string) bool) *Report {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.runs[id]
	if u == nil || len(t.cards) == 0 && len(u.cards) == 0 {
		return nil
	}
	mine := func(s *Stay) bool { return counts(s.Host) }
	seen := t.look(u, mine)
	out := &Report{}
	for _, id := range sortedCards(seen) {
		c := seen[id]
		out.Interval = max(out.Interval, round(float64(c.Sure.Every)/nanosPerSecond))
		out.GPUs = append(out.GPUs, c.gpu(id))
		out.Attribution = ByHost
	}
	for _, c := range seen {
		if strings.HasPrefix(c.Place, podPlace("")) {
			out.Attribution = ByPod
		}
	}
	switch {
	case out.GPUs == nil:
		return nil
	case out.Attribution == ByHost && t.ambiguous(u, mine):
		return &Report{Attribution: Ambiguous}
	}
	return out
}

// look joins what is in the rings to a copy of what was joined, until the last record.
func (t *Tracker) look(u *use, mine func(*Stay) bool) map[cardID]*cardUse {
	own := &use{id: u.id, track: u.track, cards: map[cardID]*cardUse{}}
	for id, c := range u.cards {
		if u.counts(c, mine) {
			u.settle(c)
			cp := *c
			cp.All = c.All.clone()
			own.cards[id] = &cp
		}
	}
	for _, c := range t.cards {
		every := c.every()
		for i := c.done; i < len(c.ring); i++ {
			s := &c.ring[i]
			for j := range u.track.Stays {
				if stay := &u.track.Stays[j]; mine(stay) && stay.holds(c, s) {
					own.add(c, i, stay, every, false)
					break
				}
			}
		}
	}
	for id, c := range own.cards {
		if c.Sure == nil {
			delete(own.cards, id)
		}
	}
	return own.cards
}

// counts says whether a card was used at a stay that counts.
func (u *use) counts(c *cardUse, mine func(*Stay) bool) bool {
	for i := range u.track.Stays {
		if s := &u.track.Stays[i]; s.place() == c.Place && mine(s) {
			return true
		}
	}
	return false
}

func (c *cardUse) gpu(id cardID) GPU {
	t := c.Sure
	g := GPU{
		UUID: id.UUID, Model: c.Model, Host: c.Host, Instance: id.Instance, Profile: c.MIG, Shared: t.Shared || id.Instance != "",
		Samples: t.Samples, Covered: round(float64(t.Last-t.First) / nanosPerSecond),
	}
	switch {
	case t.Counted > 0 && t.Resets == 0:
		g.Energy, g.EnergyMethod = rounded(t.Milli/1000), MethodCounter
	case t.Powered > 0:
		g.Energy, g.EnergyMethod = rounded(t.Joules), MethodPower
	}
	if t.Memory.N > 0 {
		g.MemoryPeak, g.MemoryMean = rounded(t.Memory.Max), rounded(t.Memory.mean())
	}
	if t.Util.N > 0 {
		g.UtilMean = rounded(t.Util.mean())
	}
	if t.Heat.N > 0 {
		g.TemperatureMax = rounded(t.Heat.Max)
	}
	if t.XIDSeen {
		g.XIDs = append([]int64{}, t.XIDs...)
	}
	t.throttled(&g)
	return g
}

// throttled takes the counters of throttled time, else the share of samples with a reason.
func (t *total) throttled(g *GPU) {
	if !t.ViolatedReset {
		for i, name := range violations {
			if t.ViolatedSeen[i] {
				g.Throttled = append(g.Throttled, Throttle{name, round(t.Violated[i] / nanosPerSecond)})
				g.ThrottleMethod = MethodCounter
			}
		}
	}
	if g.Throttled != nil || t.Reasons == 0 {
		return
	}
	g.ThrottleMethod = MethodReasons
	for i := range slowed {
		seconds := float64(t.Slowed[i]) * float64(t.Every) / nanosPerSecond
		g.Throttled = append(g.Throttled, Throttle{slowed[i].name, round(seconds)})
	}
}

// round keeps three decimals.
func round(v float64) float64 { return math.Round(v*1000) / 1000 }

func rounded(v float64) *float64 {
	v = round(v)
	return &v
}
