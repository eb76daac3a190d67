package trainview

import (
	"path"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

const (
	trainPrefix = "train/"
	valPrefix   = "val/"
	lossWord    = "loss"
)

func isLoss(name string) bool {
	mode, ok := trainrun.Goal(name)
	return ok && mode == trainrun.ModeMin && strings.HasSuffix(strings.ToLower(name), lossWord)
}

func isTrainLoss(name string) bool {
	return !strings.HasPrefix(name, valPrefix) && !strings.HasPrefix(name, "test/") && strings.Contains(strings.ToLower(name), lossWord)
}

func isGradNorm(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "grad_norm") || strings.Contains(name, "gradient_norm") || strings.Contains(name, "gradnorm")
}

// matches says whether a name is one of those that globs ask for.
func matches(globs []string, name string) bool {
	for _, g := range globs {
		if g == name {
			return true
		}
		if ok, err := path.Match(g, name); err == nil && ok {
			return true
		}
		if ok, err := path.Match(g, strings.ReplaceAll(name, "/", "")); err == nil && ok && !strings.Contains(g, "/") {
			return true
		}
	}
	return false
}
