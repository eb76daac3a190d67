package trainjsonlreceiver

import (
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// verdict is what the pipeline's error asks for.
type verdict struct {
	retry bool
	// only holds the uids of the records to send again; nil means all.
	only map[string]struct{}
}

// judge reads an error's tree. One leaf that may pass is enough for another attempt; it is confined to a part of the batch
// only if every such leaf names its part.
func judge(err error) verdict {
	v := verdict{only: map[string]struct{}{}}
	for passing := range componentkit.Passing(err, isPart) {
		if rest, ok := partOf(passing); ok {
			v.part(rest)
		} else {
			v.whole()
		}
	}
	if !v.retry || len(v.only) == 0 {
		v.only = nil
	}
	return v
}

func isPart(err error) bool {
	_, ok := partOf(err)
	return ok
}

func partOf(err error) (plog.Logs, bool) {
	e, ok := err.(consumererror.Logs) //nolint:errorlint // only this node: the walk visits the others
	if !ok {
		return plog.Logs{}, false
	}
	return e.Data(), true
}

// whole asks for all records.
func (v *verdict) whole() {
	v.retry = true
	v.only = nil
}

// part asks for the records of rest, by their uids; one without uid stands for all.
func (v *verdict) part(rest plog.Logs) {
	first := !v.retry
	v.retry = true
	if v.only == nil && !first {
		return
	}
	if rest.LogRecordCount() == 0 {
		v.whole()
		return
	}
	for _, rl := range rest.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				uid, ok := lr.Attributes().Get(trainrecord.AttrLogRecordUID)
				if !ok {
					v.whole()
					return
				}
				v.only[uid.AsString()] = struct{}{}
			}
		}
	}
}
