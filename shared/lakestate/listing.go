package lakestate

import (
	"context"
	"iter"
	"path"
	"strings"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/lake"
)

// Listing lists the objects of a lake in its bucket. A listing is always true: it has the objects of every version of
// the program, and it follows compactions, removals and rebuilt objects.
type Listing struct{ bucket blob.Store }

// NewListing returns a Listing of the bucket of a lake.
func NewListing(bucket blob.Store) *Listing { return &Listing{bucket} }

// Objects yields the objects that queries of the hours from…to, both included, read: before the watermark those of the
// compact prefix, and from the watermark those of the fresh prefix. The oldest hour comes first.
func (l *Listing) Objects(
	ctx context.Context, watermark, from, to lake.Partition,
) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		for _, part := range []struct {
			folder   func(lake.Partition) string
			from, to lake.Partition
		}{
			{compactFolder, from, min(to, watermark-1)},
			{freshFolder, max(from, watermark), to},
		} {
			if part.from > part.to {
				continue
			}
			first, end := part.folder(part.from), part.folder(part.to+1)
			for info, err := range l.bucket.List(ctx, rootOf(first), first) {
				if err == nil && info.Name >= end {
					break
				}
				if err == nil && !strings.HasSuffix(info.Name, ".parquet") {
					continue // consoles create objects to show folders
				}
				if !yield(info, err) || err != nil {
					return
				}
			}
		}
	}
}

// lakeRoot is the folder of the lake in its bucket.
const lakeRoot = "lake/"

func freshFolder(p lake.Partition) string { return lakeRoot + lake.FreshName(p, "") }

func compactFolder(p lake.Partition) string { return path.Dir(lakeRoot+lake.CompactName(p, "")) + "/" }

// rootOf returns the folder with the folders of all hours, such as lake/fresh/.
func rootOf(hour string) string {
	end := len(lakeRoot) + strings.IndexByte(hour[len(lakeRoot):], '/')
	return hour[:end+1]
}
