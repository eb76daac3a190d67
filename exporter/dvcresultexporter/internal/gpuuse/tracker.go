package gpuuse

import (
	"slices"
	"sync"
	"time"
)

const (
	maxCards    = 256 // GPUs and instances that are known
	maxRing     = 600 // samples of a GPU
	maxRunCards = 64  // GPUs of a run
)

// Tracker joins readings to runs. It is safe for concurrent use, and none of its methods waits for anything.
type Tracker struct {
	lookback int64

	mu     sync.Mutex
	cards  map[cardID]*card
	runs   map[string]*use
	places map[string]map[string]*use // by place and run
}

// use is what is known of a run.
type use struct {
	id    string
	track Track
	cards map[cardID]*cardUse
}

// cardUse is what a run did with a GPU, by the samples that are joined: all, and those until its last record.
type cardUse struct {
	All  *total `json:"all"`
	Sure *total `json:"sure,omitempty"`

	Place string `json:"place"` // of the stay
	Host  string `json:"host,omitempty"`
	Model string `json:"model,omitempty"`
	MIG   string `json:"mig,omitempty"` // the profile
}

// New makes a tracker for records that come no later than lookback after what they tell of.
func New(lookback time.Duration) *Tracker {
	return &Tracker{
		lookback: int64(lookback), cards: map[cardID]*card{}, runs: map[string]*use{}, places: map[string]map[string]*use{},
	}
}

// Add takes readings and answers how many were of no use: their time was known, or there are too many GPUs.
func (t *Tracker) Add(readings []Reading) (known, full int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	touched := map[cardID]*card{}
	for i := range readings {
		r := &readings[i]
		c := t.cards[r.id()]
		if c == nil {
			if len(t.cards) >= maxCards && !t.forgetCard(r.Sample.Time) {
				full++
				continue
			}
			c = &card{id: r.id()}
			t.cards[c.id] = c
		}
		if !c.put(r) {
			known++
			continue
		}
		touched[c.id] = c
	}
	for _, c := range touched {
		t.join(c)
	}
	return known, full
}

// forgetCard makes room when a GPU was not heard of for long.
func (t *Tracker) forgetCard(now int64) bool {
	for id, c := range t.cards {
		if c.ring[len(c.ring)-1].Time < now-2*t.lookback {
			t.joinUntil(c, len(c.ring))
			delete(t.cards, id)
			return true
		}
	}
	return false
}

// join takes the samples that are old enough to the runs they belong to.
func (t *Tracker) join(c *card) {
	newest := c.ring[len(c.ring)-1].Time
	n := c.done
	for n < len(c.ring) && (c.ring[n].Time <= newest-t.lookback || len(c.ring)-n > maxRing/2) {
		n++
	}
	t.joinUntil(c, n)
	c.drop(newest - 2*t.lookback)
}

func (t *Tracker) joinUntil(c *card, n int) {
	every := c.every()
	for ; c.done < n; c.done++ {
		s := &c.ring[c.done]
		t.each(c, s, func(u *use, stay *Stay) { u.add(c, c.done, stay, every, true) })
	}
}

// each calls with the runs that may have worked on a card when a sample was taken.
func (t *Tracker) each(c *card, s *Sample, do func(*use, *Stay)) {
	places := []string{hostPlace(c.host)}
	if len(s.Pods) > 0 {
		places = places[:0]
		for _, p := range s.Pods {
			places = append(places, podPlace(p.Name))
		}
		places = slices.Compact(places)
	}
	for _, place := range places {
		for _, u := range t.places[place] {
			for i := range u.track.Stays {
				if stay := &u.track.Stays[i]; stay.place() == place && stay.holds(c, s) {
					do(u, stay)
					break
				}
			}
		}
	}
}

// add counts the sample i of a card for a stay, if it is in its time. Kept says that the sample is joined for good: then what is
// beyond the last record is counted as well, apart.
func (u *use) add(c *card, i int, stay *Stay, every int64, kept bool) {
	s := &c.ring[i]
	from, sure, ok := u.track.spanAt(stay, s.Time)
	if !ok || !sure && !kept {
		return
	}
	of := u.cards[c.id]
	if of == nil {
		if len(u.cards) >= maxRunCards {
			return
		}
		of = &cardUse{All: &total{}}
		u.cards[c.id] = of
	}
	of.Place, of.Host, of.Model, of.MIG = stay.place(), c.host, c.model, c.profile
	u.settle(of)
	before := of.All.Prev
	if before == nil || of.All.Span != from {
		before = c.baseline(i, from, every, stay.others)
	}
	own := *s
	of.All.add(&own, before, from, every)
	u.settle(of)
}

// settle makes what was counted sure when a record came after it, and takes it back when the run had ended before.
func (u *use) settle(of *cardUse) {
	switch {
	case of.All.Samples == 0:
	case u.track.covers(of.All.Last):
		if of.Sure == nil || of.Sure.Last != of.All.Last {
			of.Sure = of.All.clone()
		}
	case !u.track.open() && of.Sure != nil:
		of.All = of.Sure.clone()
	case !u.track.open():
		of.All = &total{}
	}
}

// covers says whether a time is not beyond the last record of its span.
func (t *Track) covers(at int64) bool {
	return slices.ContainsFunc(t.Spans, func(s Span) bool { return s.From <= at && at <= s.To })
}

// Mark takes a record of a run and names the other runs that it concerns: those which worked on the same hosts.
func (t *Tracker) Mark(id string, m Mark) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.get(id)
	concerns := u.track.mark(&m)
	for _, c := range u.cards {
		u.settle(c)
	}
	if !concerns {
		return nil
	}
	t.index(u)
	return t.rivals(u)
}

// Quiet notes that a run was silent for too long, and names the other runs that it concerns.
func (t *Tracker) Quiet(id string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.runs[id]
	if u == nil || u.track.Quiet || !u.track.open() {
		return nil
	}
	u.track.Quiet = true
	return t.rivals(u)
}
