package policy

import (
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// FromMap compiles a policy that stands in the Collector's own configuration. Its errors name keys, not lines.
func FromMap(m map[string]any) (*Policy, error) {
	var root yaml.Node
	d := &decoder{problems: problems{file: ""}}
	doc := &Document{}
	if err := root.Encode(m); err != nil {
		return nil, err
	}
	d.read(&root, doc)
	return compile(doc, &d.problems, trainrecord.Load())
}
