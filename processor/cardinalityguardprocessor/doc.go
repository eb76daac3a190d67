// Package cardinalityguardprocessor keeps names that would make a series per run, epoch or sample off metrics. It removes
// the attributes that the registry of the vocabulary and the policy forbid, wherever a metric can carry them, and merges the
// points of sources that a removal made one series, over batches and restarts; what it cannot merge it drops and counts.
package cardinalityguardprocessor
