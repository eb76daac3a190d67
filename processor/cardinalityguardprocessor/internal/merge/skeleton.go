package merge

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// skeleton is a metric with a point for the attributes of each output.
func (m *metric) skeleton(outputs []*output) pmetric.Metrics {
	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	sm := rm.ScopeMetrics().AppendEmpty()
	made := sm.Metrics().AppendEmpty()
	m.resource.CopyTo(rm.Resource())
	rm.SetSchemaUrl(m.resourceSchema)
	m.scope.CopyTo(sm.Scope())
	sm.SetSchemaUrl(m.scopeSchema)
	m.empty.CopyTo(made)
	attributes := made.Metadata().PutEmptySlice(skeletonKey)
	for _, o := range outputs {
		o.attributes.CopyTo(attributes.AppendEmpty().SetEmptyMap())
	}
	made.Metadata().PutInt(skeletonKey+".kind", int64(m.kind))
	if m.tenant != "" {
		made.Metadata().PutEmptyBytes(skeletonKey + ".tenant").FromRaw([]byte(m.tenant))
	}
	return md
}

const skeletonKey = "\x00outputs"

func (m *metric) fromSkeleton(text []byte) ([]pcommon.Map, error) {
	md, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(text)
	if err != nil || md.ResourceMetrics().Len() != 1 || md.ResourceMetrics().At(0).ScopeMetrics().Len() != 1 ||
		md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().Len() != 1 {
		return nil, errDamaged
	}
	rm := md.ResourceMetrics().At(0)
	sm := rm.ScopeMetrics().At(0)
	made := sm.Metrics().At(0)
	kind, known := made.Metadata().Get(skeletonKey + ".kind")
	list, there := made.Metadata().Get(skeletonKey)
	if !known || !there || list.Type() != pcommon.ValueTypeSlice || kind.Type() != pcommon.ValueTypeInt || kind.Int() < 0 || kind.Int() >= int64(Kinds) {
		return nil, errDamaged
	}
	var attributes []pcommon.Map
	for _, v := range list.Slice().All() {
		if v.Type() != pcommon.ValueTypeMap {
			return nil, errDamaged
		}
		own := pcommon.NewMap()
		v.Map().CopyTo(own)
		attributes = append(attributes, own)
	}
	m.kind, m.name = Kind(kind.Int()), made.Name()
	if tenant, some := made.Metadata().Get(skeletonKey + ".tenant"); some && tenant.Type() == pcommon.ValueTypeBytes {
		m.tenant = string(tenant.Bytes().AsRaw())
	}
	made.Metadata().Remove(skeletonKey)
	made.Metadata().Remove(skeletonKey + ".tenant")
	made.Metadata().Remove(skeletonKey + ".kind")
	m.resource, m.scope, m.empty = pcommon.NewResource(), pcommon.NewInstrumentationScope(), pmetric.NewMetric()
	rm.Resource().CopyTo(m.resource)
	sm.Scope().CopyTo(m.scope)
	made.CopyTo(m.empty)
	m.resourceSchema, m.scopeSchema = rm.SchemaUrl(), sm.SchemaUrl()
	if !m.described || KindOf(m.empty) != m.kind { // a metric is described before it has an output
		return nil, errDamaged
	}
	return attributes, nil
}
