package policy

// Document is a policy as an operator writes it.
type Document struct {
	Version    Text       `yaml:"version"`
	Mode       Mode       `yaml:"mode"`
	Registry   Registry   `yaml:"registry"`
	Attributes Attributes `yaml:"attributes"`
	Resource   OnResource `yaml:"resource"`
	Training   Training   `yaml:"training"`
	Metrics    Names      `yaml:"metrics"`
	Gauges     Gauges     `yaml:"gauges"`
	Histograms Histograms `yaml:"histograms"`
	Summaries  Summaries  `yaml:"summaries"`
	Exempt     []Exempt   `yaml:"exempt"`
	Limits     Limits     `yaml:"limits"`
}

// Text is any scalar, as text.
type Text string

// Registry is what is forbidden in any case: what the registry of the vocabulary keeps off metrics, and its bounded sets of values.
type Registry struct {
	Mode Mode `yaml:"mode"`
	// Except are words that make a key another thing than its concept, as in container_image_id.
	Except []string `yaml:"except"`
}

// Attributes are rules about attributes.
type Attributes struct {
	Deny        []Deny                 `yaml:"deny,one"`
	Values      []ValueRule            `yaml:"values,one"`
	AllowValues map[string][]AllowList `yaml:"allow_values,one"`
	KeepOnly    []KeepOnly             `yaml:"keep_only,one"`
}

// Deny removes attributes by their keys.
type Deny struct {
	Name       string    `yaml:"name"`
	Mode       Mode      `yaml:"mode"`
	Metrics    *Selector `yaml:"metrics"`
	Normalized []string  `yaml:"normalized"`
	Exact      []string  `yaml:"exact"`
	Glob       []string  `yaml:"glob"`
	Regex      []string  `yaml:"regex"`
	ApplyTo    []Place   `yaml:"apply_to"`
}

// ValueRule removes attributes by the shape of their values.
type ValueRule struct {
	Name         string     `yaml:"name"`
	Mode         Mode       `yaml:"mode"`
	Metrics      *Selector  `yaml:"metrics"`
	Keys         []string   `yaml:"keys"`
	DenyPatterns []Shape    `yaml:"deny_patterns"`
	Action       ActionWord `yaml:"action"`
	ApplyTo      []Place    `yaml:"apply_to"`
}

// AllowList bounds the values of an attribute.
type AllowList struct {
	Mode      Mode            `yaml:"mode"`
	Metrics   *Selector       `yaml:"metrics"`
	Values    []Text          `yaml:"values"`
	Registry  string          `yaml:"registry"`
	Aliases   map[string]Text `yaml:"aliases"`
	Otherwise Text            `yaml:"otherwise"`
}

// KeepOnly removes every other attribute.
type KeepOnly struct {
	Name    string    `yaml:"name"`
	Mode    Mode      `yaml:"mode"`
	Metrics *Selector `yaml:"metrics"`
	// Registry keeps the attributes that the registry allows on metrics.
	Registry bool     `yaml:"registry"`
	Keys     []string `yaml:"keys"`
	ApplyTo  []Place  `yaml:"apply_to"`
}

// OnResource are rules about resources.
type OnResource struct {
	Mode Mode     `yaml:"mode"`
	Keep []string `yaml:"keep"`
	Deny []string `yaml:"deny"`
}

// Training says which metrics are of a training, and what of their workload's identity carries the run.
type Training struct {
	Mode     Mode     `yaml:"mode"`
	Prefixes []string `yaml:"prefixes"`
	Remove   []string `yaml:"remove"`
}

// Names is the list of metrics that may pass.
type Names struct {
	Mode      Mode      `yaml:"mode"`
	Allow     Selector  `yaml:"allow"`
	Otherwise NamesWord `yaml:"otherwise"`
}

// Selector picks metrics by name.
type Selector struct {
	Exact  []string `yaml:"exact"`
	Prefix []string `yaml:"prefix"`
	Glob   []string `yaml:"glob"`
	Regex  []string `yaml:"regex"`
}

// Gauges says how gauges merge.
type Gauges struct {
	Default GaugeWord   `yaml:"default"`
	Rules   []GaugeRule `yaml:"rules"`
}

// GaugeRule is how some gauges merge.
type GaugeRule struct {
	Metric Globs     `yaml:"metric"`
	Merge  GaugeWord `yaml:"merge"`
}

// Globs are names or globs of names, one or a list.
type Globs []string

// Histograms says which bounds merged histograms have.
type Histograms struct {
	Rules []HistogramRule `yaml:"rules"`
}

// HistogramRule is the bounds of some histograms.
type HistogramRule struct {
	Metric Globs     `yaml:"metric"`
	Bounds []float64 `yaml:"bounds"`
}

// Summaries says how summaries merge.
type Summaries struct {
	Default SummaryWord   `yaml:"default"`
	Rules   []SummaryRule `yaml:"rules"`
}

// SummaryRule is how some summaries merge.
type SummaryRule struct {
	Metric Globs       `yaml:"metric"`
	Merge  SummaryWord `yaml:"merge"`
}

// Exempt lets metrics keep attributes, and says how many write them.
type Exempt struct {
	Metrics Selector   `yaml:"metrics"`
	Keep    []string   `yaml:"keep"`
	Writer  WriterWord `yaml:"writer"`
}

// Limits are numbers of series and values.
type Limits struct {
	SeriesPerMetric    int            `yaml:"series_per_metric"`
	ValuesPerAttribute map[string]int `yaml:"values_per_attribute"`
}
