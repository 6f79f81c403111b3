package lake

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// The folders of fresh and of compacted objects.
const (
	freshFolder   = "fresh"
	compactFolder = "compact"
)

// ObjectName is where part number part of what a source holds for a partition lies. It depends on nothing
// else, so that converting the same source again names the same objects. source is a ledger id: letters, digits,
// '-', never beginning with '_' or '.', which engines take for files in the making.
func ObjectName(p Partition, source string, part int) string {
	return fmt.Sprintf("%s/%s/%s-%d.parquet", freshFolder, p, source, part)
}

// CompactName is where the compacted rows of a partition lie; digest tells apart generations of it.
func CompactName(p Partition, digest string) string {
	return fmt.Sprintf("%s/%s/%s.parquet", compactFolder, p, digest)
}

// NameOf is the name in the path of an object: what follows the data folder. Of a path that holds none it is the
// last element, so that a name never tells where the data lie.
func NameOf(objectPath string) string {
	const elements = 6 // kind, year, month, day, hour, file
	parts := strings.Split(filepath.ToSlash(objectPath), "/")
	if first := len(parts) - elements; first >= 0 && (parts[first] == freshFolder || parts[first] == compactFolder) {
		return path.Join(parts[first:]...)
	}
	return parts[len(parts)-1]
}
