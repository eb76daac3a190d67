// Package summary tests the command trainsummary as it is built.
package summary
