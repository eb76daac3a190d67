// Command guardbench measures what cardinality_guard costs beside upstream processors that remove the same attributes: metrics_transform's
// aggregate_labels, which merges within one batch, and attributes' delete, which does not merge. All run in turn in one process on copies of one
// batch, because only ratios of one session say something on a machine that others use too. It fails when a target is missed.
//
//	make bench-guard       # the full one, by hand: the table of the component's README
//	make bench-guard-gate  # small, fails at 1.25 times a target
//
// It is a module of its own, so that the other tests do not depend on the processors that it compares with.
package main
