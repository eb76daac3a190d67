package trainjsonlreceiver

import (
	"testing"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

func TestComponent(t *testing.T) { componentcheck.Run(t, NewFactory()) }
