package trainrun

import (
	"bytes"
	"cmp"
	"slices"
)

// liveOrder is the order of events of one moment that nothing else orders.
var liveOrder = [eventCount]uint8{
	EventRunStart: 1, EventPhaseEnd: 2, EventStepEnd: 3, EventEpochEnd: 4, EventCheckpointSave: 5, EventArtifact: 6, EventHeartbeat: 7,
	EventLog: 8, EventPhaseStart: 9, EventRunFailure: 10, EventRunEnd: 11,
}

func compareSightings(a, b *Sighting) int {
	if c := cmp.Compare(a.Time, b.Time); c != 0 {
		return c
	}
	if c := cmp.Or(cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Rank, b.Rank)); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(a.ID.Kind, b.ID.Kind), cmp.Compare(a.ID.File, b.ID.File), cmp.Compare(a.ID.Place, b.ID.Place), cmp.Compare(a.Seq, b.Seq),
		cmp.Compare(a.ID.Index, b.ID.Index), cmp.Compare(liveOrder[a.Event], liveOrder[b.Event]), cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Framework, b.Framework),
		bytes.Compare(a.ID.Hash[:], b.ID.Hash[:]),
		cmp.Compare(a.ID.CRC, b.ID.CRC),
	)
}

// happened gives records in the order in which they happened, as far as they tell: by time, then by their places in their
// streams, then so that an end goes before the beginning of what follows.
func happened(list []Sighting) []*Sighting {
	type placed struct {
		time int64
		at   int
	}
	order := make([]placed, len(list))
	for i := range list {
		order[i] = placed{list[i].Time, i}
	}
	slices.SortFunc(order, func(a, b placed) int { // most times differ
		if a.time != b.time {
			return cmp.Compare(a.time, b.time)
		}
		return cmp.Or(compareSightings(&list[a.at], &list[b.at]), cmp.Compare(a.at, b.at))
	})
	out := make([]*Sighting, len(list))
	for i, o := range order {
		out[i] = &list[o.at]
	}
	return out
}
