package secretmaskprocessor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/processor/secretmaskprocessor/internal/metadata"
)

// planter puts texts into places; each has a number, and one of them gets the secret.
type planter struct {
	t      *rapid.T
	at     int // of the secret
	next   int
	secret string
	text   string
}

// put gives the text of a place.
func (p *planter) put() string {
	p.next++
	if p.next-1 == p.at {
		return p.text
	}
	return rapid.SampledFrom([]string{"plain", "val/loss", "num_tokens=5", "key: 3", "password_policy: none"}).Draw(p.t, "innocent")
}

// fill is fillText, and bytes.
func (p *planter) fill(m pcommon.Map) {
	p.fillText(m)
	sub, _ := m.Get("sub")
	list, _ := sub.Map().Get("list")
	list.Slice().AppendEmpty().SetEmptyBytes().FromRaw([]byte(p.put()))
}

// fillText puts places into a map: below a name, as a key, in lists and maps.
func (p *planter) fillText(m pcommon.Map) {
	m.PutStr("text", p.put())
	m.PutInt("k "+p.put(), 1)
	sub := m.PutEmptyMap("sub")
	sub.PutStr("deep", p.put())
	list := sub.PutEmptySlice("list")
	list.AppendEmpty().SetStr(p.put())
	list.AppendEmpty().SetEmptyMap().PutStr("x", p.put())
}

var forms = []func(secret string) string{
	func(s string) string { return "token=" + s },
	func(s string) string { return "login password " + s },
	func(s string) string { return "the password is " + s + "." },
	func(s string) string { return "x --api-key " + s + " --lr 1" },
	func(s string) string { return "https://u:" + s + "@h/x" },
	func(s string) string { return "https://h/x?a=1&sig=" + s },
	func(s string) string { return "https://hooks.slack.com/services/T0/B0/" + s },
	func(s string) string { return `{"hf_token": "` + s + `"}` },
	func(s string) string { return "Authorization: Bearer " + s },
	func(s string) string { return "pass_word: " + s },
	func(s string) string { return "mysql -p" + s + " db" },
	func(s string) string { return "hf_" + s + "AbCdEfGhIjKlMnOp" },
	func(s string) string { return "-----BEGIN PRIVATE KEY-----\n" + s + "\n-----END PRIVATE KEY-----" },
}

func plant(t *rapid.T, places int) *planter {
	secret := "Qx7" + rapid.StringOfN(rapid.RuneFrom([]rune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")), 6, 20, -1).Draw(t, "secret") + "9xQ"
	return &planter{t: t, secret: secret, at: rapid.IntRange(0, places-1).Draw(t, "place"), text: rapid.SampledFrom(forms).Draw(t, "form")(secret)}
}

// check says that the secret is nowhere, and that nothing else was touched.
func (p *planter) check(t *rapid.T, places int, out []byte, err error) {
	require.NoError(t, err)
	require.Equal(t, places, p.next, "the number of places")
	if strings.Contains(string(out), p.secret) {
		t.Fatalf("%q of %q in place %d is still in\n%s", p.secret, p.text, p.at, out)
	}
	if n := strings.Count(string(out), "***"); n != 1 {
		t.Fatalf("%d masks for one secret: %q in place %d\n%s", n, p.text, p.at, out)
	}
}

const (
	inMap   = 6
	inScope = 3 + inMap - 1
)

// fillScope puts places into a scope and its schema.
func (p *planter) fillScope(s pcommon.InstrumentationScope, schema func(string)) {
	s.SetName(p.put())
	s.SetVersion(p.put())
	p.fillText(s.Attributes())
	schema(p.put())
}

func TestASecretLeavesInNoPlaceOfALogRecord(t *testing.T) {
	t.Parallel()
	set := processortest.NewNopSettings(metadata.Type)
	rapid.Check(t, func(rt *rapid.T) {
		const places = 3*inMap + inScope + 4
		p := plant(rt, places)
		ld := plog.NewLogs()
		rl := ld.ResourceLogs().AppendEmpty()
		p.fill(rl.Resource().Attributes())
		rl.SetSchemaUrl(p.put())
		sl := rl.ScopeLogs().AppendEmpty()
		p.fillScope(sl.Scope(), sl.SetSchemaUrl)
		lr := sl.LogRecords().AppendEmpty()
		p.fill(lr.Attributes())
		p.fill(lr.Body().SetEmptyMap())
		lr.SetEventName(p.put())
		lr.SetSeverityText(p.put())
		sl.LogRecords().AppendEmpty().Body().SetStr(p.put())
		sink := &consumertest.LogsSink{}
		c, err := createLogs(t.Context(), set, createDefaultConfig(), sink)
		require.NoError(rt, err)
		require.NoError(rt, c.ConsumeLogs(t.Context(), ld))
		out, err := (&plog.JSONMarshaler{}).MarshalLogs(textBytes(sink.AllLogs()[0]))
		p.check(rt, places, out, err)
	})
}

// textBytes shows bytes as text.
func textBytes(ld plog.Logs) plog.Logs {
	for _, rl := range ld.ResourceLogs().All() {
		show(rl.Resource().Attributes())
		for _, lr := range rl.ScopeLogs().At(0).LogRecords().All() {
			show(lr.Attributes())
			if lr.Body().Type() == pcommon.ValueTypeMap {
				show(lr.Body().Map())
			}
		}
	}
	return ld
}

func show(m pcommon.Map) {
	for _, v := range m.All() {
		if v.Type() != pcommon.ValueTypeMap {
			continue
		}
		if list, ok := v.Map().Get("list"); ok && list.Type() == pcommon.ValueTypeSlice {
			last := list.Slice().At(2)
			last.SetStr(string(last.Bytes().AsRaw()))
		}
	}
}

func TestASecretLeavesInNoPlaceOfASpan(t *testing.T) {
	t.Parallel()
	set := processortest.NewNopSettings(metadata.Type)
	rapid.Check(t, func(rt *rapid.T) {
		const places = 4*(inMap-1) + inScope + 6
		p := plant(rt, places)
		td := ptrace.NewTraces()
		rs := td.ResourceSpans().AppendEmpty()
		p.fillText(rs.Resource().Attributes())
		rs.SetSchemaUrl(p.put())
		ss := rs.ScopeSpans().AppendEmpty()
		p.fillScope(ss.Scope(), ss.SetSchemaUrl)
		span := ss.Spans().AppendEmpty()
		span.SetName(p.put())
		span.Status().SetMessage(p.put())
		span.TraceState().FromRaw(p.put())
		p.fillText(span.Attributes())
		event := span.Events().AppendEmpty()
		event.SetName(p.put())
		p.fillText(event.Attributes())
		link := span.Links().AppendEmpty()
		link.TraceState().FromRaw(p.put())
		p.fillText(link.Attributes())
		sink := &consumertest.TracesSink{}
		c, err := createTraces(t.Context(), set, createDefaultConfig(), sink)
		require.NoError(rt, err)
		require.NoError(rt, c.ConsumeTraces(t.Context(), td))
		out, err := (&ptrace.JSONMarshaler{}).MarshalTraces(sink.AllTraces()[0])
		p.check(rt, places, out, err)
	})
}

func TestASecretLeavesInNoPlaceOfAMetric(t *testing.T) {
	t.Parallel()
	set := processortest.NewNopSettings(metadata.Type)
	rapid.Check(t, func(rt *rapid.T) {
		const places = 10*(inMap-1) + inScope + 4
		p := plant(rt, places)
		md := pmetric.NewMetrics()
		rm := md.ResourceMetrics().AppendEmpty()
		p.fillText(rm.Resource().Attributes())
		rm.SetSchemaUrl(p.put())
		sm := rm.ScopeMetrics().AppendEmpty()
		p.fillScope(sm.Scope(), sm.SetSchemaUrl)
		m := sm.Metrics().AppendEmpty()
		m.SetName(p.put())
		m.SetDescription(p.put())
		m.SetUnit(p.put())
		p.fillText(m.Metadata())
		point := m.SetEmptyGauge().DataPoints().AppendEmpty()
		p.fillText(point.Attributes())
		p.fillText(point.Exemplars().AppendEmpty().FilteredAttributes())
		p.fillText(sm.Metrics().AppendEmpty().SetEmptySum().DataPoints().AppendEmpty().Attributes())
		buckets := sm.Metrics().AppendEmpty().SetEmptyHistogram().DataPoints().AppendEmpty()
		p.fillText(buckets.Attributes())
		p.fillText(buckets.Exemplars().AppendEmpty().FilteredAttributes())
		powers := sm.Metrics().AppendEmpty().SetEmptyExponentialHistogram().DataPoints().AppendEmpty()
		p.fillText(powers.Attributes())
		p.fillText(powers.Exemplars().AppendEmpty().FilteredAttributes())
		p.fillText(sm.Metrics().AppendEmpty().SetEmptySummary().DataPoints().AppendEmpty().Attributes())
		sink := &consumertest.MetricsSink{}
		c, err := createMetrics(t.Context(), set, createDefaultConfig(), sink)
		require.NoError(rt, err)
		require.NoError(rt, c.ConsumeMetrics(t.Context(), md))
		out, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(sink.AllMetrics()[0])
		p.check(rt, places, out, err)
	})
}

func TestWhatIsOmitted(t *testing.T) {
	t.Parallel()
	omit := createDefaultConfig().(*Config).omits()
	for _, key := range []string{
		"params", "Params", "params.lr", "hparams", "process.command_line", "process.command_args", "process.command", "process.environment_variable.HOME",
		"exception.stacktrace", "code.stacktrace", "framework.params", "env", "cmdline", "exc_info", "args.hub",
	} {
		assert.True(t, omit(key), key)
	}
	for _, key := range []string{
		"deployment.environment", "deployment.environment.name", "exception.type", "exception.message", "process.pid", "process.executable.name", "service.name",
		"message", "learning_rate", "parameters", "argument", "",
	} {
		assert.False(t, omit(key), key)
	}
	assert.Nil(t, (&Config{}).omits())
}

func TestValidateNamesEveryMistake(t *testing.T) {
	t.Parallel()
	require.NoError(t, confmap.Validate(createDefaultConfig()))
	err := (&Config{Omit: []string{"a", "", "a", "b.c"}}).Validate()
	for _, want := range []string{"omit[1]: want a name", "omit[2]: a is listed twice", `omit[3]: want a name without points, such as params, got "b.c"`} {
		assert.ErrorContains(t, err, want)
	}
}
