package trainprofile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// attributesFile are the items of a profile's section about attributes, one a line, and what each gets.
const attributesFile = "attributes.txtar"

// item is a log record, span or data point as a fixture spells it.
type item struct {
	Signal, Scope, Name  string
	Attributes, Resource map[string]any
}

func readItems(t testing.TB, profile string) (in, out []string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", profile, attributesFile))
	require.NoError(t, err)
	for _, f := range archive.Files {
		switch f.Name {
		case "in":
			in = lines(string(f.Data))
		case "out":
			out = lines(string(f.Data))
		default:
			t.Fatalf("%s: unknown part %s", profile, f.Name)
		}
	}
	return in, out
}

// mapItem maps an item and gives what was added, without the namespace. "span" says that the span is of a training, "identity"
// which attributes of the resource name the run.
func mapItem(t testing.TB, set *Set, line string) string {
	t.Helper()
	var it item
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&it), line)
	signal := Signal(slices.Index(signalNames[:], it.Signal))
	require.GreaterOrEqual(t, signal, SignalLog, line)
	attrs, resource := rawMap(t, it.Attributes), rawMap(t, it.Resource)
	m := NewMapper(nil)
	identity := m.Identities(set, resource)
	out := m.MapAttributes(set, signal, Item{Attributes: attrs, Resource: resource, Scope: it.Scope, Name: it.Name})
	added := map[string]any{}
	for key, v := range attrs.All() {
		if _, had := it.Attributes[key]; !had {
			added[strings.TrimPrefix(key, trainrecord.Namespace+".")] = v.AsRaw()
		}
	}
	if out.Training {
		added["span"] = true
	}
	if len(identity) > 0 {
		slices.Sort(identity)
		added["identity"] = slices.Compact(identity)
	}
	for _, e := range out.Errors {
		added["error"] = fmt.Sprint(e.Field, " ", e.Reason)
	}
	text, err := json.Marshal(added)
	require.NoError(t, err)
	return string(text)
}

func rawMap(t testing.TB, values map[string]any) pcommon.Map {
	t.Helper()
	m := pcommon.NewMap()
	for _, key := range slices.Sorted(mapKeys(values)) {
		switch v := values[key].(type) {
		case json.Number:
			if n, err := v.Int64(); err == nil {
				m.PutInt(key, n)
				continue
			}
			f, err := v.Float64()
			require.NoError(t, err)
			m.PutDouble(key, f)
		case string:
			m.PutStr(key, v)
		case bool:
			m.PutBool(key, v)
		default:
			t.Fatalf("%s: %v", key, v)
		}
	}
	return m
}

func mapKeys(m map[string]any) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func TestAttributesOfFrameworksAndTrackers(t *testing.T) {
	t.Parallel()
	set, shown := embeddedSet(t), 0
	for _, p := range set.profiles {
		if p.attributes == nil {
			continue
		}
		shown++
		in, out := readItems(t, p.name)
		require.Len(t, out, len(in), p.name)
		for i, line := range in {
			assert.JSONEq(t, out[i], mapItem(t, set, line), "%s: %s", p.name, line)
		}
	}
	assert.Greater(t, shown, 5)
}

// itemResults are those of a profile's items, for the test that removes its parts.
func itemResults(t *testing.T, set *Set, profile string) (all []string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join("testdata", profile, attributesFile)); err != nil {
		return nil
	}
	in, _ := readItems(t, profile)
	for _, line := range in {
		all = append(all, mapItem(t, set, line))
	}
	return all
}

// TestMappedAttributesKeepTheirBounds maps hostile attributes: what is there already stays, what is added is of the signal's
// names and of its list, and nothing panics.
func TestMappedAttributesKeepTheirBounds(t *testing.T) {
	t.Parallel()
	set, m := embeddedSet(t), NewMapper(nil)
	names := []string{"tunix.training.mode", "model", "fold", "rl.run.id", "rl.system", "mlflow.run_id", "wandb.run.id", "openlineage.run.id", "openlineage.eventType", "epoch",
		trainrecord.AttrPhase, trainrecord.AttrRunID, "tunix.jax.process.index"}
	rapid.Check(t, func(t *rapid.T) {
		attrs, resource := pcommon.NewMap(), pcommon.NewMap()
		for _, to := range []pcommon.Map{attrs, resource} {
			for _, key := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 6).Draw(t, "keys") {
				drawValue(t, to.PutEmpty(key), 1)
			}
		}
		before := pcommon.NewMap()
		attrs.CopyTo(before)
		signal := Signal(rapid.IntRange(0, int(signalCount)-1).Draw(t, "signal"))
		m.MapAttributes(set, signal, Item{
			Attributes: attrs, Resource: resource, Scope: rapid.SampledFrom([]string{"", "tunix"}).Draw(t, "scope"),
			Name: rapid.SampledFrom([]string{"", "rl.train", "megatron.training.loss", "tunix.model.train"}).Draw(t, "name"),
		})
		reg := trainrecord.Load()
		for key, v := range attrs.All() {
			if old, had := before.Get(key); had {
				require.Equal(t, spelled(old), spelled(v), key)
				continue
			}
			name := strings.TrimPrefix(key, trainrecord.Namespace+".")
			i := slices.IndexFunc(reg.Names, func(n trainrecord.Name) bool { return n.Kind == trainrecord.KindAttribute && n.Name == name })
			require.GreaterOrEqual(t, i, 0, key)
			require.Contains(t, reg.Names[i].Signals, signalNames[signal], key)
			if list := reg.Values[reg.Names[i].Values]; len(list) > 0 {
				require.Contains(t, list, v.Str(), key)
			}
		}
	})
}

func spelled(v pcommon.Value) string {
	var b strings.Builder
	showValue(&b, v)
	return b.String()
}
