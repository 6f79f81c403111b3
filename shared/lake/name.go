package lake

import (
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The folders of fresh objects and of compacted ones.
const (
	freshFolder   = "fresh"
	compactFolder = "compact"
	listFolder    = "lists"
)

// ObjectName returns the name of an object: part number part of the rows of a source in a partition. It depends on
// nothing else, so that converting the same source again gives the same names. source is a ledger id, which consists of
// letters, digits and '-'. It never starts with '_' or '.', because engines take such files for unfinished ones.
func ObjectName(p Partition, source string, part int) string {
	return FreshName(p, fmt.Sprintf("%s-%d.parquet", source, part))
}

// FreshName returns the name of the fresh object of a partition with that file name.
func FreshName(p Partition, file string) string { return fmt.Sprintf("%s/%s/%s", freshFolder, p, file) }

// SourceOf returns the source and the number of the part in the name or the path of an object with rows of one source.
// ok is false for objects that were merged.
func SourceOf(objectPath string) (source string, part int, ok bool) {
	base := strings.TrimSuffix(NameOf(objectPath), ".parquet")
	base = base[strings.LastIndexByte(base, '/')+1:]
	dash := strings.LastIndexByte(base, '-')
	if dash < 0 {
		return "", 0, false
	}
	part, err := strconv.Atoi(base[dash+1:])
	if err != nil {
		return "", 0, false
	}
	return base[:dash], part, true
}

// CompactName returns the name of the object that holds the compacted rows of a partition. Each compaction of the
// partition has its own digest.
func CompactName(p Partition, digest string) string {
	return fmt.Sprintf("%s/%s/%s.parquet", compactFolder, p, digest)
}

// PartitionOfName returns the partition in the name of an object.
func PartitionOfName(name string) (Partition, error) {
	_, hour, _ := strings.Cut(path.Dir(name), "/")
	start, err := time.Parse(partitionLayout, hour)
	if err != nil {
		return 0, fmt.Errorf("the object name %q has no hour: %w", name, err)
	}
	return PartitionOf(start.UnixMilli()), nil
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
