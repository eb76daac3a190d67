package componentkit

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAMessageIsDueOnceAnIntervalAKey(t *testing.T) {
	t.Parallel()
	for every, s := range map[time.Duration]*Seldom{time.Minute: {}, 5 * time.Minute: {Every: 5 * time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			total, due := s.Note("a", 3)
			assert.True(t, due)
			assert.EqualValues(t, 3, total)
			assert.True(t, s.Allow("b"), "a key of its own")
			time.Sleep(every - time.Nanosecond)
			for range 2 {
				total, due = s.Note("a", 2)
				assert.False(t, due)
				assert.Zero(t, total)
			}
			time.Sleep(time.Nanosecond)
			total, due = s.Note("a", 1)
			assert.True(t, due)
			assert.EqualValues(t, 5, total, "what went untold is told")
			assert.False(t, s.Allow("a"))
		})
	}
}

func TestAForgottenKeyIsDue(t *testing.T) {
	t.Parallel()
	var s Seldom
	assert.True(t, s.Allow("a"))
	s.Forget("b")
	assert.False(t, s.Allow("a"))
	s.Forget("a")
	assert.True(t, s.Allow("a"))
}

func TestKeysAreBoundedAndAFloodOfThemIsTold(t *testing.T) {
	t.Parallel()
	var s Seldom
	synctest.Test(t, func(t *testing.T) {
		due := 0
		flood := func(name string) {
			for i := range 3 * maxKeys {
				if s.Allow(fmt.Sprint(name, i)) {
					due++
				}
			}
		}
		flood("a")
		assert.Equal(t, maxKeys+1, due, "the others share one message")
		assert.Len(t, s.keys, maxKeys+1)
		time.Sleep(time.Minute)
		due = 0
		flood("b")
		assert.Equal(t, maxKeys+1, due, "what is over makes room")
		assert.Len(t, s.keys, maxKeys+1)
	})
}

func TestManyGoroutinesGetOneMessage(t *testing.T) {
	t.Parallel()
	var s Seldom
	var due atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 1000 {
				if s.Allow("a") {
					due.Add(1)
				}
			}
		})
	}
	group.Wait()
	assert.EqualValues(t, 1, due.Load())
}
