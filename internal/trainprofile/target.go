package trainprofile

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// valueKind is what a target holds.
type valueKind int

const (
	kindAny valueKind = iota
	kindString
	kindInt
	kindEpoch // an int that needs a base
	kindNumber
	kindProgress // a number of epochs, finite and not below zero
	kindDuration // seconds
	kindBool
	kindObject
	kindArray
)

// target is a place in a record: a key of the body, or a key inside one of its objects.
type target struct {
	spelling     string // "durations.phase_s"
	name, inner  string // "durations", "phase_s"
	kind         valueKind
	minimum      int64
	maximum      int64    // 0: none
	allowed      []string // nil: anything
	headerSetter func(h *trainrecord.Header, v scalar)
}

// openObjects are the objects of the body whose keys are free, and what their values are.
var openObjects = map[string]valueKind{
	trainrecord.BodyMeasurements: kindNumber,
	trainrecord.BodyLearningRate: kindNumber,
	trainrecord.BodyParams:       kindAny,
	trainrecord.BodyVersions:     kindAny,
}

// bodyTarget finds a key of the body, "name" or "object.key", in the registry.
func bodyTarget(spelling, event string) (target, error) {
	name, inner, nested := strings.Cut(spelling, ".")
	n, ok := bodyName(name)
	if !ok {
		return target{}, fmt.Errorf("the body has no key %q; known are %s", name, strings.Join(bodyNames(), ", "))
	}
	t := target{spelling: spelling, name: name, inner: inner, minimum: math.MinInt64}
	if !carries(n, event) {
		return t, errNotCarried{event: event, key: name, events: n.Events}
	}
	if !nested {
		t.describe(n.Name, n.Type, n)
		if t.name == trainrecord.BodyMeasurements || t.name == trainrecord.BodyLearningRate || t.name == trainrecord.BodyDurations {
			return t, fmt.Errorf("%s is an object: name the key, %s.<name>, or use spread", name, name)
		}
		return t, nil
	}
	if n.Type != "object" || inner == "" {
		return t, fmt.Errorf("%q is no object with keys", name)
	}
	return t, t.describeInner(n)
}

// describeInner finds the type of a key of an object: the registry's, or that of the body key of the same name.
func (t *target) describeInner(n trainrecord.Name) error {
	if kind, open := openObjects[n.Name]; open {
		t.kind = kind
		return nil
	}
	if known, ok := trainrecord.Load().Inner(n, t.inner); ok {
		t.describe(known.Name, known.Type, known)
		if n.Name == trainrecord.BodyDurations {
			t.kind = kindDuration
		}
		return nil
	}
	if same, ok := bodyName(t.inner); ok && len(n.Keys) == 0 {
		t.describe(same.Name, same.Type, same)
		return nil
	}
	return fmt.Errorf("%s has no key %q", n.Name, t.inner)
}

func (t *target) describe(key, typ string, n trainrecord.Name) {
	t.kind = map[string]valueKind{
		"string": kindString, "int": kindInt, "number": kindNumber, "bool": kindBool, "object": kindObject, "array": kindArray,
	}[typ]
	if n.Minimum != nil {
		t.minimum = *n.Minimum
	}
	if n.Maximum != nil {
		t.maximum = *n.Maximum
	}
	if n.Values != "" {
		t.allowed = trainrecord.Load().Values[n.Values]
	}
	if key == trainrecord.BodyEpoch && t.kind == kindInt {
		t.kind = kindEpoch
	}
	if key == trainrecord.BodyEpochProgress {
		t.kind = kindProgress
	}
}

func bodyName(name string) (trainrecord.Name, bool) {
	for _, n := range trainrecord.Load().Names {
		if n.Kind == trainrecord.KindBody && n.Name == name {
			return n, true
		}
	}
	return trainrecord.Name{}, false
}

func bodyNames() []string {
	var names []string
	for _, n := range trainrecord.Load().Names {
		if n.Kind == trainrecord.KindBody {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	return names
}

// carries tells whether an event's body has the key. Heartbeat and log bodies hold anything.
func carries(n trainrecord.Name, event string) bool {
	return event == trainrecord.EventHeartbeat || event == trainrecord.EventLog || slices.Contains(n.Events, event)
}

// errNotCarried says that an event's body has no such key: a mistake in a rule, a reason to skip it in the common part.
type errNotCarried struct {
	event, key string
	events     []string
}

func (e errNotCarried) Error() string {
	return fmt.Sprintf("the event %s does not carry %s; the events that do are %s", e.event, e.key, strings.Join(e.events, ", "))
}

// headerTargets are what a rule may set beside the body.
var headerTargets = map[string]target{
	trainrecord.KeyRunID:    {kind: kindString, headerSetter: func(h *trainrecord.Header, v scalar) { h.RunID = v.s }},
	trainrecord.KeyPart:     {kind: kindString, headerSetter: func(h *trainrecord.Header, v scalar) { h.Part = v.s }},
	trainrecord.KeyPhase:    {kind: kindString, headerSetter: func(h *trainrecord.Header, v scalar) { h.Phase = v.s }},
	trainrecord.KeySeverity: {kind: kindString, headerSetter: func(h *trainrecord.Header, v scalar) { h.Severity = v.s }},
	trainrecord.KeyTraceID:  {kind: kindString, headerSetter: func(h *trainrecord.Header, v scalar) { setTraceID(h, v.s) }},
	trainrecord.KeySpanID:   {kind: kindString, headerSetter: func(h *trainrecord.Header, v scalar) { setSpanID(h, v.s) }},
	trainrecord.KeyAttempt:  {kind: kindInt, minimum: 1, headerSetter: func(h *trainrecord.Header, v scalar) { h.Attempt = v.i }},
	trainrecord.KeyRank:     {kind: kindInt, minimum: 0, headerSetter: func(h *trainrecord.Header, v scalar) { h.Rank = v.i }},
	trainrecord.KeySeq:      {kind: kindInt, minimum: 1, headerSetter: func(h *trainrecord.Header, v scalar) { h.Seq = v.i }},
}

func headerTarget(key string) (target, error) {
	t, ok := headerTargets[key]
	if !ok {
		return t, fmt.Errorf("the header has no key %q; known are %s", key, strings.Join(headerKeys(), ", "))
	}
	t.spelling, t.name = key, key
	return t, nil
}

func headerKeys() []string {
	var keys []string
	for k := range headerTargets {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
