package trainingsignalsconnector

import (
	"testing"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

func TestMain(m *testing.M) { componentcheck.VerifyMain(m) }
