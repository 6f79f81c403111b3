package compaction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/ingest/cloud/publication"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/bundle"
)

// Bundling has the limits that decide which objects are bundled. Readers open a bundle instead of its members; package
// bundle explains why that is safe.
type Bundling struct {
	Open   int   // minimum number of members in a bundle of an hour that has not ended
	Ended  int   // the same for an hour that has ended and is not compacted yet
	Late   int   // the same for objects that arrived after their hour was compacted
	Most   int   // maximum number of members in a bundle
	Member int64 // maximum size of a member, in bytes
	Bytes  int64 // maximum size of all members of a bundle, in bytes
}

// bundleFresh bundles the objects of the hours that are not due to be compacted yet, the newest hour first. If it
// cannot bundle some objects, it adds the reason to the report.
func (c *Compactor) bundleFresh(ctx context.Context, due lake.Partition, stop time.Time, report *Report) error {
	s, _, err := lakestate.Load(ctx, c.Table)
	if err != nil {
		return err
	}
	from := max(due, s.Closed)
	hours := map[lake.Partition][]blob.Info{}
	for info, err := range c.Lake.List(ctx, bucket.FreshRoot, bucket.FreshFolder(from)) {
		if err != nil {
			return err
		}
		if hour, ok := lakestate.HourOf(info.Name); ok && bucket.IsObject(info) {
			hours[hour] = append(hours[hour], info)
		}
	}
	for _, hour := range slices.Backward(slices.Sorted(maps.Keys(hours))) {
		least := c.Bundling.Ended
		if (hour + 1).Start() > c.Now().UnixMilli() {
			least = c.Bundling.Open
		}
		if !c.bundleHour(ctx, hour, hours[hour], least, stop, report) {
			return ctx.Err()
		}
	}
	return nil
}

// bundleLate bundles objects of some days that arrived after their hours were compacted.
func (c *Compactor) bundleLate(
	ctx context.Context, days map[lake.Day]lakestate.DayCount, stop time.Time, report *Report,
) error {
	for _, count := range days {
		for hour, sizes := range count.Hours {
			if sizes.Objects < c.Bundling.Late {
				continue
			}
			objects, err := c.objectsIn(ctx, bucket.CompactFolder(hour))
			if err != nil {
				return err
			}
			if !c.bundleHour(ctx, hour, objects, c.Bundling.Late, stop, report) {
				return ctx.Err()
			}
		}
	}
	return nil
}

// bundleHour bundles the objects of an hour that are not in a bundle yet. It returns false if the time is up or the
// context has ended.
func (c *Compactor) bundleHour(
	ctx context.Context, hour lake.Partition, objects []blob.Info, least int, stop time.Time, report *Report,
) bool {
	if len(objects) < least {
		return true
	}
	note := func(err error) { report.Unbundled = append(report.Unbundled, fmt.Sprintf("hour %s: %v", hour, err)) }
	known, err := bundle.Read(ctx, c.Table, hour)
	if err != nil {
		note(err)
		return ctx.Err() == nil
	}
	members, err := c.renewBundles(ctx, hour, known)
	if err != nil {
		note(err)
		return ctx.Err() == nil
	}
	groups := c.groupsToBundle(objects, members, least)
	var mu sync.Mutex // of the report
	inTime, err := c.each(ctx, len(groups), func(ctx context.Context, i int) (began bool, _ error) {
		if !stop.IsZero() && c.Now().Add(c.expected(sizeOf(groups[i]))).After(stop) {
			return false, nil
		}
		added, err := c.bundle(ctx, hour, groups[i])
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			note(err)
		}
		if added {
			report.Bundled += len(groups[i])
		}
		return true, ctx.Err()
	})
	return inTime && err == nil
}

// renewBundles removes the bundles of an hour that were replaced or removed since they were put. It saves the others if
// something changed, or if the table would forget them soon, and returns the names of their members.
func (c *Compactor) renewBundles(
	ctx context.Context, hour lake.Partition, known bundle.Hour,
) (members map[string]bool, _ error) {
	if len(known.Bundles) == 0 {
		return nil, nil
	}
	there := map[string]blob.Info{}
	for info, err := range c.Lake.List(ctx, bundle.FolderOf(hour), "") {
		if err != nil {
			return nil, err
		}
		there[info.Name] = info
	}
	var changed []string
	sound := slices.DeleteFunc(slices.Clone(known.Bundles), func(b bundle.Bundle) bool {
		info := there[b.Info.Name]
		differs := info.Size != b.Info.Size || info.ETag != b.Info.ETag
		if differs {
			changed = append(changed, b.Info.Name)
		}
		return differs
	})
	if len(changed) > 0 || c.Now().Sub(known.Saved) > bundle.Renewed {
		err := known.Save(ctx, c.Table, c.Now(), sound)
		if err == nil {
			err = c.Lake.Delete(ctx, changed...)
		}
		if err != nil {
			return nil, err // also if another compaction was first
		}
	}
	return bundle.Hour{Bundles: sound}.MemberNames(), nil
}

// groupsToBundle returns the groups of objects to bundle. The objects are in the order in which they arrived.
func (c *Compactor) groupsToBundle(objects []blob.Info, bundled map[string]bool, least int) (groups [][]blob.Info) {
	var small []blob.Info
	for _, info := range objects {
		if !bundled[info.Name] && info.Size <= c.Bundling.Member {
			small = append(small, info)
		}
	}
	slices.SortFunc(small, func(a, b blob.Info) int {
		return cmp.Or(a.Modified.Compare(b.Modified), strings.Compare(a.Name, b.Name))
	})
	var group []blob.Info
	var size int64
	add := func() {
		if len(group) >= least {
			groups = append(groups, group)
		}
		group, size = nil, 0
	}
	for _, info := range small {
		if len(group) == c.Bundling.Most || size+info.Size > c.Bundling.Bytes {
			add()
		}
		group = append(group, info)
		size += info.Size
	}
	add()
	return groups
}

// bundle puts the bundle of some objects, and adds it to the table. It leaves out objects of a newer schema. If an
// object is damaged, it makes no bundle: compaction, or a query that fails at the object, reports the damage.
func (c *Compactor) bundle(ctx context.Context, hour lake.Partition, group []blob.Info) (added bool, err error) {
	dir, err := os.MkdirTemp(c.Scratch, "bundle-")
	if err != nil {
		return false, fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	names, infos := make([]string, len(group)), map[string]blob.Info{}
	for i, info := range group {
		names[i], infos[info.Name] = info.Name, info
	}
	copies, err := c.download(ctx, dir, names)
	if err != nil {
		return false, err
	}
	mergeable, _ := splitNewer(copies)
	if len(mergeable) < 2 {
		return false, nil
	}
	file := filepath.Join(dir, "bundle.parquet")
	if err := c.mergeCopies(file, mergeable); err != nil {
		return false, err
	}
	var b bundle.Bundle
	var members []blob.Info
	for _, member := range mergeable {
		b.Members = append(b.Members, member.Name)
		members = append(members, infos[member.Name])
	}
	name := bundle.NameOf(hour, members)
	sum, err := bucket.FileSum(file)
	if err != nil {
		return false, err
	}
	if err := c.Lake.PutFile(ctx, name, file, blob.Always); err != nil {
		return false, err
	}
	info, err := c.Lake.Head(ctx, name)
	if err == nil {
		err = c.Lake.Verify(ctx, name, info.Size, sum)
	}
	if err != nil {
		return false, err
	}
	b.Info = blob.Info{Name: name, Size: info.Size, ETag: info.ETag, Sum: sum}
	return bundle.Add(ctx, c.Table, hour, b, c.Now, c.Wait)
}

// units divides the objects of an hour into units that are merged together: the members of a bundle, or one object.
func (c *Compactor) units(ctx context.Context, hour lake.Partition, objects []blob.Info) [][]blob.Info {
	known, err := bundle.Read(ctx, c.Table, hour)
	if err != nil {
		known = bundle.Hour{} // without bundles, all objects are merged
	}
	number := map[string]int{}
	for i, b := range known.Bundles {
		for _, name := range b.Members {
			number[name] = i + 1
		}
	}
	units := make([][]blob.Info, len(known.Bundles), len(known.Bundles)+len(objects))
	for _, info := range objects {
		if n := number[info.Name]; n > 0 {
			units[n-1] = append(units[n-1], info)
		} else {
			units = append(units, []blob.Info{info})
		}
	}
	return slices.DeleteFunc(units, func(unit []blob.Info) bool { return len(unit) == 0 })
}

// mergeBundles creates the compacted object of a group from bundles and from the objects that are in no bundle. It
// reports false if the group has no whole bundle, or if a bundle is damaged. Then the caller merges the objects
// themselves.
func (c *Compactor) mergeBundles(
	ctx context.Context, hour lake.Partition, dir, name string, group []string,
) (merged bool, _ error) {
	known, err := bundle.Read(ctx, c.Table, hour)
	if err != nil {
		return false, ctx.Err()
	}
	left := map[string]bool{}
	for _, object := range group {
		left[object] = true
	}
	var names, sums []string
	var whole blob.Info
	for _, b := range known.Bundles {
		if slices.ContainsFunc(b.Members, func(member string) bool { return !left[member] }) {
			continue
		}
		for _, member := range b.Members {
			delete(left, member)
		}
		names, sums, whole = append(names, b.Info.Name), append(sums, b.Info.Sum), b.Info
	}
	if len(names) == 0 {
		return false, nil
	}
	if len(names) == 1 && len(left) == 0 {
		if err := c.Lake.Verify(ctx, names[0], whole.Size, whole.Sum); err != nil {
			return false, ctx.Err()
		}
		c.CopyLists(ctx, names[0], name)
		return true, c.Lake.CopyVerified(ctx, names[0], name)
	}
	names = append(names, slices.Sorted(maps.Keys(left))...)
	into := filepath.Join(dir, "bundles")
	if err := os.Mkdir(into, 0o700); err != nil {
		return false, fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(into) }() // otherwise it is removed with dir
	copies, err := c.download(ctx, into, names)
	if err != nil {
		return false, ctx.Err()
	}
	for i, want := range sums {
		if sum, err := bucket.FileSum(copies[i].Path); err != nil || sum != want {
			return false, err
		}
	}
	file := filepath.Join(into, "merged.parquet")
	if _, newer := splitNewer(copies); len(newer) > 0 || c.mergeCopies(file, copies) != nil {
		return false, nil
	}
	c.PutLists(ctx, name, publication.ListsName(name), file)
	return true, c.putMerged(ctx, name, file)
}

// sweepBundles removes the bundles of fresh objects of an hour. The hour was compacted so long ago that no query reads
// them any more.
func (c *Compactor) sweepBundles(ctx context.Context, hour lake.Partition) error {
	known, err := bundle.Read(ctx, c.Table, hour)
	if err != nil || known.Saved.IsZero() {
		return err
	}
	var late []bundle.Bundle
	keep := map[string]bool{}
	for _, b := range known.Bundles {
		if len(b.Members) > 0 && strings.HasPrefix(b.Members[0], bucket.CompactRoot) {
			late = append(late, b)
			keep[b.Info.Name] = true
		}
	}
	if len(late) < len(known.Bundles) {
		if err := known.Save(ctx, c.Table, c.Now(), late); err != nil {
			return err
		}
	}
	var names []string
	for info, err := range c.Lake.List(ctx, bundle.FolderOf(hour), "") {
		if err != nil {
			return err
		}
		if !keep[info.Name] {
			names = append(names, info.Name)
		}
	}
	return c.Lake.Delete(ctx, names...)
}
