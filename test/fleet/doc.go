// Package fleet runs the shipped configurations of agents and gateways with a Kafka in the test's own process. It is a module of its own because
// of that Kafka.
package fleet
