// Package follow reads streams to their ends and again what is appended, and folds their records into runs. What the records of
// a stream become is the same as in the Collector: the same lines, profiles and fold.
package follow
