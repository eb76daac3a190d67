package trainjsonlreceiver

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"
)

// Reasons why a file could not be read.
const (
	readPermission = "permission"
	readStale      = "stale"
	readMissing    = "missing"
	readIO         = "io"
	readHung       = "hung"
)

// discoverySlow is the reason of a search that takes long.
const discoverySlow = "slow"

// Reasons why a path that matches is not read.
const (
	skipNotRegular = "not_regular"
	skipLinkLoop   = "link_loop"
)

func readReason(err error) string {
	switch {
	case isDenied(err):
		return readPermission
	case errors.Is(err, syscall.ESTALE):
		return readStale
	case errors.Is(err, errHung):
		return readHung
	case errors.Is(err, fs.ErrNotExist):
		return readMissing
	default:
		return readIO
	}
}

func isDenied(err error) bool { return errors.Is(err, fs.ErrPermission) }

// discoveryError counts and logs a place that cannot be looked at. It is looked at again.
func (t *tailer) discoveryError(ctx context.Context, path string, err error) {
	if isDenied(err) {
		t.denied.Store(true)
	}
	t.cannotLook(ctx, path, err)
}

// cannotLook is the part of discoveryError for any goroutine.
func (t *tailer) cannotLook(ctx context.Context, path string, err error) {
	if ctx.Err() != nil {
		return
	}
	t.tel.DiscoveryErrors.Add(ctx, 1, t.tel.Reason(readReason(err)))
	t.warn("discover", "Cannot look for files, it is tried again; check include and that the folders exist and may be read",
		zap.String("path", path), zap.Error(err))
}

// reportStatus tells the collector when permissions are missing for all there is, and when that is over.
func (t *tailer) reportStatus() {
	readable, denied := false, t.denied.Load()
	for _, s := range t.list() {
		s.mu.Lock()
		if !s.gone {
			readable = readable || !s.denied
			denied = denied || s.denied
		}
		s.mu.Unlock()
	}
	unhealthy := denied && !readable
	if unhealthy == t.unhealthy {
		return
	}
	t.unhealthy = unhealthy
	if unhealthy {
		t.status(componentstatus.NewRecoverableErrorEvent(errors.New("no file may be read: give the collector's user permission")))
		return
	}
	t.status(componentstatus.NewEvent(componentstatus.StatusOK))
}

// warn logs a message, once a minute a key.
func (t *tailer) warn(key, message string, fields ...zap.Field) {
	if t.seldom.Allow(key) {
		t.logger.Warn(message, fields...)
	}
}

// count adds an accepted batch to the self-metrics and logs what was no record.
func (t *tailer) count(ctx context.Context, src source, b *batch) {
	t.tel.AddRecords(ctx, b.records, b.objects)
	t.tel.AddFlaws(ctx, b.odd.badUTF8, b.odd.duplicateKeys, b.odd.arraysCut, b.odd.fieldsDropped, b.odd.offList, b.odd.clock)
	for _, bad := range b.bad {
		t.tel.BadLines.Add(ctx, 1, t.tel.Reason(string(bad.reason)))
	}
	if b.byFolder {
		t.meetTwins(src)
		t.meetLoose(src)
	}
	if b.flawed.key != "" {
		if total, due := t.seldom.Note("flaw:"+src.path, int64(b.odd.fieldsDropped+b.odd.offList)); due {
			t.logger.Warn("Left out or replaced a value without meaning of a record",
				zap.String("file", src.path), zap.Int64("offset", b.flawed.offset), zap.String("key", b.flawed.key), zap.Int64("since_last", total))
		}
	}
	if b.odd.clock > 0 {
		if total, due := t.seldom.Note("clock:"+src.path, int64(b.odd.clock)); due {
			t.logger.Warn("The time of a record is more than a day off that of its file, check the trainer's clock and timezone",
				zap.String("file", src.path), zap.Int64("offset", b.clock.offset), zap.Int64("since_last", total))
		}
	}
	if len(b.bad) == 0 {
		return
	}
	first := b.bad[0]
	if total, due := t.seldom.Note("line:"+src.path, int64(len(b.bad))); due {
		t.logger.Warn("Passed on a line that is no record as a log event",
			zap.String("file", src.path), zap.Int64("offset", first.offset), zap.String("reason", string(first.reason)),
			zap.Int64("since_last", total), zap.Error(first.err))
	}
}

// tellHang counts and logs a file that does not answer.
func (t *tailer) tellHang(ctx context.Context, path string) {
	if ctx.Err() != nil {
		return
	}
	t.tel.ReadErrors.Add(ctx, 1, t.tel.Reason(readHung))
	t.warn("hang", "A file system does not answer, the other files go on; check the mount",
		zap.String("file", path), zap.Int("calls", t.hangs.count()))
}
