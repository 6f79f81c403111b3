// Package rollupblob keeps rollups of days, and of large objects, in the bucket of a lake.
package rollupblob

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/rollup"
)

// Root is the prefix of the names of rollups. Engines ignore names that begin with an underscore below lake/.
const Root = "lake/_rollups/"

const (
	daysRoot    = Root + "days/"    // <day>/<version>.rollup, and <day>/<version>/<ID of the subset>.rollup
	objectsRoot = Root + "objects/" // <name of the object after compactRoot>.rollup
	compactRoot = "lake/compact/"
	extension   = ".rollup"
	keyName     = Root + "hash-key"
)

// Stored is what the bucket has about a day.
type Stored struct {
	Info    blob.Info            // of its rollup; the size is 0 if the day cannot be rolled up
	Version int64                // of the day, whose objects were rolled up
	Subsets map[string]blob.Info // the rollups of its subsets, by their IDs
	Older   []string             // the names of rollups of earlier versions
}

// Of returns the rollup of the day, and then the rollup of each of some subsets. The size of a rollup that is not there
// is 0. A day that was not rolled up has none.
func (s Stored) Of(subsets []rollup.Subset) (infos []blob.Info) {
	if s.Info.Size == 0 {
		return nil
	}
	infos = append(infos, s.Info)
	for _, subset := range subsets {
		infos = append(infos, s.Subsets[subset.ID()])
	}
	return infos
}

// Days lists the days that were rolled up.
func Days(ctx context.Context, bucket blob.Store) (map[lake.Day]Stored, error) {
	days := map[lake.Day]Stored{}
	waiting := map[lake.Day][]string{} // names of rollups of subsets, before the one of the day
	for info, err := range bucket.List(ctx, daysRoot, "") {
		if err != nil {
			return nil, fmt.Errorf("list rollups: %w", err)
		}
		day, version, subset, ok := parse(info.Name)
		if !ok {
			continue
		}
		of, known := days[day]
		switch {
		case subset == "":
			if known {
				of.Older = append(of.Older, of.names()...)
			}
			of.Older, waiting[day] = append(of.Older, waiting[day]...), nil
			of.Info, of.Version, of.Subsets = info, version, map[string]blob.Info{}
		case known && of.Version == version:
			of.Subsets[subset] = info
		default:
			waiting[day] = append(waiting[day], info.Name)
			continue
		}
		days[day] = of
	}
	return days, nil
}

// names returns the names of the rollups of a day.
func (s Stored) names() []string {
	names := []string{s.Info.Name}
	for _, of := range s.Subsets {
		names = append(names, of.Name)
	}
	return names
}

// nameOf returns the name of the rollup of a subset of a day with a version. The names of later versions sort after it.
func nameOf(day lake.Day, version int64, subset rollup.Subset) string {
	name := fmt.Sprintf("%s%s/%020d", daysRoot, day, version)
	if subset != (rollup.Subset{}) {
		name += "/" + subset.ID()
	}
	return name + extension
}

// parse returns the day, the version and the ID of the subset in a name.
func parse(name string) (day lake.Day, version int64, subset string, ok bool) {
	text, file, found := strings.Cut(strings.TrimPrefix(name, daysRoot), "/")
	stem, isRollup := strings.CutSuffix(file, extension)
	number, subset, _ := strings.Cut(stem, "/")
	day, wrong := lake.ParseDay(text)
	version, err := strconv.ParseInt(number, 10, 64)
	return day, version, subset, found && isRollup && wrong == nil && err == nil
}

// OfObject returns the name of the rollup of a merged object, whose name is given.
func OfObject(object string) string {
	return objectsRoot + strings.TrimSuffix(strings.TrimPrefix(object, compactRoot), ".parquet") + extension
}

// Objects lists the rollups of objects of the hours from…to, both included, by their names.
func Objects(ctx context.Context, bucket blob.Store, from, to lake.Partition) (map[string]blob.Info, error) {
	found := map[string]blob.Info{}
	end := objectsRoot + (to + 1).String()
	for info, err := range bucket.List(ctx, objectsRoot, objectsRoot+from.String()) {
		if err != nil {
			return nil, fmt.Errorf("list rollups of objects: %w", err)
		}
		if info.Name >= end {
			break
		}
		found[info.Name] = info
	}
	return found, nil
}

// WriteObject writes the rollup of an object, or that it has none if that is nil. lists are its lists.
func WriteObject(ctx context.Context, bucket blob.Store, object string, d *rollup.Day, lists rollup.Lists) error {
	var content []byte
	if d != nil {
		content = d.EncodeWith(lists)
	}
	err := bucket.Put(ctx, OfObject(object), bytes.NewReader(content), blob.Always)
	if err != nil {
		return fmt.Errorf("write the rollup of %s: %w", object, err)
	}
	return nil
}

// Write writes the rollup of a subset of a day with a version, unless there is one. lists are its lists.
func Write(ctx context.Context, bucket blob.Store, version int64, d *rollup.Day, lists rollup.Lists) error {
	return put(ctx, bucket, nameOf(lake.PartitionOf(d.Start*1000).Day(), version, d.Subset), d.EncodeWith(lists))
}

// WriteNone records that a day with a version cannot be rolled up.
func WriteNone(ctx context.Context, bucket blob.Store, version int64, day lake.Day) error {
	return put(ctx, bucket, nameOf(day, version, rollup.Subset{}), nil)
}

func put(ctx context.Context, bucket blob.Store, name string, content []byte) error {
	err := bucket.Put(ctx, name, bytes.NewReader(content), blob.IfAbsent)
	if err != nil && !errors.Is(err, blob.ErrExists) { // another compaction has rolled up the same objects
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// HashKey returns the key of the hashes in the lists of all days. Without one, the error is blob.ErrNotFound.
func HashKey(ctx context.Context, bucket blob.Store) (key rollup.HashKey, err error) {
	in, err := blob.Open(ctx, bucket, keyName, "")
	if err != nil {
		return key, fmt.Errorf("read the key of rollups: %w", err)
	}
	content, err := io.ReadAll(io.LimitReader(in, int64(len(key)+1)))
	if err = errors.Join(err, in.Close()); err == nil && len(content) != len(key) {
		err = fmt.Errorf("%w: the length of %s is wrong", rollup.ErrInvalid, keyName)
	}
	copy(key[:], content)
	return key, err
}

// MakeHashKey returns the key of the hashes. If there is none, or it is damaged, it makes one.
func MakeHashKey(ctx context.Context, bucket blob.Store) (key rollup.HashKey, err error) {
	when := blob.IfAbsent
	switch key, err = HashKey(ctx, bucket); {
	case err == nil:
		return key, nil
	case errors.Is(err, rollup.ErrInvalid):
		when = blob.Always
	case !errors.Is(err, blob.ErrNotFound):
		return key, err
	}
	rand.Read(key[:])
	if err := bucket.Put(ctx, keyName, bytes.NewReader(key[:]), when); err != nil && !errors.Is(err, blob.ErrExists) {
		return key, fmt.Errorf("make the key of rollups: %w", err)
	} // otherwise another compaction has made one
	return HashKey(ctx, bucket)
}

// Superseded lists the names of rollups that nobody needs: those of earlier versions, and those of days before the
// first one, whose objects are gone.
func Superseded(days map[lake.Day]Stored, first lake.Day) (names []string) {
	for day, of := range days {
		names = append(names, of.Older...)
		if day < first {
			names = append(names, of.names()...)
		}
	}
	slices.Sort(names)
	return names
}
