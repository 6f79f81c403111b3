package lake

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// The folders of fresh objects and of compacted ones.
const (
	freshFolder   = "fresh"
	compactFolder = "compact"
)

// ObjectName returns the name of an object: part number part of the rows of a source in a partition. It depends on
// nothing else, so that converting the same source again gives the same names. source is a ledger id, which consists of
// letters, digits and '-'. It never starts with '_' or '.', because engines take such files for unfinished ones.
func ObjectName(p Partition, source string, part int) string {
	return fmt.Sprintf("%s/%s/%s-%d.parquet", freshFolder, p, source, part)
}

// CompactName returns the name of the object that holds the compacted rows of a partition. Each compaction of the
// partition has its own digest.
func CompactName(p Partition, digest string) string {
	return fmt.Sprintf("%s/%s/%s.parquet", compactFolder, p, digest)
}

// NameOf returns the name of an object from its path: the part after the data folder. If the path does not end in an
// object name, NameOf returns its last element, so that a name never shows where the data is.
func NameOf(objectPath string) string {
	const elements = 6 // kind, year, month, day, hour, file
	parts := strings.Split(filepath.ToSlash(objectPath), "/")
	if first := len(parts) - elements; first >= 0 && (parts[first] == freshFolder || parts[first] == compactFolder) {
		return path.Join(parts[first:]...)
	}
	return parts[len(parts)-1]
}
