package profiledoc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// profile is a profile's file, as far as the pages tell of it.
type profile struct {
	Name           string            `yaml:"profile"`
	Framework      string            `yaml:"framework"`
	Description    string            `yaml:"description"`
	NumericStrings bool              `yaml:"numeric_strings"`
	NaN            []string          `yaml:"nan"`
	Detect         yaml.Node         `yaml:"detect"`
	Time           yaml.Node         `yaml:"time"`
	Header         yaml.Node         `yaml:"header"`
	Unwrap         yaml.Node         `yaml:"unwrap"`
	Objective      []objective       `yaml:"objective"`
	Common         part              `yaml:"common"`
	Rules          []rule            `yaml:"rules"`
	Attributes     yaml.Node         `yaml:"attributes"`
	Gauges         yaml.Node         `yaml:"gauges"`
	Sources        []string          `yaml:"sources"`
	Notes          []string          `yaml:"notes"`
	Without        map[string]string `yaml:"without"`

	words []wordList // all there are
	facts map[string]bool
	kept  []string
	// example is a stream and its records, from the first fixture.
	exampleIn, exampleOut []string
}

type objective struct {
	Metric string `yaml:"metric"`
	Mode   string `yaml:"mode"`
}

type part struct {
	Set    yaml.Node `yaml:"set"`
	Spread yaml.Node `yaml:"spread"`
}

type rule struct {
	Name   string    `yaml:"name"`
	When   yaml.Node `yaml:"when"`
	Event  string    `yaml:"event"`
	Phase  string    `yaml:"phase"`
	Header yaml.Node `yaml:"header"`
	part   `yaml:",inline"`
}

// read reads the profiles of a folder, in order of their names, and maps their fixtures.
func read(dir string) ([]*profile, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "profiles", "*.yaml"))
	if err != nil {
		return nil, err
	}
	words, err := readWords(dir)
	if err != nil {
		return nil, err
	}
	var compiled []*trainprofile.Profile
	var all []*profile
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		c, err := trainprofile.Parse(filepath.Base(path), data)
		if err != nil {
			return nil, err
		}
		p := &profile{words: words, facts: map[string]bool{}}
		if err := yaml.Unmarshal(data, p); err != nil {
			return nil, fmt.Errorf("profile %s: %w", filepath.Base(path), err)
		}
		compiled, all = append(compiled, c), append(all, p)
	}
	set, err := trainprofile.NewSet("", compiled...)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if err := p.learn(dir, set); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (p *profile) envelope() bool { return !p.Unwrap.IsZero() }

// rows tells whether the profile reads objects; others are envelopes, or read attributes alone.
func (p *profile) rows() bool { return len(p.Rules) > 0 }

// learn maps the profile's fixtures and notes what is in the records.
func (p *profile) learn(dir string, set *trainprofile.Set) error {
	paths, err := filepath.Glob(filepath.Join(dir, "testdata", p.Name, "*.txt"))
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for i, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		in := section(string(data), "in")
		for _, lr := range mapLines(set, in) {
			note(lr, p.facts, kept)
		}
		if i == 0 {
			p.exampleIn, p.exampleOut = in, section(string(data), "out")
		}
	}
	for key := range kept {
		p.kept = append(p.kept, key)
	}
	slices.Sort(p.kept)
	for fact, reason := range p.Without {
		if p.facts[fact] {
			return fmt.Errorf("profile %s: without.%s says %q, but a fixture shows it", p.Name, fact, reason)
		}
	}
	return nil
}

// section gives the lines of a part of a fixture.
func section(text, name string) []string {
	_, after, _ := strings.Cut("\n"+text, "\n-- "+name+" --\n")
	part, _, _ := strings.Cut(after, "\n-- ")
	if part = strings.TrimSuffix(part, "\n"); part == "" {
		return nil
	}
	return strings.Split(part, "\n")
}

func mapLines(set *trainprofile.Set, lines []string) (records []plog.LogRecord) {
	m, stream := trainprofile.NewMapper(nil), &trainprofile.Stream{}
	decoder := trainrecord.NewDecoder(trainrecord.DecoderOptions{})
	for _, line := range lines {
		lr := plog.NewLogRecord()
		for _, prefix := range []string{":::MLLOG ", "DLLL "} {
			if _, rest, ok := strings.Cut(line, prefix); ok {
				line = rest
			}
		}
		if decoder.Decode([]byte(line), lr).Kind == trainrecord.LineError {
			continue
		}
		all := []plog.LogRecord{lr}
		out := m.Process(set, stream, lr, func() plog.LogRecord {
			all = append(all, plog.NewLogRecord())
			return all[len(all)-1]
		})
		if out.Kind == trainprofile.Mapped {
			records = append(records, all...)
		}
	}
	return records
}

// facts are the columns of the table besides "detected", and the body keys or events that show them.
var factKeys = map[string][]string{
	"epoch":      {trainrecord.BodyEpoch, trainrecord.BodyEpochProgress},
	"step":       {trainrecord.BodyStep},
	"lr":         {trainrecord.BodyLearningRate},
	"durations":  {trainrecord.BodyDurations},
	"samples":    {trainrecord.BodySamples, trainrecord.BodyTokens},
	"checkpoint": {trainrecord.BodyCheckpoint, trainrecord.EventCheckpointSave},
	"best":       {trainrecord.BodyBest, trainrecord.BodyObjective},
	"start":      {trainrecord.EventRunStart},
	"end":        {trainrecord.EventRunEnd},
	"failure":    {trainrecord.EventRunFailure},
	"params":     {trainrecord.BodyParams},
	"planned":    {trainrecord.BodyPlannedEpochs, trainrecord.BodyPlannedSteps},
}

// note adds what a record shows.
func note(lr plog.LogRecord, facts, kept map[string]bool) {
	body := lr.Body().Map()
	for fact, keys := range factKeys {
		for _, key := range keys {
			_, inBody := body.Get(key)
			if inBody || lr.EventName() == trainrecord.EventName(key) {
				facts[fact] = true
			}
		}
	}
	if _, ok := lr.Attributes().Get(trainrecord.AttrPhase); ok {
		facts["phase"] = true
	}
	if v, ok := body.Get(trainrecord.BodyFramework); ok {
		for key := range v.Map().All() {
			kept[key] = true
		}
	}
}
