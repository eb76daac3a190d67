package trainview

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Number is written with six significant digits; what is not finite as one of the texts NaN, Infinity, -Infinity.
type Number float64

// MarshalJSON writes the number.
func (n Number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if !finite(v) {
		return []byte(`"` + n.String() + `"`), nil
	}
	return []byte(n.String()), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Number) UnmarshalJSON(b []byte) error {
	if len(b) > 1 && b[0] == '"' {
		b = b[1 : len(b)-1]
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("want a number: %w", err)
	}
	*n = Number(v)
	return nil
}

// String gives the shortest text of the six digits.
func (n Number) String() string {
	v := float64(n)
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	case v == 0:
		return "0"
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	if err != nil || !finite(rounded) {
		return strconv.FormatFloat(v, 'e', digits-1, 64)
	}
	if a := math.Abs(rounded); a < 1e-5 || a >= 1e15 {
		return strconv.FormatFloat(rounded, 'e', -1, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func number(v float64) *Number {
	n := Number(v)
	return &n
}

func seconds(nanos int64) *Number { return number(float64(nanos) / 1e9) }

// moment writes a time, nil for none.
func moment(nanos int64) *string {
	if nanos == 0 {
		return nil
	}
	s := clock(time.Unix(0, nanos))
	return &s
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func ptr[T any](v T) *T { return &v }
