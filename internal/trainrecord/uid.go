package trainrecord

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"strconv"
	"strings"
)

// UID is a log.record.uid taken apart: the run, the stream (by its first line), the place and the content of the line.
// Equal lines at equal offsets of streams with the same first line have equal uids.
type UID struct {
	RunID  string
	File   uint32 // the first 4 bytes of the sha256 of the stream's first line
	Offset int64  // byte offset of the line
	CRC    uint32 // crc32c of the line
	Index  int    // 0 for the first record of a line, 1, 2 ... for further ones
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// startBytes is how far into its file the first line may stand, behind a byte order mark or blank lines: one with an epoch
// does not fit before it.
const startBytes = 8

// AtStart tells whether a line that begins at an offset is the first one of its file.
func AtStart(offset int64) bool { return offset >= 0 && offset <= startBytes }

// FileID identifies a stream by its first line, given without its newline.
func FileID(firstLine []byte) uint32 {
	sum := sha256.Sum256(firstLine)
	return binary.BigEndian.Uint32(sum[:4])
}

// LineCRC is the crc32c of a line, given without its newline.
func LineCRC(line []byte) uint32 { return crc32.Checksum(line, castagnoli) }

// String gives the form <run id>/<8 hex>/<offset hex>-<crc32c, 8 hex>, and /<index> when the index is not 0.
func (u UID) String() string {
	var short [128]byte // on the stack: most ids fit, and only the text is allocated
	return string(u.Append(short[:0]))
}

// Append appends what String gives.
func (u UID) Append(b []byte) []byte {
	b = append(b, u.RunID...)
	b = append(b, '/')
	b = appendHex8(b, u.File)
	b = append(b, '/')
	b = strconv.AppendInt(b, u.Offset, 16)
	b = append(b, '-')
	b = appendHex8(b, u.CRC)
	if u.Index != 0 {
		b = append(b, '/')
		b = strconv.AppendInt(b, int64(u.Index), 10)
	}
	return b
}

func appendHex8(b []byte, n uint32) []byte {
	const digits = "0123456789abcdef"
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, digits[n>>shift&0xf])
	}
	return b
}

// ParseUID takes a uid apart; it answers false for any text that String would not write. The run id may hold slashes.
func ParseUID(s string) (UID, bool) {
	var u UID
	rest, last, ok := cutLast(s)
	if !ok {
		return u, false
	}
	if offset, _, isPlace := strings.Cut(last, "-"); !isPlace || offset == "" {
		n, err := strconv.Atoi(last)
		if err != nil || n <= 0 {
			return u, false
		}
		u.Index = n
		if rest, last, ok = cutLast(rest); !ok {
			return u, false
		}
	}
	run, file, ok := cutLast(rest)
	if !ok {
		return u, false
	}
	offset, crc, _ := strings.Cut(last, "-")
	o, err1 := strconv.ParseInt(offset, 16, 64)
	c, err2 := strconv.ParseUint(crc, 16, 32)
	f, err3 := strconv.ParseUint(file, 16, 32)
	if err1 != nil || err2 != nil || err3 != nil || o < 0 {
		return UID{}, false
	}
	u.RunID, u.File, u.Offset, u.CRC = run, uint32(f), o, uint32(c)
	return u, u.String() == s
}

func cutLast(s string) (before, last string, ok bool) {
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
