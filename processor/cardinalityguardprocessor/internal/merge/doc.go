// Package merge joins series that became one because an attribute was removed, as if the attribute had never been recorded. It keeps a state
// for each source (what sent a series) and for each output (what is sent on), adds the increments of the sources, and gives one point an
// output at a flush. It has no clock, no goroutine and no I/O.
package merge
