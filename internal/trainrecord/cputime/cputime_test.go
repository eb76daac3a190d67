package cputime

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWaitingIsNoProcessorTime(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("NOT TESTED here: processor time of a thread is Linux's")
	}
	began, n := time.Now(), 0
	waited := Of(func() { <-time.After(300 * time.Millisecond) })
	assert.Less(t, waited, time.Since(began)/2)
	assert.Positive(t, Of(func() {
		for range 20_000_000 {
			n++
		}
	}), n)
}
