//go:build !linux

package trainjsonlreceiver

// isLocal is not known elsewhere: files are polled alone.
func isLocal(string) bool { return false }
