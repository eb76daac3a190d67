package trainrecord

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// putExtra keeps the top-level keys that the vocabulary does not know under the body's framework key.
func (d *Decoder) putExtra(body pcommon.Map) error {
	if len(d.head.extra) == 0 {
		return nil
	}
	to := details(body)
	whole := d.scan.buf
	defer func() { d.scan.buf, d.scan.pos = whole, len(whole) }()
	for _, e := range d.head.extra {
		d.scan.buf, d.scan.pos = e.value, 0
		dst, again := to.GetOrPutEmpty(e.key)
		if again {
			d.scan.duplicateKeys++
		}
		if err := d.scan.value(&dst, 1); err != nil {
			return err
		}
	}
	return nil
}

// keep puts the original of a value that was replaced under the body's framework key, where no value of that name is.
func keep(lr plog.LogRecord, key, value string) {
	if lr.Body().Type() != pcommon.ValueTypeMap {
		return
	}
	if v, found := details(lr.Body().Map()).GetOrPutEmpty(key); !found {
		v.SetStr(value)
	}
}

// details gives the object under the body's framework key. Another value that stands there moves into it, under that name.
func details(body pcommon.Map) pcommon.Map {
	v, _ := body.GetOrPutEmpty(BodyFramework)
	if v.Type() == pcommon.ValueTypeMap {
		return v.Map()
	}
	old := pcommon.NewValueEmpty()
	v.CopyTo(old)
	m := v.SetEmptyMap()
	if old.Type() != pcommon.ValueTypeEmpty {
		old.CopyTo(m.PutEmpty(BodyFramework))
	}
	return m
}
