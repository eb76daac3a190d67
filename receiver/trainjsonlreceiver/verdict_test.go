package trainjsonlreceiver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/multierr"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func withUIDs(uids ...string) plog.Logs {
	ld := plog.NewLogs()
	records := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for _, uid := range uids {
		attrs := records.AppendEmpty().Attributes()
		if uid != "" {
			attrs.PutStr(trainrecord.AttrLogRecordUID, uid)
		}
	}
	return ld
}

func TestJudgeLooksAtEveryLeaf(t *testing.T) {
	t.Parallel()
	busy, bad := errors.New("busy"), consumererror.NewPermanent(errors.New("bad"))
	part := consumererror.NewLogs(busy, withUIDs("a", "b"))
	for name, c := range map[string]struct {
		err   error
		retry bool
		only  []string
	}{
		"plain":                             {busy, true, nil},
		"cancelled":                         {context.Canceled, true, nil},
		"permanent":                         {bad, false, nil},
		"wrapped permanent":                 {fmt.Errorf("exporter: %w", bad), false, nil},
		"joined permanents":                 {errors.Join(bad, fmt.Errorf("x: %w", bad)), false, nil},
		"joined with one that may pass":     {errors.Join(bad, busy), true, nil},
		"multierr":                          {multierr.Combine(bad, busy), true, nil},
		"join deep inside":                  {fmt.Errorf("fan-out: %w", errors.Join(bad, fmt.Errorf("y: %w", errors.Join(bad, busy)))), true, nil},
		"permanent around all":              {consumererror.NewPermanent(errors.Join(busy, bad)), false, nil},
		"retryable":                         {consumererror.NewRetryableError(busy), true, nil},
		"part":                              {part, true, []string{"a", "b"}},
		"part beside a permanent":           {errors.Join(part, bad), true, []string{"a", "b"}},
		"two parts":                         {errors.Join(part, consumererror.NewLogs(busy, withUIDs("c"))), true, []string{"a", "b", "c"}},
		"part, then whole":                  {errors.Join(part, busy), true, nil},
		"whole, then part":                  {errors.Join(busy, part), true, nil},
		"part without uid":                  {consumererror.NewLogs(busy, withUIDs("a", "")), true, nil},
		"empty part":                        {consumererror.NewLogs(busy, plog.NewLogs()), true, nil},
		"part that is permanent":            {consumererror.NewLogs(bad, withUIDs("a")), false, nil},
		"permanent part":                    {consumererror.NewPermanent(part), false, nil},
		"part whose cause is a mixed join":  {consumererror.NewLogs(errors.Join(bad, busy), withUIDs("a")), true, []string{"a"}},
		"wrapped part":                      {fmt.Errorf("x: %w", part), true, []string{"a", "b"}},
		"wrapper of nothing, as some write": {emptyWrapper{}, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := judge(c.err)
			assert.Equal(t, c.retry, v.retry)
			assert.Equal(t, c.only, slices.Sorted(maps.Keys(v.only)))
		})
	}
}

type emptyWrapper struct{}

func (emptyWrapper) Error() string { return "empty" }
func (emptyWrapper) Unwrap() error { return nil }

func TestAPartThatNamesOtherRecordsStandsForAll(t *testing.T) {
	t.Parallel()
	lines := []line{{offset: 0, run: "r"}, {offset: 5, run: "r"}}
	src := source{}
	known := uidOf("r", 0, &lines[1]).String()
	assert.Equal(t, lines[1:], judge(consumererror.NewLogs(errBusy, withUIDs(known))).keep(lines, src))
	assert.Equal(t, lines, judge(consumererror.NewLogs(errBusy, withUIDs(known, "r/0/7-0"))).keep(lines, src))
}
