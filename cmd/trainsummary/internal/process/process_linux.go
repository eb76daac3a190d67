package process

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pathologize/otelcol-train/internal/trainview"
)

// ticks are those of /proc/<pid>/stat, 100 a second on every architecture that Go knows.
const ticks = 100

// Check looks at a process that must have begun before a moment: one that began later has the number of another that is gone,
// and tells nothing. before 0 checks no beginning.
func Check(pid int64, before time.Time) string {
	text, err := os.ReadFile("/proc/" + strconv.FormatInt(pid, 10) + "/stat")
	if errors.Is(err, fs.ErrNotExist) {
		return trainview.ProcessGone
	}
	if err != nil {
		return trainview.ProcessNotChecked
	}
	// The name may hold blanks and brackets; the fields after it are numbers.
	i := bytes.LastIndexByte(text, ')')
	if i < 0 {
		return trainview.ProcessNotChecked
	}
	fields := strings.Fields(string(text[i+1:]))
	const state, start = 0, 19
	if len(fields) <= start {
		return trainview.ProcessNotChecked
	}
	began, ok := startTime(fields[start])
	if !before.IsZero() && (!ok || began.After(before.Add(2*time.Second))) { // ticks and the boot time are rounded
		return trainview.ProcessNotChecked
	}
	if fields[state] == "Z" || fields[state] == "X" {
		return trainview.ProcessGone
	}
	return trainview.ProcessAlive
}

func startTime(field string) (time.Time, bool) {
	n, err := strconv.ParseInt(field, 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}, false
	}
	for line := range strings.Lines(string(text)) {
		if boot, ok := strings.CutPrefix(line, "btime "); ok {
			s, err := strconv.ParseInt(strings.TrimSpace(boot), 10, 64)
			return time.Unix(s, 0).Add(time.Duration(n) * time.Second / ticks), err == nil
		}
	}
	return time.Time{}, false
}
