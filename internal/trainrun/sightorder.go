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
	out := make([]*Sighting, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	if !slices.IsSortedFunc(out, compareSightings) {
		slices.SortStableFunc(out, compareSightings)
	}
	return out
}
