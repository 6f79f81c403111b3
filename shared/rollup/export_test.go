package rollup

import (
	"crypto/sha256"
	"encoding/binary"
)

// Sealed returns content with its size and its checksum.
func Sealed(content []byte) []byte {
	content = append([]byte{}, content...)
	if len(content) >= HeaderBytes {
		binary.LittleEndian.PutUint32(content[len(magic)+1:], uint32(len(content)+sha256.Size))
	}
	sum := sha256.Sum256(content)
	return append(content, sum[:]...)
}
