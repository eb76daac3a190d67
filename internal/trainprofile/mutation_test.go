package trainprofile

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// TestEachPartOfAProfileIsNeeded removes each rule, field, move and way of recognition of each shipped profile in turn and
// maps the fixtures again: something must come out differently, or the part is dead or untested.
func TestEachPartOfAProfileIsNeeded(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("profiles/*.yaml")
	require.NoError(t, err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			original, err := Parse(filepath.Base(file), data)
			require.NoError(t, err)
			want, tried := fixtureResults(t, original), 0
			for i := range len(removables(t, data)) {
				var root yaml.Node
				require.NoError(t, yaml.Unmarshal(data, &root))
				part := nodesToRemove(root.Content[0])[i]
				part.remove()
				text, err := yaml.Marshal(&root)
				require.NoError(t, err)
				p, err := Parse(filepath.Base(file), text)
				if err != nil {
					continue // the profile cannot do without it
				}
				tried++
				if slices.Equal(want, fixtureResults(t, p)) {
					t.Errorf("nothing shows that %s is needed", part.name)
				}
			}
			least := 2
			if len(original.rules) == 0 && original.unwrap == nil {
				least = 0
			}
			assert.Greater(t, tried, least)
		})
	}
}

// fixtureResults maps the streams of a profile's fixtures, each as a stream and each line by itself.
func fixtureResults(t *testing.T, p *Profile) []string {
	t.Helper()
	others, err := Embedded()
	require.NoError(t, err)
	set, err := NewSet("", append(others, p)...)
	require.NoError(t, err)
	var all []string
	require.NotEqual(t, len(p.rules) == 0 && p.unwrap == nil, len(fixtures(t, p.Name())) > 0, p.Name())
	all = append(itemResults(t, set, p.Name()), gaugeResults(t, set, p.Name())...)
	streams := p.Name()
	if p.unwrap != nil {
		streams = "*" // what lies in an envelope is another profile's
	}
	for _, f := range fixtures(t, streams) {
		m, stream := NewMapper(nil), &Stream{}
		for _, s := range []*Stream{stream, nil} {
			for _, line := range f.in {
				lr, ok := receive(t, line)
				if !ok {
					continue
				}
				_, m.texts = lr.Body().Map().Get(textBody)
				out, records := process(m, set, s, lr)
				all = append(all, fmt.Sprint(out.Kind, out.Detected, out.Weak, out.Errors))
				for _, lr := range records {
					all = append(all, show(lr))
				}
			}
		}
	}
	return all
}

// removable is a part of a profile: the n-th child of a mapping or list.
type removable struct {
	name   string
	parent *yaml.Node
	at     int // of the value
}

func (r removable) remove() {
	from := r.at
	if r.parent.Kind == yaml.MappingNode {
		from--
	}
	r.parent.Content = append(r.parent.Content[:from:from], r.parent.Content[r.at+1:]...)
}

func removables(t *testing.T, data []byte) []removable {
	t.Helper()
	var root yaml.Node
	require.NoError(t, yaml.Unmarshal(data, &root))
	return nodesToRemove(root.Content[0])
}

// needed matches the parts that are removed.
var needed = regexp.MustCompile(`^(time\[\d+\]|numeric_strings|sparse|nan|detect\.\w+|detect\.\w+\.any\[\d+\]|header\.\w+|` +
	`attributes\.(spans|set\..+)|gauges\.(scopes|step|skip|row\[\d+\]|learning_rate\.\w+|measurements\[\d+\])|unwrap\.(objects\[\d+\]|hide|named\.(message|exception\w*|event)|text\[\d+\])|objective\[\d+\]|common\.(set\.[^.]+|spread\[\d+\])|` +
	`rules\[\d+\]|rules\[\d+\]\.(phase|continue|remember|header\.\w+|set\..+|spread\[\d+\]))$`)

func nodesToRemove(profile *yaml.Node) []removable {
	var all []removable
	var walk func(n *yaml.Node, at string)
	walk = func(n *yaml.Node, at string) {
		step := map[yaml.Kind]int{yaml.MappingNode: 2, yaml.SequenceNode: 1}[n.Kind]
		for i := step - 1; step > 0 && i < len(n.Content); i += step {
			name := fmt.Sprintf("%s[%d]", at, i)
			if step == 2 {
				name = join(at, n.Content[i-1].Value)
			}
			if needed.MatchString(name) {
				all = append(all, removable{name: name, parent: n, at: i})
			}
			if !setEntry.MatchString(name) {
				walk(n.Content[i], name)
			}
		}
	}
	walk(profile, "")
	return all
}

var setEntry = regexp.MustCompile(`\.set\..`)
