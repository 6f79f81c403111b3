// Package rollingup writes the rollups of the days of a lake in a bucket, and of its large objects. Compactions call it
// when they have merged all hours that are due.
package rollingup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/ingest/cloud/deadline"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/rollup/rollupblob"
)

const (
	// DefaultMost is the most bytes of the objects of a day that is rolled up: about twelve million records.
	DefaultMost = 2 << 30
	// bytesPerSecond is how many bytes of objects are rolled up in a second, at least.
	bytesPerSecond = 5 << 20
	// downloads is the number of objects that are downloaded at the same time.
	downloads = 8
	// DefaultLarge is the least size of an object that is rolled up by itself: some 80,000 records. Of smaller ones,
	// columns have hardly more bytes than lists.
	DefaultLarge = 12 << 20
	// recent is the number of days whose large objects are rolled up, although a rollup of the day is there or will be,
	// because periods of 24 hours cut two days.
	recent = 2
	// oldest is the number of days whose large objects are rolled up if the days have no rollup, because they are too
	// large.
	oldest = 31
	// newestAge is how old the rollup of the newest day is before it is replaced by one of more hours.
	newestAge = 6 * time.Hour
)

// Maker writes the rollups of a lake.
type Maker struct {
	Lake    blob.Store
	Table   lakestate.Table
	Scratch string       // a local folder for the objects of a day
	Counted query.Counts // the counts of hosts that rollups have for each minute
	Memory  int64        // bytes for what a rollup keeps while it is made; 0: those of a scan
	Most    int64        // bytes of the objects of a day, more are not rolled up; 0: DefaultMost
	Large   int64        // the least bytes of an object that is rolled up by itself; 0: DefaultLarge
	Now     func() time.Time
}

// Report is the result of Make.
type Report struct {
	Days       []lake.Day // whose rollups are new
	Refused    []lake.Day // that cannot be rolled up as they are
	Objects    int        // whose rollups are new
	Unfinished bool
}

// Make writes the rollups of large objects and of days that lack one or have changed, the newest first, and removes
// those that nobody needs. An object is rolled up when its hour is merged, and a day when all of its hours are merged
// and a later day has records. Until then, the hours of a day that are merged are rolled up every newestAge. Nothing
// depends on rollups. So Make stops before the deadline of the context, and several calls at the same time may write
// the same.
func (m *Maker) Make(ctx context.Context) (report Report, _ error) {
	s, _, err := lakestate.Load(ctx, m.Table)
	if err != nil || s.Extent.Rows == 0 {
		return report, err
	}
	known, err := rollupblob.Days(ctx, m.Lake)
	if err != nil {
		return report, err
	}
	w := &work{Maker: m, state: s, rolledUp: known, stop: deadline.Stop(ctx, deadline.DefaultReserve, m.Now())}
	w.first = lake.PartitionOf(s.Extent.MinTsMs).Day()
	w.newest = min(lake.PartitionOf(s.Extent.MaxTsMs).Day(), s.Watermark.Day())
	if names := rollupblob.Superseded(known, w.first); len(names) > 0 {
		if err := m.Lake.Delete(ctx, names...); err != nil {
			return report, fmt.Errorf("remove rollups: %w", err)
		}
	}
	days, err := w.missing(ctx, known)
	if err == nil {
		err = w.addNewest(ctx, known[w.newest], days)
	}
	if err != nil {
		return report, err
	}
	objects, err := w.missingObjects(ctx, known)
	if err != nil || len(days)+len(objects) == 0 {
		return report, err
	}
	if w.key, err = rollupblob.MakeHashKey(ctx, m.Lake); err != nil {
		return report, err
	}
	w.options = scan.Options{Rollups: scan.NewRemoteRollups(w.key), Memory: m.Memory}
	for _, info := range slices.Backward(objects) {
		if !w.fits(info.Size) {
			report.Unfinished = true
			return report, nil
		}
		if err := w.rollUpObject(ctx, info); err != nil {
			return report, fmt.Errorf("roll up %s: %w", info.Name, err)
		}
		report.Objects++
	}
	for _, day := range slices.Backward(slices.Sorted(maps.Keys(days))) {
		if !w.fits(min(sizeOf(days[day]), w.most())) {
			report.Unfinished = true
			return report, nil
		}
		written, err := w.rollUp(ctx, day, days[day])
		switch {
		case err != nil:
			return report, fmt.Errorf("roll up %s: %w", day, err)
		case written:
			report.Days = append(report.Days, day)
		default:
			report.Refused = append(report.Refused, day)
		}
	}
	return report, nil
}

// work is what a call of Make does.
type work struct {
	*Maker
	state   lakestate.State
	first   lake.Day // with records
	newest  lake.Day // with records, or that of the watermark if that is earlier; its hours are not all merged
	stop    time.Time
	options scan.Options

	rolledUp map[lake.Day]rollupblob.Stored // days, before this call
	key      rollup.HashKey
}

// missing returns the objects of the days that must be rolled up. A day that does not have a version of its own has not
// changed for long, so its rollup is of its objects, unless it is not: then nobody uses it.
func (w *work) missing(
	ctx context.Context, known map[lake.Day]rollupblob.Stored,
) (map[lake.Day][]blob.Info, error) {
	filled, err := w.filled(ctx)
	if err != nil {
		return nil, err
	}
	days := map[lake.Day][]blob.Info{}
	for day := range filled {
		version, changed := w.state.Days.Latest[day]
		if of, rolledUp := known[day]; !rolledUp || changed && of.Version < version {
			days[day] = nil
		}
	}
	for first := range days {
		if _, before := days[first-1]; before {
			continue
		}
		next := first + 1
		for _, adjacent := days[next]; adjacent; _, adjacent = days[next] {
			next++
		}
		for info, err := range w.objects(ctx, first.First(), next.First()-1) {
			if err != nil {
				return nil, err
			}
			if hour, ok := lakestate.HourOf(info.Name); ok && bucket.IsObject(info) {
				days[hour.Day()] = append(days[hour.Day()], info)
			}
		}
	}
	maps.DeleteFunc(days, func(_ lake.Day, objects []blob.Info) bool { return len(objects) == 0 })
	return days, nil
}

// addNewest adds the merged objects of the newest day to those of days, if the day must be rolled up. known is its
// rollup.
func (w *work) addNewest(ctx context.Context, known rollupblob.Stored, days map[lake.Day][]blob.Info) error {
	isNew := known.Version == w.versionOf(w.newest) || w.Now().Sub(known.Info.Modified) < newestAge
	if known.Info.Name != "" && (known.Info.Size == 0 || isNew) {
		return nil
	}
	from, to := w.newest.First(), min(w.state.Watermark, (w.newest+1).First())-1
	if from > to {
		return nil
	}
	for info, err := range w.objects(ctx, from, to) {
		if err != nil {
			return err
		}
		if _, ok := lakestate.HourOf(info.Name); ok && bucket.IsObject(info) {
			days[w.newest] = append(days[w.newest], info)
		}
	}
	return nil
}

func (w *work) versionOf(day lake.Day) int64 { return w.state.OfEngines().VersionOfDay(day) }

// filled returns the days before the newest that may have objects. Compaction has counted the objects of the others,
// and there were none, so they need not be listed: one record with a wrong clock may be decades away from the rest.
func (w *work) filled(ctx context.Context) (map[lake.Day]bool, error) {
	counts, err := lakestate.ReadDayCounts(ctx, w.Table, w.first, w.newest-1)
	if err != nil {
		return nil, err
	}
	days := map[lake.Day]bool{}
	for day := range w.state.Days.Latest {
		days[day] = true
	}
	for _, lost := range w.state.Lost { // days with one are not counted
		days[lost.Hour.Day()] = true
	}
	for day, count := range counts {
		if count.Objects() > 0 {
			days[day] = true
		}
	}
	maps.DeleteFunc(days, func(day lake.Day, _ bool) bool { return day < w.first || day >= w.newest })
	return days, nil
}

// objects lists the objects of the hours from…to, both included.
func (w *work) objects(ctx context.Context, from, to lake.Partition) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		for info, err := range lakestate.NewListing(w.Lake).Objects(ctx, w.state.Watermark, from, to) {
			if err != nil {
				err = fmt.Errorf("list the objects of days: %w", err)
			}
			if !yield(info, err) || err != nil {
				return
			}
		}
	}
}

// missingObjects returns the large objects of hours that are merged, and that lack a rollup. The objects of an hour
// never change, so a rollup is of its object, unless it is not: then nobody uses it.
func (w *work) missingObjects(ctx context.Context, known map[lake.Day]rollupblob.Stored) ([]blob.Info, error) {
	first := w.newest - recent + 1
	for day, of := range known {
		if of.Info.Size == 0 && day > w.newest-oldest {
			first = min(first, day)
		}
	}
	from, to := max(w.first, first).First(), min(w.state.Watermark, (w.newest+1).First())-1
	if from > to {
		return nil, nil
	}
	rolledUp, err := rollupblob.Objects(ctx, w.Lake, from, to)
	if err != nil {
		return nil, err
	}
	var missing []blob.Info
	for info, err := range w.objects(ctx, from, to) {
		if err != nil {
			return nil, err
		}
		hour, ok := lakestate.HourOf(info.Name)
		if _, has := rolledUp[rollupblob.OfObject(info.Name)]; !ok || has || info.Size < cmp.Or(w.Large, DefaultLarge) {
			continue
		}
		if of, tried := known[hour.Day()]; w.newest-hour.Day() < recent || tried && of.Info.Size == 0 {
			missing = append(missing, info)
		}
	}
	return missing, nil
}

func sizeOf(objects []blob.Info) (bytes int64) {
	for _, o := range objects {
		bytes += o.Size
	}
	return bytes
}

func (m *Maker) most() int64 { return cmp.Or(m.Most, DefaultMost) }

// fits reports whether there is time to roll up objects with so many bytes.
func (w *work) fits(bytes int64) bool {
	needs := time.Duration(bytes/bytesPerSecond) * time.Second
	return w.stop.IsZero() || w.Now().Add(needs).Before(w.stop)
}

// rollUp writes the rollup of a day, or that there is none because the objects are too many, or cannot all be read.
func (w *work) rollUp(ctx context.Context, day lake.Day, infos []blob.Info) (written bool, _ error) {
	version := w.versionOf(day)
	if sizeOf(infos) > w.most() {
		return false, rollupblob.WriteNone(ctx, w.Lake, version, day)
	}
	err := w.withLocal(ctx, infos, func(dir string, objects []lake.Object) (err error) {
		of := scan.ToRollUp{Start: day.First().Start() / 1000, Length: rollup.DayLength, Objects: objects, Counted: w.Counted}
		o := w.options
		if day < w.newest { // otherwise the rollup is replaced soon
			if o.Rollups, err = w.earlier(ctx, day, dir); err != nil {
				return err
			}
		}
		return scan.RollUpAll(ctx, of, o, func(d *rollup.Day, lists rollup.Lists) error {
			return rollupblob.Write(ctx, w.Lake, version, d, lists)
		})
	})
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return false, nil // a compaction has merged the day anew, or has set an object aside
	case scan.CannotRollUp(err):
		return false, rollupblob.WriteNone(ctx, w.Lake, version, day)
	}
	return err == nil, err
}

// rollUpObject writes the rollup of an object, or that there is none because the object cannot be read.
func (w *work) rollUpObject(ctx context.Context, info blob.Info) error {
	hour, _ := lakestate.HourOf(info.Name) // missingObjects knows that it has one
	err := w.withLocal(ctx, []blob.Info{info}, func(_ string, objects []lake.Object) error {
		of := scan.ToRollUp{Start: hour.Start() / 1000, Length: rollup.Hour, Objects: objects, Counted: w.Counted}
		found, lists, err := scan.RollUp(ctx, of, w.options)
		if err == nil {
			err = rollupblob.WriteObject(ctx, w.Lake, info.Name, found, lists)
		}
		return err
	})
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return nil
	case scan.CannotRollUp(err):
		return rollupblob.WriteObject(ctx, w.Lake, info.Name, nil, rollup.Lists{})
	}
	return err
}

// withLocal calls do with a folder on the local disk and copies of objects there, which it then removes.
func (w *work) withLocal(
	ctx context.Context, infos []blob.Info, do func(dir string, objects []lake.Object) error,
) (err error) {
	dir, err := os.MkdirTemp(w.Scratch, "rollup-")
	if err != nil {
		return fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	objects, err := w.download(ctx, dir, infos)
	if err != nil {
		return err
	}
	return do(dir, objects)
}

// download copies objects to a folder, in which they have the names of the bucket, and reads their times and rows.
func (m *Maker) download(ctx context.Context, dir string, infos []blob.Info) ([]lake.Object, error) {
	objects := make([]lake.Object, len(infos))
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(downloads)
	for i, info := range infos {
		group.Go(func() error {
			file := filepath.Join(dir, filepath.FromSlash(info.Name))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return fmt.Errorf("make scratch directory: %w", err)
			}
			if err := (bucket.Lake{Store: m.Lake}).Download(working, info.Name, file); err != nil {
				return err
			}
			objects[i] = objectIn(file, info.Size)
			return nil
		})
	}
	return objects, group.Wait()
}

// objectIn returns the object in a file. If its footer cannot be read, it has no rows, and scans report the damage.
func objectIn(path string, size int64) lake.Object {
	o := lake.Object{Path: path, Bytes: size}
	file, err := os.Open(path)
	if err != nil {
		return o
	}
	defer func() { _ = file.Close() }()
	footer, err := parquet.OpenColumns(file, size)
	if err != nil {
		return o
	}
	extent := footer.Extent()
	o.MinTsMs, o.MaxTsMs, o.Rows = extent.MinTsMs, extent.MaxTsMs, extent.Rows
	return o
}
