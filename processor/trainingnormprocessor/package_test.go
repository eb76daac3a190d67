package trainingnormprocessor

import (
	"testing"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

func TestMain(m *testing.M) { componentcheck.VerifyMain(m) }

func TestComponent(t *testing.T) { componentcheck.Run(t, NewFactory()) }
