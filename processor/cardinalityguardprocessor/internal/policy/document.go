package policy

// Document is a policy as an operator writes it. What doc says of a key stands in policy.schema.json.
type Document struct {
	Version    Text       `yaml:"version" doc:"A version of your own for the policy; it is told in policy_info."`
	Mode       Mode       `yaml:"mode" doc:"How far the whole policy goes: enforce changes data, audit only counts and reports, off does nothing."`
	Registry   Registry   `yaml:"registry" doc:"What the registry of the vocabulary keeps off metrics, and its sets of values. It holds without a line here."`
	Attributes Attributes `yaml:"attributes" doc:"Rules about attributes."`
	Resource   OnResource `yaml:"resource" doc:"Rules about the attributes of resources."`
	Training   Training   `yaml:"training" doc:"Which metrics are of a training, and what of their workload is removed because it carries the run."`
	Metrics    Names      `yaml:"metrics" doc:"The names of metrics that may pass."`
	Gauges     Gauges     `yaml:"gauges" doc:"How gauges of several sources become one."`
	Histograms Histograms `yaml:"histograms" doc:"The bounds of merged histograms."`
	Summaries  Summaries  `yaml:"summaries" doc:"What happens to summaries that would merge."`
	Exempt     []Exempt   `yaml:"exempt" doc:"Metrics that keep attributes whatever other rules say, or that one source writes. Without it, DCGM_FI_ and DCGM_EXP_ have a single writer."`
	Limits     Limits     `yaml:"limits" doc:"Numbers of series and of values."`
}

// Text is any scalar, as text.
type Text string

// Registry is what is forbidden in any case: what the registry of the vocabulary keeps off metrics, and its bounded sets of values.
type Registry struct {
	Mode   Mode     `yaml:"mode" doc:"How far what the registry forbids goes."`
	Except []string `yaml:"except" doc:"Words inside which no concept of the registry counts, such as leader_epoch."`
}

// Attributes are rules about attributes.
type Attributes struct {
	Deny        []Deny                 `yaml:"deny,one" doc:"Removes attributes by their keys. One rule or a list."`
	Values      []ValueRule            `yaml:"values,one" doc:"Removes attributes by the shape of their values. One rule or a list."`
	AllowValues map[string][]AllowList `yaml:"allow_values,one" doc:"Bounds the values of attributes, by key; what stands between the words of the key does not matter. A list each, or several for different metrics."`
	KeepOnly    []KeepOnly             `yaml:"keep_only,one" doc:"Removes every attribute of a point that is not listed. One rule or a list."`
}

// RuleHead is what rules about attributes have in common.
type RuleHead struct {
	Name    string    `yaml:"name" doc:"The reason that telemetry gives for this rule."`
	Mode    Mode      `yaml:"mode" doc:"How far this rule goes; the milder of this and the mode above counts."`
	Metrics *Selector `yaml:"metrics" doc:"The metrics that the rule is for. Without it, all."`
	ApplyTo []Place   `yaml:"apply_to" doc:"What the rule looks at; nested is the inside of maps and arrays. Without it: everything, for keep_only data points."`
}

// Deny removes attributes by their keys.
type Deny struct {
	RuleHead
	Normalized []string `yaml:"normalized" doc:"Words that deny a key when they stand in it together: run_id denies runId, RUN-ID and mlflow.run_id."`
	Exact      []string `yaml:"exact" doc:"Whole keys."`
	Glob       []string `yaml:"glob" doc:"Globs of whole keys: * any text, ? one character, [ab] one of some."`
	Regex      []string `yaml:"regex" doc:"RE2 expressions of whole keys."`
}

// ValueRule removes attributes by the shape of their values.
type ValueRule struct {
	RuleHead
	Keys         []string   `yaml:"keys" doc:"Only attributes of these keys, or globs. Without it, all."`
	DenyPatterns []Shape    `yaml:"deny_patterns" doc:"Shapes that a whole text may not have."`
	Action       ActionWord `yaml:"action" doc:"drop_attribute removes the attribute, other puts the word other in the place of the value."`
}

// AllowList bounds the values of an attribute.
type AllowList struct {
	Mode      Mode            `yaml:"mode" doc:"How far this rule goes; the milder of this and the mode above counts."`
	Metrics   *Selector       `yaml:"metrics" doc:"The metrics that the rule is for. Without it, all."`
	Values    []Text          `yaml:"values" doc:"Values that may stay."`
	Registry  string          `yaml:"registry" doc:"A set of values of the registry, which may stay too."`
	Aliases   map[string]Text `yaml:"aliases" doc:"Other names of values, and what they become."`
	Otherwise Text            `yaml:"otherwise" doc:"The word for all other values, or drop_attribute, or drop_point. Without it: other."`
}

// KeepOnly removes every other attribute.
type KeepOnly struct {
	RuleHead
	Registry bool     `yaml:"registry" doc:"Keep what the registry allows on metrics."`
	Keys     []string `yaml:"keys" doc:"Keys, or globs of keys, that stay."`
}

// OnResource are rules about resources.
type OnResource struct {
	Mode Mode     `yaml:"mode" doc:"How far this rule goes; the milder of this and the mode above counts."`
	Keep []string `yaml:"keep" doc:"Keys, or globs, that keep their value whatever it looks like. A denied key goes all the same."`
	Deny []string `yaml:"deny" doc:"Keys, or globs, that are removed from resources."`
}

// Training says which metrics are of a training, and what of their workload's identity carries the run.
type Training struct {
	Mode     Mode     `yaml:"mode" doc:"How far this rule goes; the milder of this and the mode above counts."`
	Prefixes []string `yaml:"prefixes" doc:"How the names of metrics of a training begin."`
	Remove   []string `yaml:"remove" doc:"Keys that are removed from them, on every level; what stands between the words does not matter."`
}

// Names is the list of metrics that may pass.
type Names struct {
	Mode      Mode      `yaml:"mode" doc:"How far this rule goes; the milder of this and the mode above counts."`
	Allow     Selector  `yaml:"allow" doc:"Names that may pass. Metrics of a training that are not on it are dropped."`
	Otherwise NamesWord `yaml:"otherwise" doc:"What happens to other metrics that are not on it. Without it: keep."`
}

// Selector picks metrics by name.
type Selector struct {
	Exact  []string `yaml:"exact" doc:"Whole names."`
	Prefix []string `yaml:"prefix" doc:"Beginnings of names."`
	Glob   []string `yaml:"glob" doc:"Globs of whole names."`
	Regex  []string `yaml:"regex" doc:"RE2 expressions of whole names."`
}

// Gauges says how gauges merge.
type Gauges struct {
	Default GaugeWord   `yaml:"default" doc:"The rule of gauges that no rule names. Without it: last."`
	Rules   []GaugeRule `yaml:"rules" doc:"Rules; one that names a metric exactly goes before globs, else the first counts."`
}

// GaugeRule is how some gauges merge.
type GaugeRule struct {
	Metric Globs     `yaml:"metric" doc:"A name, a glob, or a list of them."`
	Merge  GaugeWord `yaml:"merge" doc:"How the values become one."`
}

// Globs are names or globs of names, one or a list.
type Globs []string

// Histograms says which bounds merged histograms have.
type Histograms struct {
	Rules []HistogramRule `yaml:"rules" doc:"Bounds by metric."`
}

// HistogramRule is the bounds of some histograms.
type HistogramRule struct {
	Metric Globs     `yaml:"metric" doc:"A name, a glob, or a list of them."`
	Bounds []float64 `yaml:"bounds" doc:"Rising upper bounds. Those that no source has are left out."`
}

// Summaries says how summaries merge.
type Summaries struct {
	Default SummaryWord   `yaml:"default" doc:"merge adds counts and sums; drop drops what would merge. Without it: merge."`
	Rules   []SummaryRule `yaml:"rules" doc:"Rules by metric."`
}

// SummaryRule is how some summaries merge.
type SummaryRule struct {
	Metric Globs       `yaml:"metric" doc:"A name, a glob, or a list of them."`
	Merge  SummaryWord `yaml:"merge" doc:"How the values become one."`
}

// Exempt lets metrics keep attributes, and says how many write them.
type Exempt struct {
	Metrics Selector   `yaml:"metrics" doc:"The metrics that are exempt."`
	Keep    []string   `yaml:"keep" doc:"Keys, or globs, that no rule touches."`
	Writer  WriterWord `yaml:"writer" doc:"single: one source writes each series, whatever attributes change; nothing is added up."`
}

// Limits are numbers of series and values.
type Limits struct {
	SeriesPerMetric    *int           `yaml:"series_per_metric" doc:"Series of one metric, 2 or more: the last one is the overflow series, to which more go. Without it, the guard's own limit."`
	ValuesPerAttribute map[string]int `yaml:"values_per_attribute" doc:"How many values of an attribute stay, by key; later ones are other."`
}
