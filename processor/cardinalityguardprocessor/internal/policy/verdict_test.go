package policy

import "go.opentelemetry.io/collector/pdata/pcommon"

func text(s string) pcommon.Value { return pcommon.NewValueStr(s) }
