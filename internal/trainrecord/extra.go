package trainrecord

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// putExtra keeps the top-level keys that the vocabulary does not know under the body's framework key.
func (d *Decoder) putExtra(event eventKind, body pcommon.Map, l *Line) error {
	if len(d.head.extra) == 0 {
		return nil
	}
	d.misplaced(event, body, l)
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

// misplaced counts the keys of the body that stand beside it: there they have no meaning.
func (d *Decoder) misplaced(event eventKind, body pcommon.Map, l *Line) {
	for _, e := range d.head.extra {
		if ruleOf(event, e.key) == nil {
			continue
		}
		if _, told := body.Get(e.key); !told {
			l.drop(e.key + ": want it in " + KeyBody)
		}
	}
}

// keep puts the original of a value that was replaced under the body's framework key.
func keep(lr plog.LogRecord, key, value string) {
	if lr.Body().Type() != pcommon.ValueTypeMap {
		return
	}
	putFree(details(lr.Body().Map()), key, pcommon.NewValueStr(value))
}

// putFree puts a value under a name. Where another stands there already, the name goes on with as many _ as make it free.
func putFree(to pcommon.Map, name string, v pcommon.Value) {
	for {
		at, taken := to.GetOrPutEmpty(name)
		if !taken {
			v.MoveTo(at)
			return
		}
		if at.Equal(v) {
			return
		}
		name += "_"
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
