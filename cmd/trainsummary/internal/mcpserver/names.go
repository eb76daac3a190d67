package mcpserver

import (
	"errors"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrun"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

// shown are the names that a document shows of a curve, the second one with its part in front.
func shown(s *trainrun.Series) (name, full string) {
	name = s.Name
	if s.Shared {
		name += "_" + s.Axis.String()
	}
	return name, withPart(s, name)
}

func withPart(s *trainrun.Series, name string) string {
	if s.Part == "" {
		return name
	}
	return s.Part + " " + name
}

// axes are those of curves.
var axes = []string{trainrun.AxisEpoch.String(), trainrun.AxisStep.String(), trainrun.AxisOrder.String()}

// named finds a curve by its name, with its part in front where it has one: as its trainer wrote it, of the first of its axes unless one is
// asked for, else as a document shows it. Without its part a name is that of the only part that has one.
func named(st *trainrun.State, name, axis string) (*trainrun.Series, error) {
	if axis != "" && !slices.Contains(axes, axis) {
		return nil, errors.New("axis: want one of " + strings.Join(axes, ", "))
	}
	is := func(known string) bool { return known == name || trainview.Safe(known, maxMetric) == name }
	var byShown, byName []*trainrun.Series
	for i := range st.Series {
		s := &st.Series[i]
		short, full := shown(s)
		own := axis == "" && !s.Shared || axis == s.Axis.String()
		switch {
		case own && is(withPart(s, s.Name)):
			return s, nil
		case axis != "" && axis != s.Axis.String():
		case is(full):
			byShown = append(byShown, s)
		case is(short), own && is(s.Name):
			byName = append(byName, s)
		}
	}
	switch {
	case len(byShown) > 0:
		return byShown[0], nil
	case len(byName) == 1:
		return byName[0], nil
	case len(byName) > 1:
		return nil, measured(st, "several parts of the run have a curve of this name; measured names them with their part in front")
	case axis != "":
		return nil, measured(st, "no curve of the run has this name on this axis; measured names those there are")
	default:
		return nil, measured(st, "no curve of the run has this name; measured names those there are")
	}
}

const (
	maxMetric = 64 // bytes of a name
	maxNames  = 50
)

// measured is an error that names the curves that there are. Their names are a trainer's: values of a field, no part of a sentence.
func measured(st *trainrun.State, fault string) error {
	told := struct {
		Error    string   `json:"error"`
		Measured []string `json:"measured"`
		Omitted  int      `json:"measured_omitted,omitempty"`
	}{Error: fault, Measured: []string{}}
	for i := range st.Series {
		_, full := shown(&st.Series[i])
		told.Measured = append(told.Measured, trainview.Safe(full, maxMetric))
	}
	slices.Sort(told.Measured)
	if n := len(told.Measured) - maxNames; n > 0 {
		told.Measured, told.Omitted = told.Measured[:maxNames], n
	}
	text, err := trainview.Encode(told)
	if err != nil {
		return err
	}
	return errors.New(strings.TrimSpace(string(text)))
}
