package policy

// Mode says what becomes of what a rule finds.
type Mode uint8

// Modes.
const (
	Unset   Mode = iota // enforce, unless something above says otherwise
	Enforce             // the data is changed
	Audit               // it is counted and reported what would be changed
	Off
)

// Words are what an operator writes.
func (Mode) Words() []string { return []string{"enforce", "audit", "off"} }

// under gives the mode of a rule inside something with a mode of its own: the milder one counts.
func (m Mode) under(above Mode) Mode { return max(m, above, Enforce) }

// Level is what an attribute is on.
type Level uint8

// Levels.
const (
	Resource Level = iota
	Scope
	Datapoint
	Exemplar
	Metadata
	Levels // their number
)

// LevelNames are the levels as an operator reads them.
var LevelNames = [Levels]string{"resource", "scope", "datapoint", "exemplar", "metadata"}

// Place is a level in apply_to, or the inside of maps and arrays.
type Place uint8

// Words are what an operator writes.
func (Place) Words() []string { return append(append([]string(nil), LevelNames[:]...), "nested") }

// places is a set of levels, and whether it holds inside maps and arrays too.
type places uint8

const (
	nested   places = 1 << Levels
	anywhere places = 1<<(Levels+1) - 1
	onPoints places = 1 << Datapoint
)

func (l Level) bit() places { return 1 << l }

// has says whether the set holds a level, or the inside of what is on it.
func (p places) has(l Level, inside bool) bool {
	return p&l.bit() != 0 && (!inside || p&nested != 0)
}

// Gauge is how the live sources of a gauge become one value.
type Gauge uint8

// Rules of gauges.
const (
	Last Gauge = iota // the newest; of two at one time the larger
	Mean
	Min
	Max
	Total
	Drop
)

// GaugeWord is a rule of gauges as an operator writes it.
type GaugeWord uint8

// Words are what an operator writes.
func (GaugeWord) Words() []string { return []string{"last", "mean", "min", "max", "sum", "drop"} }

// SummaryWord says what happens to summaries that would merge.
type SummaryWord uint8

// Words are what an operator writes.
func (SummaryWord) Words() []string { return []string{"merge", "drop"} }

const dropSummary SummaryWord = 2

// NamesWord says what happens to metrics off the list.
type NamesWord uint8

// Words are what an operator writes.
func (NamesWord) Words() []string { return []string{"keep", "drop"} }

const dropNames NamesWord = 2

// WriterWord says how many sources write a series.
type WriterWord uint8

// Words are what an operator writes.
func (WriterWord) Words() []string { return []string{"many", "single"} }

const oneWriter WriterWord = 2

// ActionWord says what happens to an attribute whose value has a denied shape.
type ActionWord uint8

// Words are what an operator writes.
func (ActionWord) Words() []string { return []string{"drop_attribute", "other"} }

const replaceValue ActionWord = 2

// Words of allow_values that are no values.
const (
	dropAttribute = "drop_attribute"
	dropPoint     = "drop_point"
)

// Values that are always allowed: what stands for values off a list.
const (
	otherWord = "other"
	otelOther = "_OTHER"
)

// OverflowKey is the attribute of series over a limit. Its one value, true, is always allowed; another would be a name that no limit bounds.
const OverflowKey = "otel.metric.overflow"
