package lake

import "time"

// Partition is one hour of event time, the unit of pruning and of compaction: hours since the Unix epoch.
type Partition int64

// PartitionOf returns the partition that contains an instant, in epoch milliseconds.
func PartitionOf(tsMs int64) Partition {
	return Partition(floorDiv(tsMs, time.Hour.Milliseconds()))
}

// Start returns the first millisecond of the partition, in epoch milliseconds.
func (p Partition) Start() int64 { return int64(p) * time.Hour.Milliseconds() }

// partitionLayout is the layout of a partition key.
const partitionLayout = "2006/01/02/15"

// String returns the partition key as object names and SQL literals contain it: yyyy/MM/dd/HH.
func (p Partition) String() string {
	return time.UnixMilli(p.Start()).UTC().Format(partitionLayout)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
