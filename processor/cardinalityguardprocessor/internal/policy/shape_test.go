package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

const everyShape = shapeSet(1<<shapes - 2)

func TestShapesOfValues(t *testing.T) {
	t.Parallel()
	for shape, values := range map[Shape][]string{
		shapeUUID: {
			"8b2281de-6d3c-42ed-8ec8-d3b864870b8b", "8B2281DE-6D3C-42ED-8EC8-D3B864870B8B", "{8b2281de-6d3c-42ed-8ec8-d3b864870b8b}",
			"urn:uuid:8b2281de-6d3c-42ed-8ec8-d3b864870b8b", "00000000-0000-0000-0000-000000000000",
		},
		shapeULID:   {"01ARZ3NDEKTSV4RRFFQ69G5FAV", "01arz3ndektsv4rrffq69g5fav"},
		shapeHex16:  {"00f067aa0ba902b7", "00F067AA0BA902B7"},
		shapeHex32:  {"4bf92f3577b30da6a3ce929d0e0e4736", strings.Repeat("0", 32)},
		shapeSHA1:   {strings.Repeat("a1", 20), "sha1:" + strings.Repeat("a1", 20)},
		shapeSHA256: {strings.Repeat("a1", 32), "sha256:" + strings.Repeat("a1", 32)},
		shapePath: {
			"/srv/runs/1", "/a", "./x", "../x", "~/x", `C:\runs\1`, "C:/runs", `\\server\share`, "runs/exp/best.pt", "ckpt/last.safetensors", `runs\best.pt`,
			"/srv/a b", "/" + strings.Repeat("x", 10_000),
		},
		shapeURL:     {"https://a.b/c", "s3://bucket/key", "gs://b", "file:///srv/x", "git+ssh://x@y"},
		shapeRFC3339: {"2026-11-29T18:22:51Z", "2026-11-29T18:22:51.123456+01:00", "2026-11-29 18:22:51", "2026-11-29T18:22Z", "2026-11-29t18:22:51z", "2026-11-29T18:22:51-0800", "2026-11-29 18:22:51.5 UTC"},
		shapeSeconds: {"1800000000", "1000000000", "1800000000.25"},
		shapeMillis:  {"1800000000123"},
	} {
		for _, v := range values {
			assert.Equal(t, shape.String(), name(everyShape.find(v)), v)
			assert.True(t, likelyOf(1<<shape).some(v), v)
			assert.Equal(t, noShape, (everyShape &^ (1<<shape | 1<<shapePath)).find(v), "%s without its shape", v)
		}
	}
}

func name(s Shape) string {
	if s == noShape {
		return ""
	}
	return s.String()
}

func TestWhatHasNoShape(t *testing.T) {
	t.Parallel()
	for _, v := range []string{
		"", "a", "/", "//", "train", "pytorch", "GPU-8b2281de-6d3c-42ed-8ec8-d3b864870b8b", "8b2281de-6d3c-42ed-8ec8-d3b864870b8", "x8b2281de-6d3c-42ed-8ec8-d3b864870b8b",
		"8b2281de-6d3c-42ed-8ec8-d3b864870b8g", "8b2281de_6d3c_42ed_8ec8_d3b864870b8b", "81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAU", "abcdefghjkmnpqrstvwxyzabcd",
		"00f067aa0ba902b", "00f067aa0ba902b7 ", "deadbeef", "google/gemma-2b", "meta-llama/Llama-3.1-8B", "google/gemma-2.5b", "application/json", "application/vnd.api", "text/html",
		"GET /x", "127.0.0.1:9400", "localhost:8080", "://x", "http://a b", "2026-11-29", "18:22:51", "2026-11-29T18:22:51Zx", "999999999", "18000000000", "180000000012",
		"1800000000.", "5000000000", "9223372036854775807", "v1.2.3", "a/b", "a/b/c", "C:", "00000000:17:00.0", "1e9", "+1800000000",
		strings.Repeat("a1", 33), strings.Repeat("x", 100_000),
	} {
		assert.Empty(t, name(everyShape.find(v)), v[:min(len(v), 60)])
	}
}

func TestAnyTextHasAtMostOneShapeAndOnlyOneThatIsAsked(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(
			rapid.String(), rapid.StringMatching(`[0-9a-f]{15,17}|[0-9a-f-]{36}|[0-9]{9,14}|[0-9A-Z]{26}|/?[a-z/.]{1,12}|[0-9TZ:.+ -]{16,30}`),
		).Draw(t, "value")
		set := shapeSet(rapid.Uint16().Draw(t, "set")) & everyShape
		s := set.find(v)
		if s != noShape && !set.has(s) {
			t.Fatalf("%q is %s, which nobody asked for", v, s)
		}
		if s != noShape && !likelyOf(set).some(v) {
			t.Fatalf("%q is %s, which is not likely", v, s)
		}
		if s != noShape && shapeSet(1<<s).find(v) != s {
			t.Fatalf("%q is %s only beside others", v, s)
		}
	})
}

func BenchmarkShapes(b *testing.B) {
	values := []string{"train", "pytorch", "8b2281de-6d3c-42ed-8ec8-d3b864870b8b", "/srv/runs/1/best.pt", "value-123456", "us-east-1", "1800000000"}
	b.ReportAllocs()
	for b.Loop() {
		for _, v := range values {
			everyShape.find(v)
		}
	}
}

func TestAUUIDMayLackItsHyphens(t *testing.T) {
	t.Parallel()
	const v = "8b2281de6d3c42ed8ec8d3b864870b8b"
	assert.Equal(t, shapeUUID, shapeSet(1<<shapeUUID).find(v))
	assert.Equal(t, noShape, shapeSet(1<<shapeUUID).find("8b2281de6d3c02ed8ec8d3b864870b8b"), "no version")
	assert.Equal(t, shapeHex32, everyShape.find(v))
}

// TestAValueInsideALongerTextIsNotLookedAt holds what the README says: a value is judged as a whole.
func TestAValueInsideALongerTextIsNotLookedAt(t *testing.T) {
	t.Parallel()
	const id = "8b2281de-6d3c-42ed-8ec8-d3b864870b8b"
	assert.Equal(t, shapeUUID, everyShape.find(id))
	for _, text := range []string{`{"run_id":"` + id + `"}`, "a,b," + id, "run_id=" + id, "[" + id + "]", id + " " + id, `{"step":12}`} {
		assert.Equal(t, noShape, everyShape.find(text), text)
	}
}
