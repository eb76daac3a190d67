package trainview

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// Encode writes a document, a list or another value as compact JSON with a newline at the end.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Fit brings a document to its size: files but the newest are left out, then names of what is measured, metrics from the end, and
// warnings, each counted; last, texts are cut shorter. What explains the verdicts is asked for and does not count.
func (d *Document) Fit() {
	explain := d.Explain
	d.Explain = nil
	defer func() { d.Explain = explain }()
	over := func() bool {
		b, err := Encode(d)
		return err == nil && len(b)-1 > MaxDocument
	}
	for len(d.Source.Files) > 1 && over() {
		d.Source.Files = slices.Clone(d.Source.Files[1:])
		d.Source.FilesOmitted++
	}
	less := func(least int) {
		for len(d.Measured) > least && over() {
			d.Measured = d.Measured[:len(d.Measured)-1]
			d.MeasuredOmitted++
		}
	}
	less(leastMeasured)
	for len(d.Metrics) > 0 && over() {
		d.Metrics = d.Metrics[:len(d.Metrics)-1]
		d.MetricsOmitted++
	}
	for len(d.Warnings) > 0 && over() {
		d.Warnings = d.Warnings[:len(d.Warnings)-1]
		d.WarningsOmitted++
	}
	less(0)
	if s := d.Stop; s != nil && over() {
		s.Final = nil
	}
	for most := maxPath / 2; most >= 8 && over(); most /= 2 {
		d.shorten(most)
	}
}

// shorten cuts the texts of a trainer.
func (d *Document) shorten(most int) {
	texts := []*string{d.Run.ID, d.Run.Framework, &d.Progress.Part}
	if d.Objective != nil {
		texts = append(texts, &d.Objective.Metric)
	}
	if b := d.Best; b != nil {
		texts = append(texts, &b.Metric, &b.Part)
		if b.Checkpoint != nil {
			texts = append(texts, &b.Checkpoint.Path, b.Checkpoint.Kind)
		}
	}
	if s := d.Stop; s != nil {
		texts = append(texts, &s.Reported)
		if s.Error != nil {
			texts = append(texts, s.Error.Type, s.Error.Message)
		}
	}
	for i := range d.Source.Files {
		texts = append(texts, &d.Source.Files[i].Path)
	}
	for _, t := range texts {
		if t != nil {
			*t = shortened(*t, most)
		}
	}
}

// shortened cuts a text that is safe already.
func shortened(s string, most int) string {
	const ellipsis = "…"
	if len(s) <= most {
		return s
	}
	cut := most - len(ellipsis)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + ellipsis
}
