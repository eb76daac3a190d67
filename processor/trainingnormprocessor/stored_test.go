package trainingnormprocessor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
)

// TestADecisionComesBackFromTheStorageAsItWas has decisions of every kind, also such that revised one.
func TestADecisionComesBackFromTheStorageAsItWas(t *testing.T) {
	t.Parallel()
	all, err := trainprofile.Embedded()
	require.NoError(t, err)
	set, err := trainprofile.NewSet("", all...)
	require.NoError(t, err)
	one, other := set.Profile("huggingface"), set.Profile("mlperf")
	base := &trainprofile.EpochBase{First: 1, Offset: 70}
	for name, d := range map[string]trainprofile.Decision{
		"strong":              {Profile: one, Offset: 50},
		"sure":                {Profile: other, Offset: 50, Sure: true},
		"counts from 1":       {Profile: other, Offset: 50, Base: base},
		"likely":              {Profile: one, Offset: 50, Likely: true, Base: &trainprofile.EpochBase{Offset: 50}},
		"finished epochs":     {Profile: one, Offset: 50, Likely: true, Partial: new(int64)},
		"revised":             {Profile: other, Offset: 90, Sure: true, Before: &trainprofile.Decision{Profile: one, Offset: 50}},
		"revised what counts": {Profile: other, Offset: 90, Before: &trainprofile.Decision{Profile: one, Offset: 50, Likely: true, Base: base, Partial: new(int64)}},
		"revised twice": {Profile: other, Offset: 90, Sure: true, Before: &trainprofile.Decision{
			Profile: one, Offset: 50, Before: &trainprofile.Decision{Profile: one, Offset: 10, Likely: true},
		}},
	} {
		key := "file " + name
		text, err := encodeShard(map[string]stored{key: newStored(&d, nil)})
		require.NoError(t, err)
		shard, err := decodeShard(shardOf(key), text)
		require.NoError(t, err, name)
		back := shard[key]
		assert.Equal(t, d, back.decision(set), name)
	}
}
