//go:build !race

package trainingsignalsconnector

// raceDetector tells that the tests run with it.
const raceDetector = false
