package componentkit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.uber.org/multierr"
	"pgregory.net/rapid"
)

var (
	errBusy = errors.New("busy")
	errBad  = consumererror.NewPermanent(errors.New("bad"))
)

// empty wraps nothing, as some errors do.
type empty struct{}

func (empty) Error() string { return "empty" }
func (empty) Unwrap() error { return nil }

// emptyJoin joins nothing.
type emptyJoin struct{}

func (emptyJoin) Error() string   { return "empty join" }
func (emptyJoin) Unwrap() []error { return nil }

func TestAnErrorIsFinalOnlyIfEveryLeafIsCoveredByAMark(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"none":                        {nil, false},
		"plain":                       {errBusy, false},
		"cancelled":                   {context.Canceled, false},
		"permanent":                   {errBad, true},
		"wrapped permanent":           {fmt.Errorf("exporter: %w", errBad), true},
		"permanent twice":             {consumererror.NewPermanent(errBad), true},
		"join of permanents":          {errors.Join(errBad, fmt.Errorf("x: %w", errBad)), true},
		"join with one that may pass": {errors.Join(errBad, errBusy), false},
		"fan-out":                     {multierr.Combine(errBad, errBusy), false},
		"fan-out of permanents":       {multierr.Combine(errBad, errBad), true},
		"join deep inside":            {fmt.Errorf("a: %w", errors.Join(errBad, fmt.Errorf("b: %w", errors.Join(errBad, errBusy)))), false},
		"mark over a mixed join":      {consumererror.NewPermanent(errors.Join(errBusy, errBad)), true},
		"mark over a passing join":    {consumererror.NewPermanent(errors.Join(errBusy, errBusy)), true},
		"wrapped mark over a join":    {fmt.Errorf("x: %w", consumererror.NewPermanent(errors.Join(errBusy, errBad))), true},
		"marked join beside a leaf":   {errors.Join(consumererror.NewPermanent(errors.Join(errBusy, errBad)), errBusy), false},
		"retryable":                   {consumererror.NewRetryableError(errBusy), false},
		"wrapper of nothing":          {empty{}, false},
		"join of nothing":             {emptyJoin{}, false},
	} {
		assert.Equal(t, c.want, Final(c.err), name)
	}
}

// part stands for an error that names a part of the data.
type part struct{ error }

func (p part) Unwrap() error { return p.error }

func isPart(err error) bool {
	_, ok := err.(part) //nolint:errorlint // this node only
	return ok
}

func TestPassingGivesLeavesAndUnits(t *testing.T) {
	t.Parallel()
	first, second := part{errors.Join(errBusy, errBad)}, part{errBusy}
	tree := fmt.Errorf("x: %w", errors.Join(first, errBad, part{errBad}, consumererror.NewPermanent(second), fmt.Errorf("y: %w", second), context.Canceled))
	assert.Equal(t, []error{first, second, context.Canceled}, slices.Collect(Passing(tree, isPart)))
	assert.Equal(t, []error{errBusy, errBusy, context.Canceled}, slices.Collect(Passing(tree, nil)))
	for err := range Passing(tree, isPart) { // stops when it is told
		assert.Equal(t, first, err)
		break
	}
}

// tree draws an error and says whether each of its leaves is below a mark.
func tree(t *rapid.T, depth int) (err error, covered bool) {
	kind := rapid.IntRange(0, 4).Draw(t, "kind")
	if depth == 0 {
		kind %= 2
	}
	switch kind {
	case 0:
		return errBusy, false
	case 1:
		return errBad, true
	case 2:
		inner, _ := tree(t, depth-1)
		return consumererror.NewPermanent(inner), true
	case 3:
		inner, c := tree(t, depth-1)
		return fmt.Errorf("w: %w", inner), c
	default:
		all, covered := []error(nil), true
		for range rapid.IntRange(1, 3).Draw(t, "branches") {
			inner, c := tree(t, depth-1)
			all, covered = append(all, inner), covered && c
		}
		return errors.Join(all...), covered
	}
}

func TestFinalAgreesWithItsDefinitionOnAnyTree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		err, covered := tree(t, 4)
		assert.Equal(t, covered, Final(err))
		if covered {
			assert.True(t, consumererror.IsPermanent(err), "stricter than upstream, never laxer")
		}
	})
}
