package trainingsignalsconnector

import (
	"testing"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

func TestComponent(t *testing.T) {
	t.Parallel()
	componentcheck.Run(t, NewFactory())
}
