// Package componentkit holds what several components decide alike: sizes in configurations, what a consumer's error asks
// for, where their storage is and who has it, pauses between attempts, and log lines that come seldom. It has no state of
// its own and knows no signal.
package componentkit
