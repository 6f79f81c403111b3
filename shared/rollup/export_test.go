package rollup

import "crypto/sha256"

// Sealed returns content with its checksum.
func Sealed(content []byte) []byte {
	sum := sha256.Sum256(content)
	return append(append([]byte{}, content...), sum[:]...)
}
