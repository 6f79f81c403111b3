package manifest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/lake"
)

// maxRecent is the maximum number of changed hours in the head. Readers use them to update their caches.
const maxRecent = 1024

// Change is a change of the index. Names are paths below the lake directory, with slashes, as lake.ObjectName returns
// them. Path of an object to add is such a name, too.
type Change struct {
	Add    []lake.Object // verified objects that are in place; objects that are listed already are ignored
	Remove []Name        // objects that others replace; they become superseded and stay on the disk
	Forget []Name        // superseded objects whose files are removed
	At     time.Time     // time of Remove
	Keep   *Retention    // how long records are kept from now on; nil leaves that as it is
}

// Name is the name of an object and its partition.
type Name struct {
	Partition lake.Partition
	Name      string
}

// Hour holds the objects of one hour, current and superseded. Path of an object is its name below the lake directory.
type Hour struct {
	Objects    []lake.Object
	Superseded []SupersededObject
}

// SupersededObject is an object that another one has replaced at a time. A query that began before may still read it.
type SupersededObject struct {
	Name
	At time.Time
}

// Update is the exclusive right to change the index. It must be closed.
type Update struct {
	store     *Store
	lock      *filelock.Lock
	head      head
	retention Retention // of head
}

// Begin waits for the right to change the index. It completes the change of a process that died in the middle of it.
func (s *Store) Begin(ctx context.Context) (*Update, error) {
	if err := s.makeDirs(); err != nil {
		return nil, err
	}
	lock, err := filelock.Acquire(ctx, lockPath(s.dir))
	if err != nil {
		return nil, err
	}
	u := &Update{store: s, lock: lock}
	if err := u.settle(); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return u, nil
}

// Close releases the right to change the index.
func (u *Update) Close() error { return u.lock.Release() }

// Hour reads the manifest of one hour. An hour without a manifest is empty.
func (u *Update) Hour(p lake.Partition) (Hour, error) {
	h, err := u.read(p)
	if err != nil {
		return Hour{}, err
	}
	var out Hour
	for _, o := range h.Objects {
		out.Objects = append(out.Objects, o.lakeObject(p))
	}
	slices.SortFunc(out.Objects, byPath)
	for _, o := range h.Superseded {
		out.Superseded = append(out.Superseded, SupersededObject{Name{p, o.Name}, o.At})
	}
	return out, nil
}

// Publish makes a change. If it returns nil, the change is visible and durable. If it returns an error, either the
// change has not begun or the next Begin completes it.
func (u *Update) Publish(c Change) error {
	hours, err := u.apply(c)
	if err != nil {
		return err
	}
	next := u.head
	if c.Keep != nil {
		next.Retention = entryOf(*c.Keep)
	}
	if len(hours) == 0 { // the data stays as it is
		if c.Keep == nil || *c.Keep == u.retention {
			return nil
		}
		return u.writeHead(next)
	}
	next.Sequence++
	next.Pending = hours
	next.Recent = appendRecent(next.Recent, next.Sequence, hours)
	for i := range hours {
		hours[i].Sequence = next.Sequence
	}
	if next.Extent, err = u.extentAfter(hours); err != nil {
		return err
	}
	u.store.step("manifest: before the head")
	if err := u.writeHead(next); err != nil {
		return err
	}
	return u.settle()
}

// settle writes the pending hours of the head to their own files. It may be repeated.
func (u *Update) settle() error {
	raw, err := readHead(u.store.dir)
	if err != nil {
		return err
	}
	if u.head, err = parseHead(u.store.dir, raw); err != nil {
		return err
	}
	if u.retention, err = u.head.retention(); err != nil {
		return fmt.Errorf("manifest %s: %w", headPath(u.store.dir), err)
	}
	if len(u.head.Pending) == 0 {
		return nil
	}
	for _, h := range u.head.Pending {
		p, err := h.partition()
		if err != nil {
			return fmt.Errorf("manifest %s: %w", headPath(u.store.dir), err)
		}
		u.store.step("manifest: before an hour")
		if err := replaceJSON(hourPath(u.store.dir, p), h); err != nil {
			return err
		}
	}
	if err := SyncDir(hoursDir(u.store.dir)); err != nil {
		return err
	}
	u.store.step("manifest: before settling")
	settled := u.head
	settled.Pending = nil
	return u.writeHead(settled)
}

// apply returns the manifests after the change, without the hours that it does not change.
func (u *Update) apply(c Change) ([]hourManifest, error) {
	changes := byHour(c)
	partitions := make([]lake.Partition, 0, len(changes))
	for p := range changes {
		partitions = append(partitions, p)
	}
	slices.Sort(partitions)
	var altered []hourManifest
	for _, p := range partitions {
		h, err := u.read(p)
		if err != nil {
			return nil, err
		}
		yes, err := h.change(changes[p], u.head.Sequence+1)
		if err != nil {
			return nil, fmt.Errorf("change manifest %s: %w", hourPath(u.store.dir, p), err)
		}
		if yes {
			altered = append(altered, h)
		}
	}
	return altered, nil
}

// byHour splits a change into one change per hour.
func byHour(c Change) map[lake.Partition]Change {
	hours := map[lake.Partition]Change{}
	for _, o := range c.Add {
		h := hours[o.Partition]
		h.Add = append(h.Add, o)
		hours[o.Partition] = h
	}
	for _, n := range c.Remove {
		h := hours[n.Partition]
		h.At = c.At
		h.Remove = append(h.Remove, n)
		hours[n.Partition] = h
	}
	for _, n := range c.Forget {
		h := hours[n.Partition]
		h.Forget = append(h.Forget, n)
		hours[n.Partition] = h
	}
	return hours
}

// change applies a change with that number to the manifest and reports whether the manifest differs afterwards.
// Removing an object that is not listed is an error, because rows would be lost or counted twice.
func (h *hourManifest) change(c Change, number int64) (altered bool, err error) {
	first, last := h.changesOf(c.Remove, number)
	for _, o := range c.Add {
		if h.lists(o.Path) {
			continue
		}
		h.Objects = append(h.Objects, objectEntry{
			Name:        o.Path,
			Rows:        o.Rows,
			Bytes:       o.Bytes,
			MinTsMs:     o.MinTsMs,
			MaxTsMs:     o.MaxTsMs,
			ColumnBytes: o.ColumnBytes,
			FirstChange: first,
			LastChange:  last,
		})
		altered = true
	}
	for _, n := range c.Remove {
		i := slices.IndexFunc(h.Objects, func(o objectEntry) bool { return o.Name == n.Name })
		if i < 0 {
			return false, fmt.Errorf("object %s is not listed", n.Name)
		}
		h.Objects = slices.Delete(h.Objects, i, i+1)
		h.Superseded = append(h.Superseded, supersededEntry{Name: n.Name, At: c.At.UTC()})
		altered = true
	}
	before := len(h.Superseded)
	h.Superseded = slices.DeleteFunc(h.Superseded, func(s supersededEntry) bool {
		return slices.ContainsFunc(c.Forget, func(n Name) bool { return n.Name == s.Name })
	})
	return altered || len(h.Superseded) < before, nil
}

// changesOf returns the numbers of the changes that published the first and the last rows of the objects that a change
// adds. If they replace others, their rows are those of the others. Otherwise the rows are new.
func (h *hourManifest) changesOf(replaced []Name, number int64) (first, last int64) {
	first, last = number, number
	found := false
	for _, o := range h.Objects {
		if !slices.ContainsFunc(replaced, func(n Name) bool { return n.Name == o.Name }) {
			continue
		}
		if !found {
			first, last, found = o.FirstChange, o.LastChange, true
		}
		first, last = min(first, o.FirstChange), max(last, o.LastChange)
	}
	return first, last
}

// lists reports whether an object is a current or a superseded object of the hour.
func (h *hourManifest) lists(name string) bool {
	return slices.ContainsFunc(h.Objects, func(o objectEntry) bool { return o.Name == name }) ||
		slices.ContainsFunc(h.Superseded, func(s supersededEntry) bool { return s.Name == name })
}

// read reads the manifest of an hour. An hour without a manifest is empty.
func (u *Update) read(p lake.Partition) (hourManifest, error) {
	h, err := readHour(u.store.dir, p)
	if errors.Is(err, fs.ErrNotExist) {
		return hourManifest{Version: version, Hour: hourName(p)}, nil
	}
	return h, err
}

// extentAfter returns the extent of the lake after the hours are replaced. It adds the difference of the rows, and
// reads the times from the first and the last hour that have objects.
func (u *Update) extentAfter(replaced []hourManifest) (lake.Extent, error) {
	after := map[lake.Partition]hourManifest{}
	known, err := listHours(u.store.dir)
	if err != nil {
		return lake.Extent{}, err
	}
	rows := u.head.Extent.Rows
	for _, h := range replaced {
		p, err := h.partition()
		if err != nil {
			return lake.Extent{}, err
		}
		before, err := u.read(p)
		if err != nil {
			return lake.Extent{}, err
		}
		rows += h.rows() - before.rows()
		after[p] = h
		known = append(known, p)
	}
	slices.Sort(known)
	read := func(p lake.Partition) (hourManifest, error) {
		if h, ok := after[p]; ok {
			return h, nil
		}
		return u.read(p)
	}
	e := lake.Extent{Rows: rows}
	if first, found, err := firstFilled(slices.All(known), read); err != nil {
		return lake.Extent{}, err
	} else if found {
		e.MinTsMs = first.Objects[0].MinTsMs
		for _, o := range first.Objects {
			e.MinTsMs = min(e.MinTsMs, o.MinTsMs)
		}
	}
	if last, found, err := firstFilled(slices.Backward(known), read); err != nil {
		return lake.Extent{}, err
	} else if found {
		for _, o := range last.Objects {
			e.MaxTsMs = max(e.MaxTsMs, o.MaxTsMs)
		}
	}
	return e, nil
}

// firstFilled returns the first hour of the sequence that has objects.
func firstFilled(
	hours func(func(int, lake.Partition) bool), read func(lake.Partition) (hourManifest, error),
) (hourManifest, bool, error) {
	for _, p := range hours {
		h, err := read(p)
		if err != nil {
			return hourManifest{}, false, err
		}
		if len(h.Objects) > 0 {
			return h, true, nil
		}
	}
	return hourManifest{}, false, nil
}

func (h hourManifest) rows() int64 {
	var n int64
	for _, o := range h.Objects {
		n += o.Rows
	}
	return n
}

// appendRecent adds a change to the list and removes the oldest ones if the list has too many hours. A single change
// with too many hours is removed, too. Readers then read all hours again.
func appendRecent(list []changeEntry, sequence int64, hours []hourManifest) []changeEntry {
	names := make([]string, len(hours))
	for i, h := range hours {
		names[i] = h.Hour
	}
	list = append(slices.Clone(list), changeEntry{Sequence: sequence, Hours: names})
	total := 0
	for i, r := range slices.Backward(list) {
		if total += len(r.Hours); total > maxRecent {
			return list[i+1:]
		}
	}
	return list
}

func (u *Update) writeHead(h head) error {
	retention, err := h.retention()
	if err != nil {
		return err
	}
	if err := replaceJSON(headPath(u.store.dir), h); err != nil {
		return err
	}
	u.head, u.retention = h, retention
	return SyncDir(hoursDir(u.store.dir))
}

// replaceJSON replaces a file by rename, so that readers see either the old or the new content. The caller must hold
// the lock and sync the directory.
func replaceJSON(path string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write manifest %s: %w", path, err)
	}
	temporary := path + ".tmp"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	_, err = f.Write(append(raw, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("replace manifest: %w", err)
	}
	return nil
}
