package trainingnormprocessor

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

var namespaceForm = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`)

func (c *Config) namespace() string { return cmp.Or(c.Namespace, trainrecord.Namespace) }

func (c *Config) validateNamespaces() error {
	var errs []error
	first := c.namespace()
	if !namespaceForm.MatchString(first) {
		errs = append(errs, fmt.Errorf("namespace: want words joined by points, such as %s, got %q", trainrecord.Namespace, first))
	}
	for i, also := range c.AlsoNamespaces {
		switch {
		case !namespaceForm.MatchString(also):
			errs = append(errs, fmt.Errorf("also_namespaces[%d]: want words joined by points, such as %s, got %q", i, trainrecord.Namespace, also))
		case also == first || slices.Contains(c.AlsoNamespaces[:i], also):
			errs = append(errs, fmt.Errorf("also_namespaces[%d]: %s is named twice", i, also))
		}
	}
	return errors.Join(errs...)
}

// namer spells the vocabulary with other namespaces. A nil one leaves everything as it is. Everything between read and write
// has the names of the registry.
type namer struct {
	namespace string
	also      []string
	own       map[string]string   // a key in the namespace: the registry's
	spelled   map[string][]string // the registry's key: how it is written, in the order of the namespaces
}

func newNamer(cfg *Config) *namer {
	if cfg.namespace() == trainrecord.Namespace && len(cfg.AlsoNamespaces) == 0 {
		return nil
	}
	n := &namer{namespace: cfg.namespace(), also: cfg.AlsoNamespaces, own: map[string]string{}, spelled: map[string][]string{}}
	for _, name := range trainrecord.Load().Names {
		key := trainrecord.Namespace + "." + name.Name
		if name.Kind != trainrecord.KindAttribute || key == trainrecord.AttrEventName {
			continue
		}
		n.own[n.namespace+"."+name.Name] = key
		for _, namespace := range append([]string{n.namespace}, n.also...) {
			n.spelled[key] = append(n.spelled[key], namespace+"."+name.Name)
		}
	}
	return n
}

// read gives attributes the registry's keys: a batch that was refused behind write comes again with those of the namespace.
func (n *namer) read(attrs pcommon.Map) {
	if n == nil || n.namespace == trainrecord.Namespace {
		return
	}
	n.rename(attrs, func(key string) []string {
		if own, ok := n.own[key]; ok {
			return []string{own}
		}
		return nil
	})
}

// write gives attributes the keys of the namespaces.
func (n *namer) write(attrs pcommon.Map) {
	if n != nil {
		n.rename(attrs, func(key string) []string { return n.spelled[key] })
	}
}

// rename puts each value under its new keys; what stood there gives way.
func (*namer) rename(attrs pcommon.Map, to func(key string) []string) {
	type renamed struct {
		keys  []string
		value pcommon.Value
	}
	var all []renamed
	attrs.RemoveIf(func(key string, v pcommon.Value) bool {
		keys := to(key)
		if keys == nil {
			return false
		}
		value := pcommon.NewValueEmpty()
		v.MoveTo(value)
		all = append(all, renamed{keys, value})
		return true
	})
	for _, r := range all {
		for _, key := range r.keys {
			r.value.CopyTo(attrs.PutEmpty(key))
		}
	}
}

// readEvent gives a record of the namespace the registry's event name.
func (n *namer) readEvent(lr plog.LogRecord) {
	if n == nil || n.namespace == trainrecord.Namespace {
		return
	}
	if event, ok := strings.CutPrefix(lr.EventName(), n.namespace+"."); ok && trainrecord.IsEvent(event) {
		lr.SetEventName(trainrecord.Namespace + "." + event)
	}
}

// writeEvent names a record's event: in the namespace by the event name, of which there is one, in the others by an attribute.
func (n *namer) writeEvent(lr plog.LogRecord) {
	event, ok := strings.CutPrefix(lr.EventName(), trainrecord.Namespace+".")
	if n == nil || !ok || !trainrecord.IsEvent(event) {
		return
	}
	lr.SetEventName(n.namespace + "." + event)
	for _, also := range n.also {
		lr.Attributes().PutStr(also+strings.TrimPrefix(trainrecord.AttrEventName, trainrecord.Namespace), also+"."+event)
	}
}

// scoped is a resource or scope with the items below it, in any signal.
type scoped interface {
	SchemaUrl() string
	SetSchemaUrl(v string)
}

// writeScope names the vocabulary as a scope, and takes its schema's address off what has other names now.
func (n *namer) writeScope(s scoped, scope pcommon.InstrumentationScope) {
	if n == nil {
		return
	}
	n.writeSchema(s)
	n.write(scope.Attributes())
	if scope.Name() == trainrecord.ScopeName {
		scope.SetName(n.namespace)
	}
}

func (n *namer) writeSchema(s scoped) {
	if n != nil && n.namespace != trainrecord.Namespace && s.SchemaUrl() == trainrecord.SchemaURL {
		s.SetSchemaUrl("")
	}
}

// readScope is the opposite of writeScope, as far as what follows looks at it.
func (n *namer) readScope(scope pcommon.InstrumentationScope) {
	if n != nil && scope.Name() == n.namespace {
		scope.SetName(trainrecord.ScopeName)
	}
	n.read(scope.Attributes())
}

// readLogs and writeLogs are read and write for a batch.
func (n *namer) readLogs(ld plog.Logs) {
	if n == nil {
		return
	}
	for _, rl := range ld.ResourceLogs().All() {
		n.read(rl.Resource().Attributes())
		for _, sl := range rl.ScopeLogs().All() {
			n.readScope(sl.Scope())
			for _, lr := range sl.LogRecords().All() {
				n.read(lr.Attributes())
				n.readEvent(lr)
			}
		}
	}
}

func (n *namer) writeLogs(ld plog.Logs) {
	if n == nil {
		return
	}
	for _, rl := range ld.ResourceLogs().All() {
		n.write(rl.Resource().Attributes())
		n.writeSchema(rl)
		for _, sl := range rl.ScopeLogs().All() {
			n.writeScope(sl, sl.Scope())
			for _, lr := range sl.LogRecords().All() {
				n.write(lr.Attributes())
				n.writeEvent(lr)
			}
		}
	}
}
