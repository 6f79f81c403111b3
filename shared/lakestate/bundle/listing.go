package bundle

import (
	"context"
	"iter"
	"sync/atomic"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// Listing lists the objects of a lake as a lakestate.Listing does, with bundles instead of their members.
type Listing struct {
	objects *lakestate.Listing
	table   lakestate.Table
	now     func() time.Time
	doubted atomic.Int64 // until this time, in Unix milliseconds, no bundles are listed
}

// NewListing returns a Listing of the lake whose objects and table are given.
func NewListing(objects *lakestate.Listing, table lakestate.Table, now func() time.Time) *Listing {
	return &Listing{objects: objects, table: table, now: now}
}

// doubtFor is how long no bundles are listed after a doubt.
const doubtFor = 10 * time.Minute

// Doubt records that a listed object could not be read. The object may be a bundle, so for some minutes the listing has
// members instead of bundles, like the listings of other engines.
func (l *Listing) Doubt() { l.doubted.Store(l.now().Add(doubtFor).UnixMilli()) }

// Objects yields the objects that a query of the hours from…to, both included, has to read. Bundles replace their
// members. The oldest hour comes first.
func (l *Listing) Objects(
	ctx context.Context, watermark, from, to lake.Partition,
) iter.Seq2[blob.Info, error] {
	objects := l.objects.Objects(ctx, watermark, from, to)
	if l.now().UnixMilli() < l.doubted.Load() {
		return objects
	}
	return func(yield func(blob.Info, error) bool) {
		next, stop := iter.Pull2(Between(ctx, l.table, from, to))
		defer stop()
		hour, bundles, more := next()
		var listed []blob.Info // of an hour with bundles
		flush := func() bool {
			if listed == nil {
				return true
			}
			for _, info := range replaced(hour, listed, bundles.Bundles) {
				if !yield(info, nil) {
					return false
				}
			}
			listed = nil
			return true
		}
		for info, err := range objects {
			if err != nil {
				yield(info, err)
				return
			}
			of, ok := lakestate.HourOf(info.Name)
			if more && hour < of {
				if !flush() {
					return
				}
				for more && hour < of {
					hour, bundles, more = next()
				}
			}
			if ok && more && of == hour {
				listed = append(listed, info)
				continue
			}
			if !yield(info, nil) {
				return
			}
		}
		flush()
	}
}

// replaced returns the objects of an hour, with bundles instead of their members. A bundle is not used if one of its
// members was removed, replaced, or superseded by a compacted object.
func replaced(hour lake.Partition, listed []blob.Info, bundles []Bundle) []blob.Info {
	left := make(map[string]blob.Info, len(listed))
	for _, info := range listed {
		left[info.Name] = info
	}
	var all []blob.Info
	for _, b := range bundles {
		members := make([]blob.Info, len(b.Members))
		for i, name := range b.Members {
			members[i] = left[name]
		}
		if NameOf(hour, members) != b.Info.Name {
			continue
		}
		for _, name := range b.Members {
			delete(left, name)
		}
		all = append(all, b.Info)
	}
	for _, info := range listed {
		if _, single := left[info.Name]; single {
			all = append(all, info)
		}
	}
	return all
}
