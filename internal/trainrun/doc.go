// Package trainrun holds the Fold: the state of one training run as a pure function of the set of its records. The order of
// records, their duplicates, the batches they come in and restarts (Snapshot, Restore) change nothing. It knows no clock
// and does no I/O; whoever uses it decides when a run is final and what to do about records that come late.
//
// The way of a record:
//
//	e, ok := trainrun.Reduce(rec)            // the few things a fold needs; secrets masked, texts cut
//	journal = trainrun.AppendEntries(journal, entries) // compact; a batch shares its strings
//	fold.Apply(e)                            // false: a duplicate, or nothing to fold
//	state := fold.State()                    // everything a result needs
//
// A Fold is not safe for concurrent use. A State shares nothing that a later Apply changes.
package trainrun
