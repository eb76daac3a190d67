package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"google.golang.org/grpc/metadata"
)

// maxFaults is how many faults a ledger keeps.
const maxFaults = 10

// ledger keeps what arrived at a backend from a collector that is killed again and again.
type ledger struct {
	mu      sync.Mutex
	byUID   map[string]arrival
	byLine  map[source]string // the uid of each line
	kills   map[int]time.Time
	stalled map[int]time.Duration // what the machine may have added to a checkpoint of a life
	repeats map[int]int           // records that came again after a life had delivered them
	age     map[int]time.Duration // of the oldest of them, when that life was killed
	faults  []string
}

// source is a line that was written.
type source struct {
	run  string
	step int64
}

// arrival is when and from which life of the collector a record came last.
type arrival struct {
	line source
	life int
	at   time.Time
}

func newLedger() *ledger {
	return &ledger{
		byUID: map[string]arrival{}, byLine: map[source]string{}, kills: map[int]time.Time{}, stalled: map[int]time.Duration{},
		repeats: map[int]int{}, age: map[int]time.Duration{},
	}
}

// take books a request; its header names the life that sent it.
func (l *ledger) take(ctx context.Context, logs plog.Logs) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	md, _ := metadata.FromIncomingContext(ctx)
	life := -1
	if named := md.Get("life"); len(named) == 1 {
		life, _ = strconv.Atoi(named[0])
	}
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				l.book(lr, life, now)
			}
		}
	}
}

func (l *ledger) book(lr plog.LogRecord, life int, now time.Time) {
	run, _ := lr.Attributes().Get(runIDKey)
	uid, _ := lr.Attributes().Get("log.record.uid")
	line := source{run: run.AsString(), step: -1}
	if lr.Body().Type() != pcommon.ValueTypeMap || lr.EventName() == "" {
		l.fault("a record without body or event: %s", uid.AsString())
		return
	}
	if step, ok := lr.Body().Map().Get("step"); ok {
		line.step = step.Int()
	}
	id := uid.AsString()
	switch before, again := l.byUID[id]; {
	case !again:
		if other := l.byLine[line]; other != "" {
			l.fault("line %v has two uids: %s and %s", line, other, id)
		}
		l.byLine[line] = id
	case before.line != line:
		l.fault("uid %s is of two lines: %v and %v", id, before.line, line)
	case before.life == life:
		l.fault("record %s came twice from life %d", id, life)
	case before.life > life:
		return // it was under way when its life ended
	default:
		l.repeats[before.life]++
		l.age[before.life] = max(l.age[before.life], l.kills[before.life].Sub(before.at))
	}
	l.byUID[id] = arrival{line: line, life: life, at: now}
}

func (l *ledger) fault(format string, args ...any) {
	if len(l.faults) < maxFaults {
		l.faults = append(l.faults, fmt.Sprintf(format, args...))
	}
}

// killed notes that a life is killed now, and the longest stall of the machine since it was launched. A checkpoint may meet it three times:
// when the answer for a record comes, at its tick, and when it is flushed.
func (l *ledger) killed(life int, stall time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kills[life], l.stalled[life] = time.Now(), 3*stall
}

// worstStall is the most that the machine may have added to a checkpoint.
func (l *ledger) worstStall() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Max(append(slices.Collect(maps.Values(l.stalled)), 0))
}

// distinct counts the records, each uid once.
func (l *ledger) distinct() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byUID)
}

func (l *ledger) summary(lines int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, most, oldest, stall := 0, 0, time.Duration(0), time.Duration(0)
	for life, n := range l.repeats {
		all, most = all+n, max(most, n)
		if l.age[life] > oldest {
			oldest, stall = l.age[life], l.stalled[life]
		}
	}
	return fmt.Sprintf("%d kills, %d lines written, %d records delivered; %d came again, at most %d after a kill; the oldest had arrived %s before it, "+
		"when stalls may have added %s", len(l.kills), lines, len(l.byUID), all, most, oldest.Round(time.Millisecond), stall.Round(time.Millisecond))
}

// check wants every line once, under one uid, and no repetition of a record that arrived longer than within, and what stalls added, before a kill.
func (l *ledger) check(t *testing.T, lines int, within time.Duration) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	assert.Empty(t, l.faults)
	assert.Equal(t, lines, len(l.byUID), "distinct uids")
	assert.Equal(t, lines, len(l.byLine), "distinct lines")
	for _, life := range slices.Sorted(maps.Keys(l.age)) {
		assert.LessOrEqual(t, l.age[life], within+l.stalled[life], "life %d: a record that it delivered so long before its end came again", life)
	}
}

// checkRepeats wants at most so many records again after each kill.
func (l *ledger) checkRepeats(t *testing.T, most int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, life := range slices.Sorted(maps.Keys(l.repeats)) {
		assert.LessOrEqual(t, l.repeats[life], most, "life %d: more came again than was written in the time that a checkpoint may take", life)
	}
}
