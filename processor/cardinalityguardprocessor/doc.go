// Package cardinalityguardprocessor keeps names that would make a series per run, epoch or sample off metrics. It removes
// the attributes that the registry of the vocabulary forbids, wherever a metric can carry them, and merges the points
// that a removal made identical as far as one batch settles the result; what it cannot settle it drops and counts.
package cardinalityguardprocessor
