package componentkit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// file_storage reads its file in a goroutine of its own when it opens it: one that was cut or overwritten ends the process there, at each
// start anew, whatever its key recreate says. So the file is looked at before.

// heal looks at the file of a client, whose name it gives, before file_storage does. A damaged one is put aside where recreate is set, and
// otherwise an error.
func heal(st storage.Extension, name string) (file, aside string, err error) {
	dir, recreate := fileStorage(st)
	if dir == "" {
		return name, "", nil
	}
	return mend(dir, name, recreate)
}

// mend is heal for the name that the client's file has in a folder, unless it is too long.
func mend(dir, name string, recreate bool) (file, aside string, err error) {
	file = fitting(dir, name, "")
	path := filepath.Join(dir, file)
	err = trial(path)
	if err == nil || !recreate {
		return file, "", err
	}
	aside = filepath.Join(dir, fitting(dir, file, "."+time.Now().UTC().Format("20060102T150405.000Z")+".backup"))
	if err := os.Rename(path, aside); err != nil {
		return file, "", fmt.Errorf("%w: %w", ErrStorageDamaged, err)
	}
	return file, aside, nil
}

// fitting gives a name and its end, and instead of a name that is too long for the file system its hash, as file_storage does.
func fitting(dir, name, end string) string {
	if _, err := os.Lstat(filepath.Join(dir, name+end)); errors.Is(err, syscall.ENAMETOOLONG) {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:])
	}
	return name + end
}

// fileStorage gives the folder of a file_storage and whether it may begin anew, "" for another storage. The extension tells neither.
func fileStorage(st storage.Extension) (dir string, recreate bool) {
	v := reflect.Indirect(reflect.ValueOf(st))
	if v.Kind() != reflect.Struct || !strings.HasSuffix(v.Type().PkgPath(), "/storage/filestorage") {
		return "", false
	}
	cfg := reflect.Indirect(v.FieldByName("cfg"))
	if cfg.Kind() != reflect.Struct {
		return "", false
	}
	if f := cfg.FieldByName("Directory"); f.Kind() == reflect.String {
		dir = f.String()
	}
	if f := cfg.FieldByName("Recreate"); f.Kind() == reflect.Bool {
		recreate = f.Bool()
	}
	return dir, recreate
}

// trial reads all pages of a file that file_storage will read. What cannot be told (no file, another process has it) is no damage.
func trial(path string) (err error) {
	info, statErr := os.Stat(path)
	if statErr != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("%w: %v", ErrStorageDamaged, why)
		}
	}()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		if isDamage(err) {
			return fmt.Errorf("%w: %w", ErrStorageDamaged, err)
		}
		return nil
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.View(func(tx *bbolt.Tx) error {
		if tx.Size() > info.Size() {
			return fmt.Errorf("%w: %d bytes of %d", ErrStorageDamaged, info.Size(), tx.Size())
		}
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			return b.ForEach(func([]byte, []byte) error { return nil })
		})
	})
}

func isDamage(err error) bool {
	text := err.Error()
	for _, part := range []string{"invalid database", "file size too small", "checksum error", "version mismatch"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// clientFile is the name that file_storage gives to the file of a client: an id may hold what a name of a file may not.
func clientFile(kind component.Kind, id component.ID, name string) string {
	file := strings.ToLower(kind.String()) + "_" + id.Type().String() + "_" + id.Name()
	if name != "" {
		file += "_" + name
	}
	var safe strings.Builder
	for _, c := range file {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(".-_", c) {
			safe.WriteRune(c)
		} else {
			fmt.Fprintf(&safe, "~%04X", c)
		}
	}
	return safe.String()
}
