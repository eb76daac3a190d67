package gpuuse

import (
	"slices"
)

// card is a GPU with the samples of the last time. They are joined to runs when they are as old as lookback, because records come
// later than what they tell of, and stay as long again, because a pod's label does.
type card struct {
	id                   cardID
	host, model, profile string
	ring                 []Sample // by time
	done                 int      // the first ones, which are joined
}

// put takes a sample, one a time: another scrape of the same exporter says nothing new.
func (c *card) put(r *Reading) bool {
	i, found := slices.BinarySearchFunc(c.ring, r.Sample.Time, func(s Sample, t int64) int {
		switch {
		case s.Time < t:
			return -1
		case s.Time > t:
			return 1
		}
		return 0
	})
	if found || i < c.done {
		return false
	}
	c.ring = slices.Insert(c.ring, i, r.Sample)
	c.host, c.model, c.profile = r.Host, r.Model, r.Profile
	return true
}

// drop forgets the joined samples that are older than a time, or too many.
func (c *card) drop(before int64) {
	n := 0
	for n < c.done && (c.ring[n].Time < before || len(c.ring)-n > maxRing) {
		n++
	}
	if n > 0 {
		c.ring = slices.Delete(c.ring, 0, n)
		c.done -= n
	}
}

// every is the usual time between two samples, 0 for a single one.
func (c *card) every() int64 {
	if len(c.ring) < 2 {
		return 0
	}
	gaps := make([]int64, 0, len(c.ring)-1)
	for i := 1; i < len(c.ring); i++ {
		gaps = append(gaps, c.ring[i].Time-c.ring[i-1].Time)
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// baseline finds the sample from which a run that began at a time is counted, before the sample i, its first: the last one at or before
// the beginning, if that is no longer ago than the usual time between two. A label that came late does not lose the beginning, unless the
// GPU was another pod's.
func (c *card) baseline(i int, from, every int64, others func(*Sample) bool) *Sample {
	var found *Sample
	if c.ring[i].Time <= from {
		return nil
	}
	for i--; i >= 0; i-- {
		s := &c.ring[i]
		if s.Time < from-every-every/10 || others(s) {
			break
		}
		found = s
		if s.Time <= from {
			break
		}
	}
	return found
}
