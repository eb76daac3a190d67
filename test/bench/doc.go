// Command bench measures what configurations of the built binary cost beside a peer that does the same work on the same lines. It runs them in
// turn, because only ratios of one session say something on a machine that others use too, and fails when a ratio misses its target.
//
//	go run ./test/bench -suite train_jsonl             # the full one, by hand
//	go run ./test/bench -suite train_jsonl -size gate  # small, fails at 1.25 times a target
//
// A contender is configs/<name>.yaml, a suite is suites/<name>.yaml: a peer, contenders, a data set, targets.
package main
