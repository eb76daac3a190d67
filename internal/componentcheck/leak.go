package componentcheck

import (
	"testing"

	"go.uber.org/goleak"
)

// VerifyMain runs a package's tests and fails if one of them leaves a goroutine behind: the body of TestMain.
func VerifyMain(m *testing.M) { goleak.VerifyTestMain(m, LeakOptions()...) }

// LeakOptions names the goroutines that libraries of the Collector start for the life of the process.
func LeakOptions() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"),
	}
}
