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

// maxRecent is how many changed hours the head remembers for readers' caches.
const maxRecent = 1024

// Change is what one update does. Names are paths below the lake directory, with slashes, as lake.ObjectName
// gives them; Path of an object to add is such a name.
type Change struct {
	Add    []lake.Object // verified objects that lie in their place; one already listed is left as it is
	Remove []Name        // objects that others have replaced: no longer listed, kept on disk until forgotten
	Forget []Name        // superseded objects whose files are gone
	At     time.Time     // when Remove happened
}

// Name is an object of a partition.
type Name struct {
	Partition lake.Partition
	Name      string
}

// Hour is the manifest of one hour: its objects (Path is the name below the lake directory) and those replaced.
type Hour struct {
	Objects    []lake.Object
	Superseded []Superseded
}

// Superseded is an object that another one has replaced at a time; a query begun before may still read it.
type Superseded struct {
	Name
	At time.Time
}

// Update is the sole right to change the index. It must be closed.
type Update struct {
	store *Store
	lock  *filelock.Lock
	head  head
}

// Begin waits for the right to change the index, and finishes what a process that died in the middle of a change
// has left.
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

// Close gives the right back.
func (u *Update) Close() error { return u.lock.Release() }

// Hour reads the manifest of one hour; an hour without one is empty.
func (u *Update) Hour(p lake.Partition) (Hour, error) {
	h, err := u.read(p)
	if err != nil {
		return Hour{}, err
	}
	var out Hour
	for _, o := range h.Objects {
		out.Objects = append(out.Objects, o.object(p))
	}
	slices.SortFunc(out.Objects, byPath)
	for _, o := range h.Superseded {
		out.Superseded = append(out.Superseded, Superseded{Name{p, o.Name}, o.At})
	}
	return out, nil
}

// Publish makes the change. When it returns nil the change is visible and durable; when it returns an error the
// change is either not begun or will be finished by the next Begin.
func (u *Update) Publish(c Change) error {
	hours, err := u.apply(c)
	if err != nil || len(hours) == 0 {
		return err
	}
	next := u.head
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

// settle writes the pending hours of the head to their own files. Doing it twice does no harm.
func (u *Update) settle() error {
	raw, err := readHead(u.store.dir)
	if err != nil {
		return err
	}
	if u.head, err = parseHead(u.store.dir, raw); err != nil {
		return err
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

// apply works out the manifests that the change leads to; hours that it does not alter are left out.
func (u *Update) apply(c Change) ([]hour, error) {
	changes := byHour(c)
	partitions := make([]lake.Partition, 0, len(changes))
	for p := range changes {
		partitions = append(partitions, p)
	}
	slices.Sort(partitions)
	var altered []hour
	for _, p := range partitions {
		h, err := u.read(p)
		if err != nil {
			return nil, err
		}
		yes, err := h.change(changes[p])
		if err != nil {
			return nil, fmt.Errorf("change manifest %s: %w", hourPath(u.store.dir, p), err)
		}
		if yes {
			altered = append(altered, h)
		}
	}
	return altered, nil
}

// byHour cuts a change into one per hour.
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

// change alters the manifest and says whether that made a difference. Removing an object that is not listed is an
// error: its rows would be counted twice, or lost.
func (h *hour) change(c Change) (altered bool, err error) {
	for _, o := range c.Add {
		if h.lists(o.Path) {
			continue
		}
		h.Objects = append(h.Objects, object{Name: o.Path, Rows: o.Rows, Bytes: o.Bytes, MinTsMs: o.MinTsMs, MaxTsMs: o.MaxTsMs, ColumnBytes: o.ColumnBytes})
		altered = true
	}
	for _, n := range c.Remove {
		i := slices.IndexFunc(h.Objects, func(o object) bool { return o.Name == n.Name })
		if i < 0 {
			return false, fmt.Errorf("object %s is not listed", n.Name)
		}
		h.Objects = slices.Delete(h.Objects, i, i+1)
		h.Superseded = append(h.Superseded, superseded{Name: n.Name, At: c.At.UTC()})
		altered = true
	}
	before := len(h.Superseded)
	h.Superseded = slices.DeleteFunc(h.Superseded, func(s superseded) bool {
		return slices.ContainsFunc(c.Forget, func(n Name) bool { return n.Name == s.Name })
	})
	return altered || len(h.Superseded) < before, nil
}

// lists tells whether an object is or was part of the hour.
func (h *hour) lists(name string) bool {
	return slices.ContainsFunc(h.Objects, func(o object) bool { return o.Name == name }) ||
		slices.ContainsFunc(h.Superseded, func(s superseded) bool { return s.Name == name })
}

// read reads an hour; one without manifest is empty.
func (u *Update) read(p lake.Partition) (hour, error) {
	h, err := readHour(u.store.dir, p)
	if errors.Is(err, fs.ErrNotExist) {
		return hour{Version: version, Hour: hourName(p)}, nil
	}
	return h, err
}

// extentAfter is the extent of the lake once the hours are replaced. Rows are counted on; the ends come from the
// first and the last hour that hold anything.
func (u *Update) extentAfter(replaced []hour) (lake.Extent, error) {
	after := map[lake.Partition]hour{}
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
	read := func(p lake.Partition) (hour, error) {
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

// firstFilled is the first hour of the sequence that has objects.
func firstFilled(hours func(func(int, lake.Partition) bool), read func(lake.Partition) (hour, error)) (hour, bool, error) {
	for _, p := range hours {
		h, err := read(p)
		if err != nil {
			return hour{}, false, err
		}
		if len(h.Objects) > 0 {
			return h, true, nil
		}
	}
	return hour{}, false, nil
}

func (h hour) rows() int64 {
	var n int64
	for _, o := range h.Objects {
		n += o.Rows
	}
	return n
}

// appendRecent notes a change, and forgets the oldest when there are too many hours to remember. The newest is
// dropped too when it alone is too long: readers then read everything again.
func appendRecent(list []recent, sequence int64, hours []hour) []recent {
	names := make([]string, len(hours))
	for i, h := range hours {
		names[i] = h.Hour
	}
	list = append(slices.Clone(list), recent{Sequence: sequence, Hours: names})
	total := 0
	for i, r := range slices.Backward(list) {
		if total += len(r.Hours); total > maxRecent {
			return list[i+1:]
		}
	}
	return list
}

func (u *Update) writeHead(h head) error {
	if err := replaceJSON(headPath(u.store.dir), h); err != nil {
		return err
	}
	u.head = h
	return SyncDir(hoursDir(u.store.dir))
}

// replaceJSON replaces a file by rename: readers see the old one or the new one. The directory is left to the
// caller to sync. Only one process at a time may do it: the one that holds the lock.
func replaceJSON(path string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write manifest %s: %w", path, err)
	}
	inFlight := path + ".tmp"
	f, err := os.Create(inFlight)
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
	if err := os.Rename(inFlight, path); err != nil {
		return fmt.Errorf("replace manifest: %w", err)
	}
	return nil
}
