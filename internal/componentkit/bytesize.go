package componentkit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ByteSize is a number of bytes in a configuration: a plain integer, or a text with a unit such as 16MiB or 64MB. The
// bounds are the component's to check; a text is never negative, an integer may be.
type ByteSize int64

// byteUnits are tried in order: a longer suffix stands before the one that it ends in.
var byteUnits = [...]struct {
	suffix string
	bytes  int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}

// UnmarshalText reads a size with or without a unit.
func (s *ByteSize) UnmarshalText(text []byte) error {
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(string(text), u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/u.bytes {
			break
		}
		*s = ByteSize(n * u.bytes)
		return nil
	}
	return fmt.Errorf("want a size such as 4096 or 16MiB, got %q", text)
}
