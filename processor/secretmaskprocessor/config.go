package secretmaskprocessor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/component"
)

// Config is what an operator writes under secret_mask.
type Config struct {
	// Omit names the values that are removed whatever they hold, in any spelling of case.
	Omit []string `mapstructure:"omit"`

	_ struct{} // keyed literals only
}

func createDefaultConfig() component.Config {
	return &Config{Omit: []string{
		"params", "hparams", "config", "args", "argv", "command", "cmd", "command_line", "command_args", "commandline", "cmdline", "cmd_line", "env", "environ",
		"environment", "environment_variable", "stack", "stack_trace", "stacktrace", "exception", "exc_info", "traceback",
	}}
}

// Validate reports every mistake at once, naming keys as the YAML spells them.
func (c *Config) Validate() error {
	var errs []error
	for i, name := range c.Omit {
		switch {
		case name == "" || strings.Contains(name, "."):
			errs = append(errs, fmt.Errorf("omit[%d]: want a name without points, such as params, got %q", i, name))
		case slices.Contains(c.Omit[:i], name):
			errs = append(errs, fmt.Errorf("omit[%d]: %s is listed twice", i, name))
		}
	}
	return errors.Join(errs...)
}

// omits says whether a key names a value that is removed: by its whole name, or of a dotted key by its first name (params.lr) or its
// last one (exception.stacktrace), and by what stands behind process (process.environment_variable.HOME). A deployment's environment
// is none of a process.
func (c *Config) omits() func(key string) bool {
	names := make(map[string]bool, len(c.Omit))
	for _, name := range c.Omit {
		names[strings.ToLower(name)] = true
	}
	if len(names) == 0 {
		return nil
	}
	return func(key string) bool {
		key = strings.ToLower(key)
		if names[key] {
			return true
		}
		first, rest, dotted := strings.Cut(key, ".")
		if !dotted || first == "deployment" {
			return false
		}
		if first == "process" {
			second, _, _ := strings.Cut(rest, ".")
			return names[second]
		}
		return first != "exception" && names[first] || names[key[strings.LastIndexByte(key, '.')+1:]]
	}
}
