//go:build !race

package trainingnormprocessor

// raceDetector tells that the tests run with it.
const raceDetector = false
