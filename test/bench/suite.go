package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

//go:embed suites/*.yaml configs/*.yaml
var shipped embed.FS

// suite compares contenders with a peer.
type suite struct {
	Name string `yaml:"-"`
	// About says what is compared, for the head of the table.
	About string `yaml:"about"`
	// Peer and Contenders name files in configs.
	Peer       string   `yaml:"peer"`
	Contenders []string `yaml:"contenders"`
	// Lines names the shape of the lines, one of shapes.
	Lines string `yaml:"lines"`
	// Done is the self-metric that counts what the pipeline has accepted; a run ends when it has counted every line.
	Done string `yaml:"done"`
	// Results names the self-metric that counts written results, when the contenders write one for each file; their runs end with the last.
	Results string `yaml:"results"`
	// State names the self-metric that tells the memory of the runs' state, when the contenders have one for each file.
	State string `yaml:"state"`
	// Quarters asks for the memory of its own while each quarter of the lines was read.
	Quarters bool `yaml:"quarters"`
	// Unwritten names the contender that writes no result, for what all but the files costs.
	Unwritten string `yaml:"unwritten"`
	// Base names the contender that the others contain: what they add to it is a row of its own. Through names the self-metric that
	// counts the records which have come through what they add; their runs end when it has counted every line.
	Base    string `yaml:"base"`
	Through string `yaml:"through"`

	Full size `yaml:"full"`
	Gate size `yaml:"gate"`

	Targets targets `yaml:"targets"`
}

// size says how much is measured.
type size struct {
	Runs  int   `yaml:"runs"`  // of each configuration, in turn
	More  int   `yaml:"more"`  // times that a load, or the idle phase, is run again as often, when it misses a target; all runs count
	Lines int   `yaml:"lines"` // of a load, over all its files
	Files []int `yaml:"files"` // a load each
	Idle  idle  `yaml:"idle"`
}

// idle is a phase in which no file grows.
type idle struct {
	Runs   int           `yaml:"runs"`
	Files  int           `yaml:"files"`
	Lines  int           `yaml:"lines"`  // over all files, read before
	Settle time.Duration `yaml:"settle"` // from the last line to the phase
	For    time.Duration `yaml:"for"`
}

// targets are what a contender owes; each is optional.
type targets struct {
	CPU *target `yaml:"cpu"`
	// AddedCPU is held against what a contender adds to the base.
	AddedCPU *target `yaml:"added_cpu"`

	Wall    *target `yaml:"wall"`
	PeakRSS *target `yaml:"peak_rss"`
	IdleCPU *target `yaml:"idle_cpu"`
	// IdleStorage is how many bytes may be written to the storage folder while no file grows.
	IdleStorage *int64 `yaml:"idle_storage"`
}

// target is a ratio peer : contender.
type target struct {
	AtLeast float64 `yaml:"at_least"`
	Aim     float64 `yaml:"aim"` // said in the table, never enforced
}

func readSuite(name string) (suite, error) {
	text, err := shipped.ReadFile("suites/" + name + ".yaml")
	if err != nil {
		return suite{}, fmt.Errorf("no suite %q: want one of test/bench/suites", name)
	}
	s := suite{Name: name}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil {
		return suite{}, fmt.Errorf("suite %s: %w", name, err)
	}
	if err := s.check(); err != nil {
		return suite{}, fmt.Errorf("suite %s: %w", name, err)
	}
	return s, nil
}

func (s *suite) check() error {
	var errs []error
	for _, name := range append([]string{s.Peer}, s.Contenders...) {
		if _, err := shipped.ReadFile(configPath(name)); err != nil {
			errs = append(errs, fmt.Errorf("no file test/bench/%s", configPath(name)))
		}
	}
	if s.Unwritten != "" && !slices.Contains(s.Contenders, s.Unwritten) {
		errs = append(errs, fmt.Errorf("unwritten: %q is no contender", s.Unwritten))
	}
	if s.Base != "" && !slices.Contains(s.Contenders, s.Base) {
		errs = append(errs, fmt.Errorf("base: %q is no contender", s.Base))
	}
	if (s.Base == "") != (s.Through == "") {
		errs = append(errs, errors.New("base, through: want both or neither"))
	}
	if len(s.Contenders) == 0 {
		errs = append(errs, errors.New("contenders: name at least one"))
	}
	if shapes[s.Lines] == nil {
		errs = append(errs, fmt.Errorf("lines: no shape %q", s.Lines))
	}
	if s.Done == "" {
		errs = append(errs, errors.New("done: name the self-metric that counts accepted records"))
	}
	for name, z := range map[string]size{"full": s.Full, "gate": s.Gate} {
		if z.Runs < 1 || z.Lines < 1 || len(z.Files) == 0 {
			errs = append(errs, fmt.Errorf("%s: want runs, lines and files", name))
		}
		if z.Idle.Runs > 0 && (z.Idle.Files < 1 || z.Idle.Lines < z.Idle.Files || z.Idle.For <= 0) {
			errs = append(errs, fmt.Errorf("%s: idle: want files, a line for each, and for", name))
		}
	}
	return errors.Join(errs...)
}

// adds says that a configuration adds something to the base.
func (s *suite) adds(name string) bool { return s.Base != "" && name != s.Base && name != s.Peer }

func configPath(name string) string { return "configs/" + name + ".yaml" }
