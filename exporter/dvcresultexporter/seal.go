package dvcresultexporter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

const sealSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errDamaged = errors.New("a value is damaged")

// seal appends the checksum of a value that goes to the storage: a wrong byte must not become a wrong result.
func seal(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// unseal gives a value without its checksum.
func unseal(b []byte) ([]byte, error) {
	n := len(b) - sealSize
	if n < 0 {
		return nil, fmt.Errorf("%w: %d bytes", errDamaged, len(b))
	}
	if binary.BigEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], castagnoli) {
		return nil, fmt.Errorf("%w: checksum", errDamaged)
	}
	return b[:n], nil
}
