package cardinalityguardprocessor

import "go.opentelemetry.io/collector/component"

// Config is what an operator writes under cardinality_guard: nothing yet, what is forbidden is the registry's decision.
type Config struct {
	_ struct{} // keyed literals only
}

func createDefaultConfig() component.Config { return &Config{} }
