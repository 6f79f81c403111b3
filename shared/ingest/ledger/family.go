package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// Family returns the id of the family of a source with this beginning. All imports of a source have the same family,
// because it depends only on the first line.
func Family(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	sum := sha256.Sum256(bytes.TrimSuffix(line[:min(len(line), lineBytes)], []byte("\r")))
	return hex.EncodeToString(sum[:8])
}

// lineBytes is the number of bytes at the beginning of a line that count.
const lineBytes = 4096

// LogFamily returns the id of the sources that have the name of a log and the same first line that is no directive.
// Ledgers look for the earlier imports of a log there. All logs of some servers begin with the same directives, but
// few have the same name and the same first line after them.
//
// As long as that line is not complete, the id is that of the name alone. The imports of a growing log are therefore in
// two families at most, and the id without a head is one of them.
func LogFamily(log string, head []byte) string {
	sum := sha256.Sum256(slices.Concat([]byte(log), []byte{0}, firstLine(head)))
	return hex.EncodeToString(sum[:8])
}

// firstLine returns the first line that is neither blank nor a directive, at most lineBytes of it. It returns nil if
// there is none, or if the line may continue after the head.
func firstLine(head []byte) []byte {
	for line := range bytes.Lines(head) {
		text := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		if line[len(line)-1] != '\n' && len(line) < lineBytes {
			return nil
		}
		line = bytes.TrimRight(line, "\r\n")
		return line[:min(len(line), lineBytes)]
	}
	return nil
}
