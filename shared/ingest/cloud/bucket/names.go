package bucket

import (
	"strings"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/lake"
)

// Prefixes of names in the bucket of the lake. Engines ignore names under lake/ that begin with an underscore. The
// prefix of the lists of values is lake/_values/, see package completionindex.
const (
	LakeRoot       = "lake/"
	StagingRoot    = "lake/_staging/"    // <attempt>/…: objects that are not committed or not published yet
	PlanRoot       = "lake/_plans/"      // yyyy/MM/dd/HH.json: plan of the compaction of an hour
	mergedRoot     = "lake/_merged/"     // yyyy/MM/dd/HH.json: the plan after the fresh objects were removed
	QuarantineRoot = "quarantine/lines/" // <source>.ndjson: lines that are not records
	RefusedRoot    = "quarantine/whole/" // <key of the raw log>.…: logs that were not imported
	// <name>.<hash>.parquet: damaged objects of the lake; .parquet.json: the reason
	DamagedRoot = "quarantine/damaged/"
)

// Prefixes of the names of objects as imported, and of merged objects and late ones.
const (
	FreshRoot   = LakeRoot + "fresh/"
	CompactRoot = LakeRoot + "compact/"
)

// FreshFolder returns the folder of the objects of an hour as imported.
func FreshFolder(p lake.Partition) string { return FreshRoot + p.String() + "/" }

// CompactFolder returns the folder of the merged objects of an hour, and of its late ones.
func CompactFolder(p lake.Partition) string { return CompactRoot + p.String() + "/" }

// VisibleFolder returns the folder of the objects of an hour that readers read.
func VisibleFolder(watermark, hour lake.Partition) string {
	if hour < watermark {
		return CompactFolder(hour)
	}
	return FreshFolder(hour)
}

// HourOf parses the hour at the beginning of a name: yyyy/MM/dd/HH.
func HourOf(name string) (lake.Partition, bool) {
	const layout = "2006/01/02/15"
	if len(name) < len(layout) {
		return 0, false
	}
	t, err := time.Parse(layout, name[:len(layout)])
	return lake.PartitionOf(t.UnixMilli()), err == nil
}

// IsObject reports whether info is of an object of the lake. Consoles create other, empty objects to show folders.
func IsObject(info blob.Info) bool { return strings.HasSuffix(info.Name, ".parquet") && info.Size > 0 }
