package componentkit

import (
	"errors"
	"iter"
	"reflect"

	"go.opentelemetry.io/collector/consumer/consumererror"
)

// permanentType is that of the marks that consumererror.NewPermanent makes. consumererror.IsPermanent cannot serve: of
// joined errors it is true as soon as one of them is marked.
var permanentType = reflect.TypeOf(consumererror.NewPermanent(errors.New("")))

// Final says whether an error of a consumer means that the same data will never be taken, so that it is useless to offer
// it again.
//
// A fan-out joins the errors of its branches: one branch that may pass makes the whole worth another attempt, so an error
// is final only if each of its leaves is below a permanent mark. A mark covers everything that it wraps, a join included:
// whoever set it has seen the whole answer and says that it will always be the same.
func Final(err error) bool {
	if err == nil {
		return false
	}
	final := true
	passing(err, nil, func(error) bool {
		final = false
		return false
	})
	return final
}

// Passing gives what in an error's tree may pass at another attempt: the leaves that no permanent mark covers. A node that
// unit picks is given whole instead of its leaves, unless it is final itself. A nil unit picks none.
func Passing(err error, unit func(error) bool) iter.Seq[error] {
	return func(yield func(error) bool) { passing(err, unit, yield) }
}

// passing says whether the walk goes on.
func passing(err error, unit func(error) bool, yield func(error) bool) bool {
	if err == nil || reflect.TypeOf(err) == permanentType {
		return true
	}
	if unit != nil && unit(err) {
		return Final(err) || yield(err)
	}
	switch e := err.(type) { //nolint:errorlint // this is the walk that errors.As cannot do
	case interface{ Unwrap() []error }:
		if branches := e.Unwrap(); len(branches) > 0 {
			for _, branch := range branches {
				if !passing(branch, unit, yield) {
					return false
				}
			}
			return true
		}
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return passing(inner, unit, yield)
		}
	}
	return yield(err)
}
