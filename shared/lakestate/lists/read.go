package lists

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/completionindex"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/query"
)

const (
	// keep is how long a listing of the bucket and the content of lists are kept. New objects are found that much
	// later.
	keep = time.Minute
	// maxKeptBytes is the maximum size of the lists that are kept, as they are in the bucket. In memory they take about
	// ten times as much. Most lists have a few kilobytes.
	maxKeptBytes = 4 << 20
	// maxHours is the longest period of which the objects are listed: the newest hours of a longer one.
	maxHours = 31 * 24
	// maxObjects is the maximum number of objects that are listed. If the hours have more, only newer hours are listed.
	maxObjects = 5_000
	// lakeRoot is the folder of the lake in its bucket.
	lakeRoot = "lake/"
)

// span is what a listing depends on besides the time.
type span struct{ watermark, from, to lake.Partition }

// listing are the objects of some hours.
type listing struct {
	newest []blob.Info // the newest hour first
	whole  bool        // they are all objects of the hours
	at     time.Time
}

// content is what was read of the lists of an object.
type content struct {
	lists *completionindex.Lists // nil: there are none, or they cannot be read
	bytes int64
	at    time.Time
}

// objects lists the objects of a period.
func (e *Engine) objects(ctx context.Context, watermark lake.Partition, p query.Period) (listing, error) {
	if p.Empty() {
		return listing{whole: true}, nil
	}
	key := span{watermark, lake.PartitionOf(p.FromMs), lake.PartitionOf(p.ToMs)}
	e.mu.Lock()
	known, found := e.listings[key]
	e.mu.Unlock()
	if found && e.isNew(known.at) {
		return known, nil
	}
	l := listing{at: e.now()}
	for hours := min(key.to-key.from+1, maxHours); ; hours /= 2 {
		var fits bool
		var err error
		if l.newest, fits, err = e.list(ctx, span{watermark, key.to - hours + 1, key.to}); err != nil {
			return listing{}, err
		}
		if fits || hours == 1 {
			l.whole = fits && hours == key.to-key.from+1
			break
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.listings, func(_ span, l listing) bool { return !e.isNew(l.at) })
	e.listings[key] = l
	return l, nil
}

// list lists the objects of some hours. fits is false if there are more.
func (e *Engine) list(ctx context.Context, hours span) (newest []blob.Info, fits bool, err error) {
	fits = true
	all := lakestate.NewListing(e.bucket).Objects(ctx, hours.watermark, hours.from, hours.to)
	for info, err := range all {
		if err != nil {
			return nil, false, fmt.Errorf("list the objects of a period: %w", err)
		}
		if fits = len(newest) < maxObjects; !fits {
			break
		}
		newest = append(newest, info)
	}
	slices.Reverse(newest)
	return newest, fits, nil
}

func (e *Engine) isNew(at time.Time) bool {
	age := e.now().Sub(at)
	return age >= 0 && age < keep
}

// kept returns what is kept of the lists of an object.
func (e *Engine) kept(object blob.Info) (content, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, found := e.contents[object.Name]
	return c, found && e.isNew(c.at)
}

// keeps reports whether the lists of all these objects are kept.
func (e *Engine) keeps(objects []blob.Info) bool {
	return !slices.ContainsFunc(objects, func(o blob.Info) bool { _, kept := e.kept(o); return !kept })
}

// read returns the lists of objects. It reads those that are not kept, all at the same time.
func (e *Engine) read(ctx context.Context, objects []blob.Info) ([]content, error) {
	contents := make([]content, len(objects))
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(firstLists)
	for i, object := range objects {
		c, found := e.kept(object)
		if found {
			contents[i] = c
			continue
		}
		group.Go(func() (err error) {
			contents[i], err = e.readOne(reading, object)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	e.keepAll(objects, contents)
	return contents, nil
}

// keepAll keeps the lists of objects, of which some may be kept already. If all kept lists were too large, it keeps
// only these.
func (e *Engine) keepAll(objects []blob.Info, contents []content) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.contents, func(_ string, c content) bool { return !e.isNew(c.at) })
	add := func() {
		for i, object := range objects {
			e.contents[object.Name] = contents[i]
		}
	}
	add()
	var bytes int64
	for _, c := range e.contents {
		bytes += c.bytes
	}
	if bytes > maxKeptBytes {
		clear(e.contents)
		add()
	}
}

// readOne reads the lists of an object. Lists of an object of another size, which an object that was replaced has left,
// count as missing. So do damaged lists, and those that a newer program has written: the records of the object can be
// read all the same.
func (e *Engine) readOne(ctx context.Context, object blob.Info) (content, error) {
	c := content{at: e.now()}
	name := lakeRoot + completionindex.Name(strings.TrimPrefix(object.Name, lakeRoot))
	r, err := blob.Open(ctx, e.bucket, name, "")
	if errors.Is(err, blob.ErrNotFound) {
		return c, nil
	}
	if err != nil {
		return content{}, fmt.Errorf("read lists of values: %w", err)
	}
	encoded, err := io.ReadAll(io.LimitReader(r, completionindex.MaxBytes+1))
	switch err = errors.Join(err, r.Close()); {
	case errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrChanged):
		return c, nil // the object has been removed, or is being replaced
	case err != nil:
		return content{}, fmt.Errorf("read lists of values: %w", err)
	}
	lists, err := completionindex.Decode(encoded)
	if err == nil && lists.Bytes == object.Size {
		c.lists, c.bytes = lists, int64(len(encoded))
	}
	return c, nil
}
