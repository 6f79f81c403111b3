// Package bundle stores the bundles of a lake. A bundle is an object with the records of several small objects of an
// hour, its members, so that a reader opens one object instead of many. Compaction makes bundles of objects that wait to
// be compacted, and of objects that arrived after their hour was compacted.
//
// No reader needs bundles. The members stay, and an item of the table lists them. A reader opens a bundle only if its
// listing has all members, unchanged since they were bundled; then the bundle has the same records. Athena reads the
// members.
package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// Bundle is an object with the records of its members.
type Bundle struct {
	Info    blob.Info // without Modified
	Members []string  // names in the bucket
}

// Root is the folder of all bundles. Engines ignore names with an underscore.
const Root = "lake/_bundles/"

// FolderOf returns the folder of the bundles of an hour.
func FolderOf(hour lake.Partition) string { return Root + hour.String() + "/" }

// NameOf returns the name of the bundle with these members. It depends on their names, sizes and ETags.
func NameOf(hour lake.Partition, members []blob.Info) string {
	sorted := slices.SortedFunc(slices.Values(members), func(a, b blob.Info) int { return strings.Compare(a.Name, b.Name) })
	h := sha256.New()
	for _, info := range sorted {
		fmt.Fprintf(h, "%s\n%d %s\n", info.Name, info.Size, info.ETag)
	}
	return FolderOf(hour) + hex.EncodeToString(h.Sum(nil)[:16]) + extension
}

// MostMembers is the maximum number of members in all bundles of an hour. One item of the table holds their names.
const MostMembers = 6000

// Hour is what the table knows about the bundles of an hour.
type Hour struct {
	Bundles []Bundle
	Saved   time.Time // zero if the hour never had bundles

	item lakestate.Item
}

// MemberNames returns the names of all members of the bundles of an hour.
func (h Hour) MemberNames() map[string]bool {
	all := map[string]bool{}
	for _, b := range h.Bundles {
		for _, name := range b.Members {
			all[name] = true
		}
	}
	return all
}

// partition is the partition of the table that has an item for each hour with bundles.
const partition = "bundles"

// kept is how long an item is kept after it was saved. Renewed is the age at which it must be saved again.
const (
	kept    = 400 * 24 * time.Hour
	Renewed = 200 * 24 * time.Hour
)

// storedHour is an Hour as it is stored. Names are stored without the folder of the hour and without the extension.
type storedHour struct {
	Bundles []storedBundle `json:"bundles"`
	Saved   time.Time      `json:"saved"`
}

type storedBundle struct {
	Name    string   `json:"name"`
	Bytes   int64    `json:"bytes"`
	ETag    string   `json:"etag"`
	Sum     string   `json:"sha256"`
	Folder  string   `json:"folder"` // of the members: fresh or compact
	Members []string `json:"members"`
}

const (
	lakeRoot  = "lake/"
	extension = ".parquet"
)

// Read reads the bundles of an hour.
func Read(ctx context.Context, table lakestate.Table, hour lake.Partition) (Hour, error) {
	item, err := table.Get(ctx, lakestate.Key{Partition: partition, Sort: hour.String()})
	if err != nil {
		return Hour{}, fmt.Errorf("read the bundles of hour %s: %w", hour, err)
	}
	return hourOf(hour, item), nil
}

// Between yields the hours from…to, both included, that have bundles, in ascending order. An error ends the sequence.
func Between(ctx context.Context, table lakestate.Table, from, to lake.Partition) iter.Seq2[lake.Partition, Hour] {
	return func(yield func(lake.Partition, Hour) bool) {
		for item, err := range table.Between(ctx, partition, from.String(), to.String()) {
			if err != nil {
				return // without bundles, answers are the same
			}
			hour, ok := lakestate.HourOf(lakeRoot + partition + "/" + item.Key.Sort)
			if ok && !yield(hour, hourOf(hour, item)) {
				return
			}
		}
	}
}

// hourOf decodes an item. If the item cannot be decoded, the hour has no bundles.
func hourOf(hour lake.Partition, item lakestate.Item) Hour {
	h := Hour{item: item}
	var stored storedHour
	if item.Read(&stored) != nil {
		return h
	}
	h.Saved = stored.Saved
	for _, b := range stored.Bundles {
		folder := lakeRoot + b.Folder + "/" + hour.String() + "/"
		members := make([]string, len(b.Members))
		for i, name := range b.Members {
			members[i] = folder + name + extension
		}
		h.Bundles = append(h.Bundles, Bundle{
			Info: blob.Info{Name: FolderOf(hour) + b.Name + extension, Size: b.Bytes, ETag: b.ETag, Sum: b.Sum}, Members: members,
		})
	}
	return h
}

// Save replaces the bundles of h, an hour that Read returned. The error is lakestate.ErrConflict if another writer has
// replaced them meanwhile.
func (h Hour) Save(ctx context.Context, table lakestate.Table, now time.Time, bundles []Bundle) error {
	stored := storedHour{Bundles: []storedBundle{}, Saved: now.UTC()}
	for _, b := range bundles {
		s := storedBundle{Name: baseOf(b.Info.Name), Bytes: b.Info.Size, ETag: b.Info.ETag, Sum: b.Info.Sum}
		for _, name := range b.Members {
			s.Folder, _, _ = strings.Cut(strings.TrimPrefix(name, lakeRoot), "/")
			s.Members = append(s.Members, baseOf(name))
		}
		stored.Bundles = append(stored.Bundles, s)
	}
	change, err := lakestate.ChangeOf(h.item, stored)
	if err == nil {
		change.Expires = now.Add(kept)
		err = table.Write(ctx, change)
	}
	if err != nil {
		return fmt.Errorf("save bundles: %w", err)
	}
	return nil
}

// Add adds a bundle to its hour. It reports false if one of the members is already in a bundle, or if the hour would
// have too many members.
func Add(
	ctx context.Context, table lakestate.Table, hour lake.Partition, b Bundle, now func() time.Time,
	wait func(context.Context, int) error,
) (added bool, _ error) {
	for n := 0; ; n++ {
		h, err := Read(ctx, table, hour)
		if err != nil {
			return false, err
		}
		members := h.MemberNames()
		taken := slices.ContainsFunc(b.Members, func(name string) bool { return members[name] })
		if taken || len(members)+len(b.Members) > MostMembers {
			return false, nil
		}
		err = h.Save(ctx, table, now(), append(slices.Clone(h.Bundles), b))
		if !errors.Is(err, lakestate.ErrConflict) || n == lakestate.MaxConflicts {
			return err == nil, err
		}
		if err := wait(ctx, n); err != nil {
			return false, err
		}
	}
}

func baseOf(name string) string {
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], extension)
}
