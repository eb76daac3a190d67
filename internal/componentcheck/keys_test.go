package componentcheck

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer/consumererror"
)

type deepConfig struct {
	Embedded `mapstructure:",squash"`

	Storage  *component.ID                        `mapstructure:"storage"`
	Group    group                                `mapstructure:"group"`
	Pointer  *group                               `mapstructure:"pointer"`
	Optional configoptional.Optional[group]       `mapstructure:"optional"`
	Values   map[string]group                     `mapstructure:"values"`
	Words    []string                             `mapstructure:"words"`
	Hidden   string                               `mapstructure:"-"`
	Rest     map[string]any                       `mapstructure:",remain"`
	Level    component.StabilityLevel             `mapstructure:"level"`
	On       configoptional.Optional[leafOptions] `mapstructure:"on"`
}

// Embedded is squashed into its parent.
type Embedded struct {
	First bool `mapstructure:"first"`
}

type group struct {
	Field string `mapstructure:"field"`
}

type leafOptions struct {
	Limit int `mapstructure:"limit"`
}

func TestConfigKeysOfEveryShape(t *testing.T) {
	t.Parallel()
	var got []string
	for _, k := range configKeys(&deepConfig{On: configoptional.Some(leafOptions{Limit: 3})}) {
		got = append(got, fmt.Sprintf("%s group=%t foreign=%t unknown=%t", k.path, k.group, k.foreign, k.unknown))
	}
	assert.Equal(t, []string{
		"first group=false foreign=false unknown=false",
		"storage group=false foreign=false unknown=false",
		"group group=true foreign=false unknown=false",
		"group.field group=false foreign=false unknown=false",
		"pointer group=true foreign=false unknown=false",
		"pointer.field group=false foreign=false unknown=true",
		"optional group=true foreign=false unknown=false",
		"optional.field group=false foreign=false unknown=true",
		"values group=false foreign=false unknown=false",
		"values.<name>.field group=false foreign=false unknown=true",
		"words group=false foreign=false unknown=false",
		"level group=false foreign=false unknown=false",
		"on group=true foreign=false unknown=false",
		"on.limit group=false foreign=false unknown=false",
	}, got)
}

func TestForeignStructMayBeOneRow(t *testing.T) {
	t.Parallel()
	type outer struct {
		Own     group              `mapstructure:"own"`
		Foreign consumererror.Logs `mapstructure:"foreign"`
	}
	keys := configKeys(&outer{})
	assert.Empty(t, diffKeys(keys, map[string]string{"own.field": "none", "foreign": "upstream's"}))
	assert.Empty(t, diffKeys(keys, map[string]string{"own": "", "own.field": "none", "foreign": "", "foreign.more": "1"}))
	require.ErrorContains(t, errors.Join(diffKeys(keys, map[string]string{"own": "none", "foreign": ""})...), "no row for own.field")
	require.ErrorContains(t, errors.Join(diffKeys(keys, map[string]string{"own.field": "none"})...), "no row for foreign.")
}

func TestDefaultsAreReadAsYAML(t *testing.T) {
	t.Parallel()
	cases := []struct {
		cell  string
		value any
		ok    bool
	}{
		{"`16777216` (16 MiB)", 16777216, true},
		{"16", 17, false},
		{"`1m`", time.Minute, true},
		{"1h", time.Minute, false},
		{"60", time.Minute, false},
		{"false", false, true},
		{"none", false, false},
		{"-", 0, false},
		{"0", 0, true},
		{"none", "", true},
		{"", "x", false},
		{"`beginning`", "beginning", true},
		{"`end`", "beginning", false},
		{"`[a, b]`", []string{"a", "b"}, true},
		{"`[a]`", []string{"a", "b"}, false},
		{"required", []string{}, true},
		{"see below", []string{"a", "b", "c", "d", "e"}, true},
		{"see below", []string{"a"}, false},
		{"`{a: 1}`", map[string]int{"a": 1}, true},
		{"`file_storage`", component.MustNewID("file_storage"), true},
		{"none", (*component.ID)(nil), true},
		{"`0.25`", 0.25, true},
	}
	for _, tc := range cases {
		err := matchDefault(tc.cell, reflect.ValueOf(tc.value))
		assert.Equal(t, tc.ok, err == nil, "%q against %v: %v", tc.cell, tc.value, err)
	}
}

func TestEscapedBarBelongsToTheCell(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"a", "b|c", ""}, cells(`| a | b\|c | |`))
}
