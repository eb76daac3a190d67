package dvcresultexporter

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReportIsWrittenWhereItIsAskedFor(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		own := filepath.Join(r.cfg.Directory, "x", "report.md")
		require.NoError(t, os.MkdirAll(filepath.Dir(own), 0o755))
		require.NoError(t, os.WriteFile(own, []byte("mine"), 0o600))
		r.start()
		r.feed(wholeRun("x")...)
		pass(11 * time.Second)
		r.says("x", "success", true, false)
		assert.Equal(t, "mine", r.files("x")["report.md"], "somebody else's")
		r.stop()
		r.cfg.Report = true
		r.start()
		pass(11 * time.Second)
		assert.Contains(t, r.files("x")["report.md"], "# x: success")
		assert.Contains(t, r.files("x")["report/val/loss.svg"], "<svg")
		r.feed(line{record("x", 400, "run.start", `"params":{}`), 90_000},
			line{record("x", 410, "epoch.end", `"epoch":0,"measurements":{"val/other":1}`), 91_000}, line{record("x", 420, "run.end", `"outcome":"success"`), 92_000})
		pass(time.Minute)
		assert.NotContains(t, r.files("x"), "report/val/loss.svg", "a curve that is superseded has no drawing")
		assert.Contains(t, r.files("x"), "report/val/other.svg")
		r.stop()
	})
}
