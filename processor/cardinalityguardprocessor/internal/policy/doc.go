// Package policy says what may be on a metric: which attributes, which values, which names, and how what collides merges. A policy is read from
// YAML, checked as a whole and compiled; a compiled policy never changes. The core of what is forbidden is computed from the registry of the
// vocabulary.
package policy
