package trainprofile

// document is a profile as YAML spells it. profile.schema.json describes the same keys; a test holds the two together.
type document struct {
	Profile        string            `yaml:"profile" required:"true"`
	Framework      string            `yaml:"framework"`
	Description    string            `yaml:"description"`
	Order          int               `yaml:"order"`
	NumericStrings bool              `yaml:"numeric_strings"`
	Sparse         bool              `yaml:"sparse"`
	RecordKeys     *[]string         `yaml:"record_keys"`
	NaN            []string          `yaml:"nan"`
	Detect         *detectDocument   `yaml:"detect"`
	Time           []sourceDoc       `yaml:"time"`
	Header         fields            `yaml:"header"`
	Unwrap         *unwrapDocument   `yaml:"unwrap"`
	Objective      []objectiveDoc    `yaml:"objective"`
	Common         commonDocument    `yaml:"common"`
	Rules          []ruleDocument    `yaml:"rules"`
	Attributes     *attributesDoc    `yaml:"attributes"`
	Gauges         *gaugesDoc        `yaml:"gauges"`
	Sources        []string          `yaml:"sources"`
	Notes          []string          `yaml:"notes"`
	Without        map[string]string `yaml:"without"`
}

// unwrapDocument makes a profile an envelope: it opens what a logger wrote around an object, and has no rules.
type unwrapDocument struct {
	Objects []ref     `yaml:"objects"`
	Hide    []pattern `yaml:"hide"`
	Named   fields    `yaml:"named"`
	Text    []string  `yaml:"text"`
}

// attributesDoc says what the attributes of spans, log records and data points are in the vocabulary.
type attributesDoc struct {
	When  *condition `yaml:"when" required:"true"`
	Spans []pattern  `yaml:"spans"`
	Set   fields     `yaml:"set"`
}

// gaugesDoc says which gauges are points of learning curves, and how they form rows.
type gaugesDoc struct {
	Scopes       []pattern         `yaml:"scopes"`
	Step         string            `yaml:"step"`
	Row          []string          `yaml:"row"`
	LearningRate map[string]string `yaml:"learning_rate"`
	Measurements []gaugeNameDoc    `yaml:"measurements" required:"true"`
	Skip         []pattern         `yaml:"skip"`
}

// gaugeNameDoc names the measurements of gauges.
type gaugeNameDoc struct {
	Keys []pattern `yaml:"keys" required:"true"`
	As   string    `yaml:"as"`
}

// objectiveDoc is a metric by which the framework itself would choose the best epoch.
type objectiveDoc struct {
	Metric pattern `yaml:"metric" required:"true"`
	Mode   string  `yaml:"mode" required:"true"`
}

// detectDocument says how an object of the framework is recognised.
type detectDocument struct {
	Sure   *condition `yaml:"sure"`
	Strong *condition `yaml:"strong"`
	Weak   *condition `yaml:"weak"`
}

// commonDocument is what every rule of the profile does after its own part.
type commonDocument struct {
	Set    fields      `yaml:"set"`
	Spread []spreadDoc `yaml:"spread"`
}

// ruleDocument turns an object that meets its condition into one record.
type ruleDocument struct {
	Name     string      `yaml:"name" required:"true"`
	When     *condition  `yaml:"when"`
	Event    string      `yaml:"event" required:"true"`
	Phase    string      `yaml:"phase"`
	Continue bool        `yaml:"continue"`
	Closes   bool        `yaml:"closes"`
	Beside   bool        `yaml:"beside"`
	Remember fields      `yaml:"remember"`
	Header   fields      `yaml:"header"`
	Set      fields      `yaml:"set"`
	Spread   []spreadDoc `yaml:"spread"`
}

// condition is met when each part that is given is met.
type condition struct {
	In     ref               `yaml:"in"`
	Has    []ref             `yaml:"has"`
	HasAny []ref             `yaml:"has_any"`
	Lacks  []ref             `yaml:"lacks"`
	Like   []pattern         `yaml:"like"`
	Unlike []pattern         `yaml:"unlike"`
	Only   []pattern         `yaml:"only"`
	Pairs  []pattern         `yaml:"pairs"`
	Type   map[string]string `yaml:"type"`
	Match  map[string]regex  `yaml:"match"`
	Equals map[string]any    `yaml:"equals"`
	Same   []ref             `yaml:"same"`
	Any    []condition       `yaml:"any"`
	All    []condition       `yaml:"all"`
	Not    *condition        `yaml:"not"`
}

// sourceDoc says where a value comes from and how it is read. A text or a list in YAML is short for from.
type sourceDoc struct {
	From    ref            `yaml:"from"`
	Like    *pattern       `yaml:"like"`
	Value   any            `yaml:"value"`
	IfHas   ref            `yaml:"if_has"`
	Lacks   []ref          `yaml:"lacks"`
	Concat  []sourceDoc    `yaml:"concat"`
	Sum     []sourceDoc    `yaml:"sum"`
	Type    string         `yaml:"type"`
	Extract *regex         `yaml:"extract"`
	Lower   bool           `yaml:"lower"`
	Unless  []any          `yaml:"unless"`
	Values  map[string]any `yaml:"values"`
	Words   string         `yaml:"words"`
	Base    string         `yaml:"base"`
	Unit    string         `yaml:"unit"`
	Layout  string         `yaml:"layout"`
	Or      *sourceDoc     `yaml:"or"`
}

// spreadDoc moves the values of all keys that match into one object of the body.
type spreadDoc struct {
	In     ref        `yaml:"in"`
	Name   *sourceDoc `yaml:"name"`
	Value  *sourceDoc `yaml:"value"`
	Keys   []pattern  `yaml:"keys" required:"true"`
	Deep   bool       `yaml:"deep"`
	Unless []any      `yaml:"unless"`
	Lower  bool       `yaml:"lower"`
	Lacks  string     `yaml:"lacks"`
	To     string     `yaml:"to" required:"true"`
	As     string     `yaml:"as"`
}

// fields is a mapping of a target to its source that keeps the order of the file.
type fields []field

type field struct {
	Target string
	Source sourceDoc
}
