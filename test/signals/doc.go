// Package signals holds what training_signals sends against those who read it: a real Prometheus with the shipped dashboard and rules, and
// an endpoint that charts as Netdata does.
package signals
