package trainprofile

import (
	"encoding/hex"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// scalar is a value on its way from an object to a record. Objects and lists stay where they are until they are copied.
type scalar struct {
	typ pcommon.ValueType
	i   int64
	f   float64
	s   string
	b   bool
	v   pcommon.Value
}

func scalarOf(v pcommon.Value) scalar {
	c := scalar{typ: v.Type(), v: v}
	switch c.typ {
	case pcommon.ValueTypeInt:
		c.i = v.Int()
	case pcommon.ValueTypeDouble:
		c.f = v.Double()
	case pcommon.ValueTypeStr:
		c.s = v.Str()
	case pcommon.ValueTypeBool:
		c.b = v.Bool()
	default:
	}
	return c
}

// constant gives a single value as a constant of a profile.
func (c scalar) constant() (any, bool) {
	switch c.typ {
	case pcommon.ValueTypeStr:
		return c.s, true
	case pcommon.ValueTypeInt:
		return c.i, true
	case pcommon.ValueTypeDouble:
		return c.f, true
	case pcommon.ValueTypeBool:
		return c.b, true
	default:
		return nil, false
	}
}

func intScalar(n int64) scalar     { return scalar{typ: pcommon.ValueTypeInt, i: n} }
func floatScalar(f float64) scalar { return scalar{typ: pcommon.ValueTypeDouble, f: f} }
func textScalar(s string) scalar   { return scalar{typ: pcommon.ValueTypeStr, s: s} }

// constantScalar takes a constant of a profile: string, int64, float64 or bool.
func constantScalar(c any) scalar {
	switch c := c.(type) {
	case string:
		return textScalar(c)
	case int64:
		return intScalar(c)
	case float64:
		return floatScalar(c)
	case bool:
		return scalar{typ: pcommon.ValueTypeBool, b: c}
	default:
		return scalar{}
	}
}

// is tells whether the value is the scalar, as it stands.
func (c scalar) is(v pcommon.Value) bool {
	if c.typ != v.Type() {
		return false
	}
	switch c.typ {
	case pcommon.ValueTypeInt:
		return c.i == v.Int()
	case pcommon.ValueTypeDouble:
		return math.Float64bits(c.f) == math.Float64bits(v.Double())
	case pcommon.ValueTypeStr:
		return c.s == v.Str()
	default:
		return false
	}
}

// text gives a single value as text.
func (c scalar) text() (string, bool) {
	switch c.typ {
	case pcommon.ValueTypeStr:
		return c.s, true
	case pcommon.ValueTypeInt:
		return strconv.FormatInt(c.i, 10), true
	case pcommon.ValueTypeDouble:
		return strconv.FormatFloat(c.f, 'g', -1, 64), true
	case pcommon.ValueTypeBool:
		return strconv.FormatBool(c.b), true
	default:
		return "", false
	}
}

// putIn writes the value under a key.
func (c scalar) putIn(m pcommon.Map, key string) { c.writeTo(m.PutEmpty(key)) }

func (c scalar) writeTo(dst pcommon.Value) {
	switch c.typ {
	case pcommon.ValueTypeInt:
		dst.SetInt(c.i)
	case pcommon.ValueTypeDouble:
		dst.SetDouble(c.f)
	case pcommon.ValueTypeStr:
		dst.SetStr(c.s)
	case pcommon.ValueTypeBool:
		dst.SetBool(c.b)
	default:
		c.v.CopyTo(dst)
	}
}

// numbers say how a framework spells numbers.
type numbers struct {
	texts bool     // texts that are numbers count as numbers
	nan   []string // texts that stand for not-a-number, besides the usual ones
}

// number makes a number of the value; texts are numbers only where the profile says so, but the spellings of numbers that
// are not finite always are.
func (c scalar) number(as numbers) (scalar, bool) {
	switch c.typ {
	case pcommon.ValueTypeInt, pcommon.ValueTypeDouble:
		return c, true
	case pcommon.ValueTypeStr:
		text := strings.TrimSpace(c.s)
		if f, ok := trainrecord.Number(pcommon.NewValueStr(text)); ok {
			return floatScalar(f), true
		}
		if slices.Contains(as.nan, text) {
			return floatScalar(math.NaN()), true
		}
		if as.texts {
			return parseNumber(text)
		}
		return c, false
	case pcommon.ValueTypeSlice:
		if list := c.v.Slice(); list.Len() == 1 { // what tolist() of a tensor with one element gives
			return scalarOf(list.At(0)).number(as)
		}
		return c, false
	default:
		return c, false
	}
}

var decimal = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)

// wrapped is how Python writes a tensor or a scalar of an array library when a logger turned it into text.
var wrapped = regexp.MustCompile(`^(?:tensor|Array|array|np\.\w+|numpy\.\w+|jnp\.\w+)\(\[?([^\[\](),]+)\]?(?:,[^()]*(?:\([^()]*\))?)?\)$`)

func parseNumber(s string) (scalar, bool) {
	if strings.HasSuffix(s, ")") && len(s) <= 128 {
		if at := wrapped.FindStringSubmatch(s); at != nil {
			if s = strings.TrimSpace(at[1]); !decimal.MatchString(s) {
				f, ok := trainrecord.Number(pcommon.NewValueStr(s))
				return floatScalar(f), ok
			}
		}
	}
	if len(s) > 64 || !decimal.MatchString(s) {
		return scalar{}, false
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return intScalar(n), true
	}
	f, err := strconv.ParseFloat(s, 64)
	return floatScalar(f), err == nil
}

func (c scalar) integer(as numbers) (int64, bool) {
	n, ok := c.number(as)
	switch {
	case !ok:
		return 0, false
	case n.typ == pcommon.ValueTypeInt:
		return n.i, true
	case math.Abs(n.f) >= 1<<63 || n.f != math.Trunc(n.f): // NaN is not equal to itself
		return 0, false
	default:
		return int64(n.f), true
	}
}

// Reasons why a field of an object was not understood. The set is bounded.
const (
	ReasonWrongType  = "wrong_type"   // not the kind of value that the field holds
	ReasonOutOfRange = "out_of_range" // below its minimum or above its maximum
	ReasonOffList    = "off_list"     // not a value of its list
	ReasonNoTime     = "no_time"      // not a time
	ReasonCollision  = "collision"    // two keys would get one name; the first has it
)

// convert gives the value in the form that the target holds. It answers "" or a reason; ok is false without a reason when
// there is nothing to say (no epoch has begun).
func (c scalar) convert(t *target, src *source, as numbers) (out scalar, reason string, ok bool) {
	switch t.kind {
	case kindAny:
		return c, "", true
	case kindString:
		return c.toString(t)
	case kindInt:
		n, isInt := c.integer(as)
		return ranged(n, isInt, t.minimum, t.maximum)
	case kindEpoch:
		return c.toEpoch(src.base, as)
	case kindNumber:
		n, isNumber := c.number(as)
		return n, wrongTypeIf(!isNumber), isNumber
	case kindProgress:
		return c.toProgress(as)
	case kindDuration:
		return c.toDuration(src.unit, as)
	case kindBool:
		return c, wrongTypeIf(c.typ != pcommon.ValueTypeBool), c.typ == pcommon.ValueTypeBool
	case kindObject:
		return c, wrongTypeIf(c.typ != pcommon.ValueTypeMap), c.typ == pcommon.ValueTypeMap
	default:
		return c, wrongTypeIf(c.typ != pcommon.ValueTypeSlice), c.typ == pcommon.ValueTypeSlice
	}
}

func wrongTypeIf(bad bool) string {
	if bad {
		return ReasonWrongType
	}
	return ""
}

func ranged(n int64, isInt bool, minimum, maximum int64) (scalar, string, bool) {
	switch {
	case !isInt:
		return scalar{}, ReasonWrongType, false
	case n < minimum || maximum != 0 && n > maximum:
		return scalar{}, ReasonOutOfRange, false
	default:
		return intScalar(n), "", true
	}
}

func (c scalar) toString(t *target) (scalar, string, bool) {
	s, isText := c.s, c.typ == pcommon.ValueTypeStr
	if t.headerSetter != nil {
		s, isText = c.text() // a run id or part may be a number
	}
	switch {
	case !isText:
		return c, ReasonWrongType, false
	case t.allowed != nil && !slices.Contains(t.allowed, s):
		return c, ReasonOffList, false
	default:
		return textScalar(s), "", true
	}
}

func setTraceID(h *trainrecord.Header, s string) {
	var id pcommon.TraceID
	if n, err := hex.Decode(id[:], []byte(cut(s, 2*len(id)))); err == nil && n == len(id) && len(s) == 2*n {
		h.TraceID = id
	}
}

func setSpanID(h *trainrecord.Header, s string) {
	var id pcommon.SpanID
	if n, err := hex.Decode(id[:], []byte(cut(s, 2*len(id)))); err == nil && n == len(id) && len(s) == 2*n {
		h.SpanID = id
	}
}

func cut(s string, n int) string { return s[:min(len(s), n)] }
