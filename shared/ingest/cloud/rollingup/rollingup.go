// Package rollingup writes the rollups of the days of a lake in a bucket. Compactions call it when they have merged all
// hours that are due.
package rollingup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine"
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
	bytesPerSecond = 12 << 20
	// downloads is the number of objects that are downloaded at the same time.
	downloads = 8
)

// Maker writes the rollups of a lake.
type Maker struct {
	Lake    blob.Store
	Table   lakestate.Table
	Scratch string       // a local folder for the objects of a day
	Counted query.Counts // the counts of hosts that rollups have for each minute
	Memory  int64        // bytes for what a rollup keeps while it is made; 0: those of a scan
	Most    int64        // bytes of the objects of a day, more are not rolled up; 0: DefaultMost
	Now     func() time.Time
}

// Report is the result of Make.
type Report struct {
	Days       []lake.Day // whose rollups are new
	Refused    []lake.Day // that cannot be rolled up as they are
	Unfinished bool
}

// Make writes the rollups of days that lack one or have changed, the newest day first, and removes those that nobody needs. A
// day is rolled up when all of its hours are merged and a later day has records. Nothing depends on rollups. So Make stops
// before the deadline of the context, and several calls at the same time may write the same.
func (m *Maker) Make(ctx context.Context) (report Report, _ error) {
	stop := deadline.Stop(ctx, deadline.DefaultReserve, m.Now())
	s, _, err := lakestate.Load(ctx, m.Table)
	if err != nil || s.Extent.Rows == 0 {
		return report, err
	}
	known, err := rollupblob.Days(ctx, m.Lake)
	if err != nil {
		return report, err
	}
	first := lake.PartitionOf(s.Extent.MinTsMs).Day()
	if names := rollupblob.Superseded(known, first); len(names) > 0 {
		if err := m.Lake.Delete(ctx, names...); err != nil {
			return report, fmt.Errorf("remove rollups: %w", err)
		}
	}
	days, err := m.missing(ctx, s, first, known)
	if err != nil || len(days) == 0 {
		return report, err
	}
	key, err := rollupblob.MakeHashKey(ctx, m.Lake)
	if err != nil {
		return report, err
	}
	o := scan.Options{Rollups: scan.NewRemoteRollups(key), Memory: m.Memory}
	for _, day := range slices.Backward(slices.Sorted(maps.Keys(days))) {
		if !m.fits(stop, days[day]) {
			report.Unfinished = true
			return report, nil
		}
		written, err := m.rollUp(ctx, o, day, versionOf(s, day), days[day])
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

// versionOf returns the version of a day in a state.
func versionOf(s lakestate.State, day lake.Day) int64 {
	if s.Days.IsZero() {
		return s.Version
	}
	return s.Days.Of(day.First(), day.First())
}

// missing returns the objects of the days that must be rolled up. A day that does not have a version of its own has not
// changed for long, so its rollup is of its objects, unless it is not: then nobody uses it.
func (m *Maker) missing(
	ctx context.Context, s lakestate.State, first lake.Day, known map[lake.Day]rollupblob.Stored,
) (map[lake.Day][]blob.Info, error) {
	end := min(lake.PartitionOf(s.Extent.MaxTsMs).Day(), s.Watermark.Day()) // the first day that is not rolled up
	days, from, to := map[lake.Day][]blob.Info{}, end, first
	for day := first; day < end; day++ {
		version, changed := s.Days.Latest[day]
		if of, rolledUp := known[day]; !rolledUp || changed && of.Version < version {
			days[day], from, to = nil, min(from, day), day
		}
	}
	if len(days) == 0 {
		return nil, nil
	}
	listing := lakestate.NewListing(m.Lake)
	for info, err := range listing.Objects(ctx, s.Watermark, from.First(), (to+1).First()-1) {
		if err != nil {
			return nil, fmt.Errorf("list the objects of days: %w", err)
		}
		hour, ok := lakestate.HourOf(info.Name)
		if _, lacks := days[hour.Day()]; ok && lacks && bucket.IsObject(info) {
			days[hour.Day()] = append(days[hour.Day()], info)
		}
	}
	maps.DeleteFunc(days, func(_ lake.Day, objects []blob.Info) bool { return len(objects) == 0 })
	return days, nil
}

func sizeOf(objects []blob.Info) (bytes int64) {
	for _, o := range objects {
		bytes += o.Size
	}
	return bytes
}

func (m *Maker) most() int64 {
	if m.Most == 0 {
		return DefaultMost
	}
	return m.Most
}

// fits reports whether there is time to roll up objects.
func (m *Maker) fits(stop time.Time, objects []blob.Info) bool {
	needs := time.Duration(min(sizeOf(objects), m.most())/bytesPerSecond) * time.Second
	return stop.IsZero() || m.Now().Add(needs).Before(stop)
}

// rollUp writes the rollup of a day, or that there is none because the objects are too many, or cannot all be read.
func (m *Maker) rollUp(
	ctx context.Context, o scan.Options, day lake.Day, version int64, infos []blob.Info,
) (written bool, err error) {
	if sizeOf(infos) > m.most() {
		return false, rollupblob.WriteNone(ctx, m.Lake, version, day)
	}
	dir, err := os.MkdirTemp(m.Scratch, "rollup-")
	if err != nil {
		return false, fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	objects, err := m.download(ctx, dir, infos)
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil // a compaction has merged the day anew, or has set an object aside
	}
	if err != nil {
		return false, err
	}
	rolledUp, lists, err := scan.RollUp(ctx, day.First().Start()/1000, rollup.DayLength, objects, m.Counted, o)
	switch {
	case errors.Is(err, scan.ErrUnsupported) || errors.As(err, new(*engine.ObjectError)):
		return false, rollupblob.WriteNone(ctx, m.Lake, version, day)
	case err != nil:
		return false, err
	}
	return true, rollupblob.Write(ctx, m.Lake, version, rolledUp, lists)
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
