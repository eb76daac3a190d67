package cardinalityguardprocessor

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/client"
)

// tenants tells by the client's metadata whose series a batch has. The keys are in lower case and sorted.
type tenants []string

func newTenants(keys []string) tenants {
	t := make(tenants, 0, len(keys))
	for _, key := range keys {
		t = append(t, strings.ToLower(key))
	}
	slices.Sort(t)
	return t
}

// of writes the metadata of a call down: each key that has values, with them. Without any it is empty.
func (t tenants) of(ctx context.Context) string {
	if len(t) == 0 {
		return ""
	}
	var text []byte
	put := func(s string) { text = append(binary.AppendUvarint(text, uint64(len(s))), s...) }
	metadata := client.FromContext(ctx).Metadata
	for _, key := range t {
		values := metadata.Get(key)
		if len(values) == 0 {
			continue
		}
		put(key)
		text = binary.AppendUvarint(text, uint64(len(values)))
		for _, v := range values {
			put(v)
		}
	}
	return string(text)
}

// withTenant gives a context the metadata that of wrote down.
func withTenant(ctx context.Context, tenant string) context.Context {
	if tenant == "" {
		return ctx
	}
	metadata := map[string][]string{}
	text := []byte(tenant)
	number := func() int {
		n, size := binary.Uvarint(text)
		text = text[max(size, 0):]
		return int(min(n, uint64(len(text))))
	}
	word := func() string {
		n := number()
		s := string(text[:n])
		text = text[n:]
		return s
	}
	for len(text) > 0 {
		key := word()
		for range number() {
			metadata[key] = append(metadata[key], word())
		}
		if key == "" {
			break // of a damaged state
		}
	}
	return client.NewContext(ctx, client.Info{Metadata: client.NewMetadata(metadata)})
}
