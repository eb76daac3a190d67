package gpuuse

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// snapshot is a Tracker in the storage. When and where runs worked is not in it: that is kept with the runs.
type snapshot struct {
	Cards []cardJSON `json:"cards,omitempty"`
	Runs  []runJSON  `json:"runs,omitempty"`
}

type cardJSON struct {
	UUID     string   `json:"uuid"`
	Instance string   `json:"instance,omitempty"`
	Host     string   `json:"host,omitempty"`
	Model    string   `json:"model,omitempty"`
	Profile  string   `json:"profile,omitempty"`
	Done     int      `json:"done,omitempty"`
	Ring     []Sample `json:"ring"`
}

type runJSON struct {
	ID    string        `json:"id"`
	Cards []runCardJSON `json:"cards"`
}

type runCardJSON struct {
	UUID     string   `json:"uuid"`
	Instance string   `json:"instance,omitempty"`
	Use      *cardUse `json:"use"`
}

// Snapshot writes what was read and joined.
func (t *Tracker) Snapshot() ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out snapshot
	for _, id := range slices.SortedFunc(maps.Keys(t.cards), cardID.compare) {
		c := t.cards[id]
		out.Cards = append(out.Cards, cardJSON{id.UUID, id.Instance, c.host, c.model, c.profile, c.done, c.ring})
	}
	for _, id := range slices.Sorted(maps.Keys(t.runs)) {
		u := t.runs[id]
		if len(u.cards) == 0 {
			continue
		}
		r := runJSON{ID: id}
		for _, card := range sortedCards(u.cards) {
			r.Cards = append(r.Cards, runCardJSON{card.UUID, card.Instance, u.cards[card]})
		}
		out.Runs = append(out.Runs, r)
	}
	return json.Marshal(out)
}

// Restore reads what Snapshot wrote. Runs that are not known any more are left out.
func (t *Tracker) Restore(b []byte) error {
	var in snapshot
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if err := in.check(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range in.Cards {
		id := cardID{c.UUID, c.Instance}
		t.cards[id] = &card{id: id, host: c.Host, model: c.Model, profile: c.Profile, ring: c.Ring, done: c.Done}
	}
	for _, r := range in.Runs {
		u := t.runs[r.ID]
		if u == nil {
			continue
		}
		for _, c := range r.Cards {
			u.cards[cardID{c.UUID, c.Instance}] = c.Use
		}
	}
	return nil
}

func (in *snapshot) check() error {
	for _, c := range in.Cards {
		if len(c.Ring) == 0 || c.Done < 0 || c.Done > len(c.Ring) || len(in.Cards) > maxCards {
			return fmt.Errorf("samples of a GPU: %w", errSample)
		}
	}
	for _, r := range in.Runs {
		for _, c := range r.Cards {
			if c.Use == nil || c.Use.All == nil || !strings.Contains(c.Use.Place, " ") {
				return fmt.Errorf("GPUs of a run: %w", errSample)
			}
		}
	}
	return nil
}

// AppendReadings writes readings for a journal.
func AppendReadings(readings []Reading) ([]byte, error) { return json.Marshal(readings) }

// DecodeReadings reads what AppendReadings wrote.
func DecodeReadings(b []byte) (out []Reading, err error) {
	err = json.Unmarshal(b, &out)
	return out, err
}
