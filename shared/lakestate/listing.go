package lakestate

import (
	"context"
	"fmt"
	"iter"
	"path"
	"strings"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
)

// Listing knows the sizes of the objects of a lake from listings of its bucket. A listing is always true: it has the
// objects of every version of the program, and it follows compactions, removals and rebuilt objects.
type Listing struct{ bucket blob.Store }

var _ engine.SizesOfHours = (*Listing)(nil)

// NewListing returns a Listing of the bucket of a lake.
func NewListing(bucket blob.Store) *Listing { return &Listing{bucket} }

// maxListed is the number of objects up to which they are listed. S3 lists 1,000 objects in a request, which takes some
// tens of milliseconds and costs a tenth of the least that Athena charges for a query. A year of compacted hours has
// about 9,000 objects.
const maxListed = 20_000

// Sizes lists the objects that queries of the hours read. It may count late objects that readers do not see for some
// minutes.
func (l *Listing) Sizes(
	ctx context.Context, watermark, from, to lake.Partition,
) (hours map[lake.Partition]engine.Sizes, known bool, _ error) {
	hours = map[lake.Partition]engine.Sizes{}
	n := 0
	for info, err := range l.Objects(ctx, watermark, from, to) {
		if err != nil {
			return nil, false, fmt.Errorf("list the objects of some hours: %w", err)
		}
		hour, ok := HourOf(info.Name)
		if !ok {
			continue
		}
		if n++; n > maxListed {
			return nil, false, nil
		}
		h := hours[hour]
		h.Objects++
		h.Bytes += info.Size
		hours[hour] = h
	}
	return hours, true, nil
}

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
