package lake

import "fmt"

// ObjectName is where part number part of what a source holds for a partition lies. It depends on nothing
// else, so that converting the same source again names the same objects. source is a ledger id: letters, digits,
// '-', never beginning with '_' or '.', which engines take for files in the making.
func ObjectName(p Partition, source string, part int) string {
	return fmt.Sprintf("fresh/%s/%s-%d.parquet", p, source, part)
}

// CompactName is where the compacted rows of a partition lie; digest tells apart generations of it.
func CompactName(p Partition, digest string) string {
	return fmt.Sprintf("compact/%s/%s.parquet", p, digest)
}
