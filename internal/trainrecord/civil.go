package trainrecord

import (
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// civil reads a date and a clock as loggers write them, step by step.
type civil struct {
	rest string
	bad  bool

	year, month, day     int
	hour, minute, second int
	nanos                int
	offset               int // of the zone, in seconds
	zoned                bool
}

// parseCivil reads the spellings of a time besides RFC 3339 and Unix times:
//
//	2026-11-29 13:27:26,029   2026/11/29 13:27:26.029   2026-11-29T13:27   20261129T132726   20261129_132726
//	2026-11-07_10-11-05       11/7/2026 9:0:3 (month first)                Sun Nov 29 13:27:26 2026
//
// each with a zone behind it or not: Z, UTC, GMT, +01, +0100, +01:00. Other names of zones mean different things to
// different people: a text with one is no time. Without a zone it is in loc.
func parseCivil(text string, loc *time.Location) (pcommon.Timestamp, bool) {
	if text == "" || text[0] < '0' || text[0] > '9' {
		t, err := time.ParseInLocation(time.ANSIC, text, loc)
		if err != nil {
			return 0, false
		}
		return timestamp(t)
	}
	c := civil{rest: text}
	separator := c.date()
	c.clock(separator)
	c.zone()
	if c.bad || c.rest != "" || !c.inRange() {
		return 0, false
	}
	if c.zoned {
		loc = time.UTC
	}
	t := time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second, c.nanos, loc)
	return timestamp(t.Add(-time.Duration(c.offset) * time.Second))
}

func (c *civil) inRange() bool {
	return c.month >= 1 && c.month <= 12 && c.day >= 1 && c.day <= daysIn(c.year, c.month) &&
		c.hour <= 23 && c.minute <= 59 && c.second <= 60
}

// number reads a number of so many digits.
func (c *civil) number(least, most int) (n int) {
	i := 0
	for ; i < len(c.rest) && i < most && c.rest[i] >= '0' && c.rest[i] <= '9'; i++ {
		n = n*10 + int(c.rest[i]-'0')
	}
	c.bad = c.bad || i < least
	c.rest = c.rest[i:]
	return n
}

// next takes one of some bytes, 0 when none of them is next.
func (c *civil) next(some string) byte {
	if c.rest == "" || strings.IndexByte(some, c.rest[0]) < 0 {
		return 0
	}
	b := c.rest[0]
	c.rest = c.rest[1:]
	return b
}

// date reads the date and what separates it from the clock.
func (c *civil) date() (separator byte) {
	digits := strings.IndexFunc(c.rest, func(r rune) bool { return r < '0' || r > '9' })
	switch {
	case digits == len("20061129"):
		c.year, c.month, c.day = c.number(4, 4), c.number(2, 2), c.number(2, 2)
		separator = c.next("Tt _-")
	case digits == len("2006"):
		c.year = c.number(4, 4)
		between := c.next("-/.")
		c.month = c.number(1, 2)
		c.bad = c.bad || between == 0 || c.next(string(between)) == 0
		c.day = c.number(1, 2)
		separator = c.next("Tt _")
	default:
		c.month = c.number(1, 2)
		c.bad = c.bad || c.next("/") == 0
		c.day = c.number(1, 2)
		c.bad = c.bad || c.next("/") == 0
		c.year = c.number(4, 4)
		separator = c.next("Tt _")
	}
	c.bad = c.bad || separator == 0
	return separator
}

// clock reads hours, minutes, and seconds if there are any. In the name of a file its parts have dashes between them.
func (c *civil) clock(separator byte) {
	c.rest = strings.TrimLeft(c.rest, " ")
	digits := strings.IndexFunc(c.rest, func(r rune) bool { return r < '0' || r > '9' })
	if digits >= len("150405") || digits < 0 && len(c.rest) == len("150405") {
		c.hour, c.minute, c.second = c.number(2, 2), c.number(2, 2), c.number(2, 2)
		c.fraction()
		return
	}
	c.hour = c.number(1, 2)
	between := c.next(":")
	if between == 0 && separator == '_' {
		between = c.next("-")
	}
	c.bad = c.bad || between == 0
	c.minute = c.number(1, 2)
	if between == 0 || c.next(string(between)) == 0 {
		return
	}
	c.second = c.number(1, 2)
	c.fraction()
}

// fraction reads the part of a second; what is below a nanosecond is left out.
func (c *civil) fraction() {
	if c.next(".,") == 0 {
		return
	}
	scale, digits := 100_000_000, 0
	for ; c.rest != "" && c.rest[0] >= '0' && c.rest[0] <= '9'; digits++ {
		c.nanos += int(c.rest[0]-'0') * scale
		scale /= 10
		c.rest = c.rest[1:]
	}
	c.bad = c.bad || digits == 0
}

func (c *civil) zone() {
	c.rest = strings.TrimPrefix(c.rest, " ")
	switch c.rest {
	case "":
		return
	case "Z", "z", "UTC", "GMT":
		c.zoned, c.rest = true, ""
		return
	}
	sign := c.next("+-")
	hours, minutes := c.number(2, 2), 0
	if c.rest != "" {
		c.next(":")
		minutes = c.number(2, 2)
	}
	c.bad = c.bad || sign == 0 || hours > 23 || minutes > 59
	c.zoned, c.offset = true, hours*3600+minutes*60
	if sign == '-' {
		c.offset = -c.offset
	}
}
