package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// TestQuestionsAreAnsweredWithTheFiguresOfTheReceiver, which its README has, and with the lengths that the configurations have.
func TestQuestionsAreAnsweredWithTheFiguresOfTheReceiver(t *testing.T) {
	t.Parallel()
	faq, readme := pages(t)["docs/faq.md"], pages(t)["receiver/trainjsonlreceiver/README.md"]
	figures := func(row string) (a, b float64) {
		found := regexp.MustCompile(row + ` \| ([0-9.]+) \| ([0-9.]+) \|`).FindStringSubmatch(readme)
		require.NotNil(t, found, row)
		a, err := strconv.ParseFloat(found[1], 64)
		require.NoError(t, err)
		b, err = strconv.ParseFloat(found[2], 64)
		require.NoError(t, err)
		return a, b
	}
	a, b := figures(`1,000,000 lines, 1,000 files \| CPU a line, µs`)
	assert.Contains(t, faq, fmt.Sprintf("| CPU a line, 1,000,000 lines in 1,000 files, `train_jsonl` alone | %.1f µs | %.1f µs |", a, b))
	a, b = figures(`10,000 idle files \| CPU, % of a core`)
	assert.Contains(t, faq, fmt.Sprintf("| CPU with 10,000 idle files | %.0f %% of a core | %.1f %% |", a, b))
	assert.Contains(t, faq, fmt.Sprintf("native rows | %d lines | %d lines |", receiverLines(t, "file_log"), receiverLines(t, "train_jsonl")))
}

// receiverLines counts those of a receiver in a configuration of test/bench.
func receiverLines(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(collector.Root(t), "test", "bench", "configs", name+".yaml"))
	require.NoError(t, err)
	_, block, found := strings.Cut(string(text), "receivers:\n")
	require.True(t, found)
	block, _, _ = strings.Cut(block, "exporters:\n")
	return strings.Count(block, "\n")
}
