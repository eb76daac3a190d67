// Package cli is the command trainsummary.
package cli
