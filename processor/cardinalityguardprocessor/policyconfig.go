package cardinalityguardprocessor

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// leastPoll is the shortest time between two looks at a policy.
const leastPoll = time.Second

// validatePolicy checks the keys about the policy, and the policy itself where it can be read. A file that is not there yet is the start's matter.
func (c *Config) validatePolicy() []error {
	var errs []error
	given := 0
	for _, is := range []bool{c.Policy != nil, c.PolicyFile != "", c.PolicyURL != ""} {
		if is {
			given++
		}
	}
	if given > 1 {
		errs = append(errs, errors.New("policy: give one of policy, policy_file and policy_url"))
	}
	if _, err := c.inlinePolicy(); err != nil {
		errs = append(errs, err)
	}
	if c.PolicyFile != "" {
		if err := policy.Check(c.PolicyFile); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
			errs = append(errs, fmt.Errorf("policy_file: %w", err))
		}
	}
	if c.PolicyURL != "" {
		u, err := url.Parse(c.PolicyURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			errs = append(errs, errors.New("policy_url: want an address that begins with http:// or https://"))
		}
	}
	if c.PolicyPollInterval < leastPoll {
		errs = append(errs, fmt.Errorf("policy_poll_interval: want %s or more, got %s", leastPoll, c.PolicyPollInterval))
	}
	if c.AuditReport != "" && (strings.EqualFold(filepath.Ext(c.AuditReport), ".json") || strings.HasSuffix(c.AuditReport, string(filepath.Separator))) {
		errs = append(errs, fmt.Errorf("audit_report: want a Markdown file such as guard.md, got %q; the JSON stands beside it", c.AuditReport))
	}
	return errs
}

// inlinePolicy is the policy that stands in the configuration, or the default.
func (c *Config) inlinePolicy() (*policy.Policy, error) {
	if c.Policy == nil {
		return policy.Default(), nil
	}
	p, err := policy.FromMap(c.Policy)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return p, nil
}
