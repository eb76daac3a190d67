package gpuuse

import (
	"maps"
	"slices"
)

// Track gives when and where a run worked, for the storage; nil when nothing is known.
func (t *Tracker) Track(id string) *Track {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.runs[id]
	if u == nil || len(u.track.Spans) == 0 {
		return nil
	}
	return &Track{Spans: slices.Clone(u.track.Spans), Stays: slices.Clone(u.track.Stays), Quiet: u.track.Quiet}
}

// SetTrack brings back what Track gave.
func (t *Tracker) SetTrack(id string, track *Track) {
	if track == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.get(id)
	u.track = *track
	t.index(u)
}

// Forget gives up what is known of a run.
func (t *Tracker) Forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.runs[id]
	if u == nil {
		return
	}
	for i := range u.track.Stays {
		place := u.track.Stays[i].place()
		delete(t.places[place], id)
		if len(t.places[place]) == 0 {
			delete(t.places, place)
		}
	}
	delete(t.runs, id)
}

func (t *Tracker) get(id string) *use {
	u := t.runs[id]
	if u == nil {
		u = &use{id: id, cards: map[cardID]*cardUse{}}
		t.runs[id] = u
	}
	return u
}

func (t *Tracker) index(u *use) {
	for i := range u.track.Stays {
		place := u.track.Stays[i].place()
		if t.places[place] == nil {
			t.places[place] = map[string]*use{}
		}
		t.places[place][u.id] = u
	}
}

// rivals are the other runs with a stay on one of the hosts.
func (t *Tracker) rivals(u *use) []string {
	found := map[string]bool{}
	for i := range u.track.Stays {
		s := &u.track.Stays[i]
		if s.Pod.Name != "" {
			continue
		}
		for id, o := range t.places[s.place()] {
			if o != u && len(o.cards) > 0 {
				found[id] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// ambiguous says whether another run worked on one of the hosts at the same time, so that nobody can tell whose the GPUs were.
func (t *Tracker) ambiguous(u *use, counts func(*Stay) bool) bool {
	for i := range u.track.Stays {
		s := &u.track.Stays[i]
		if s.Pod.Name != "" || !counts(s) {
			continue
		}
		for _, o := range t.places[s.place()] {
			for j := range o.track.Stays {
				os := &o.track.Stays[j]
				if o != u && os.Pod.Name == "" && sameHost(s.Host, os.Host) && u.track.meets(s, &o.track, os) {
					return true
				}
			}
		}
	}
	return false
}

func sortedCards(cards map[cardID]*cardUse) []cardID {
	return slices.SortedFunc(maps.Keys(cards), cardID.compare)
}

// GPUs counts the GPUs that are known.
func (t *Tracker) GPUs() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.cards)
}
