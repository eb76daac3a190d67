package resultfile

import (
	"strconv"
	"strings"
)

// lineOfPoint is about what a point takes: four digits, and seventeen of the value.
const lineOfPoint = 24

// table writes a plot table: the step and one column, named last so that DVC plots it without being told. A name with a
// quote is quoted by the rules of CSV, by which DVC reads tables.
func table(column string, points []Point) []byte {
	if column == stepKey {
		column += "_" // a reader keeps only one of two equal columns
	}
	if strings.Contains(column, `"`) {
		column = `"` + strings.ReplaceAll(column, `"`, `""`) + `"`
	}
	b := make([]byte, 0, len(stepKey)+len(column)+2+lineOfPoint*len(points))
	b = append(b, stepKey+"\t"+column+"\n"...)
	for _, p := range points {
		b = strconv.AppendInt(b, p.Step, 10)
		b = append(b, '\t')
		b = append(appendFloat(b, p.Value), '\n')
	}
	return b
}

// finite gives the points that a plot can show.
func finite(points []Point) []Point {
	out := make([]Point, 0, len(points))
	for _, p := range points {
		if isFinite(p.Value) {
			out = append(out, p)
		}
	}
	return out
}

// extremes gives the indexes of the least and the greatest value, the first of equal ones. There is at least one point.
func extremes(points []Point) (least, greatest int) {
	for i, p := range points {
		if p.Value < points[least].Value {
			least = i
		}
		if p.Value > points[greatest].Value {
			greatest = i
		}
	}
	return least, greatest
}
