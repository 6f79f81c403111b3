package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/ingest/datadir/manifest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/rollup/rollupfile"
)

// yearMs is the goal of each question about the year, in milliseconds.
const yearMs = 300

const (
	daysOfWeek = 7
	weekLength = daysOfWeek * 24 * time.Hour
)

// year is a folder whose index and rollups say that the last full days but the newest were repeated week after week. It
// has no records: an answer that needs any is wrong, or an error.
type year struct {
	dir     string
	rollups string // the name of the folder with the rollups
	weeks   int
	week    []lake.Object // that is repeated
	start   int64         // of the first of the repeated days, in Unix seconds
}

// measureYear asks about the year. The expected answers follow from those about the week that is repeated.
func (w *WeekReport) measureYear(ctx context.Context, o Options, full Product, c client) error {
	if full.RollUp == nil || o.Days <= daysOfWeek {
		return nil
	}
	first := Day.Add(-weekLength)
	objects, err := full.Index.Objects(
		ctx, lake.PartitionOf(first.UnixMilli()), lake.PartitionOf(Day.UnixMilli()-1),
	)
	if err != nil {
		return fmt.Errorf("list the objects: %w", err)
	}
	var ofWeek []json.RawMessage
	for _, q := range rolledUpQuestions {
		a, err := c.ask(ctx, newRequest(q.route, period(first, weekLength), q.parameters...))
		if err != nil {
			return err
		}
		ofWeek = append(ofWeek, a.Data)
	}
	return inTemporaryFolder(o, func(temp string) (err error) {
		y := year{temp, full.RollupsFolder, o.Weeks, objects, first.Unix()}
		if err := y.make(ctx, rollupfile.Folder(filepath.Join(fullDir(o), full.RollupsFolder))); err != nil {
			return fmt.Errorf("make the rollups of %d weeks: %w", o.Weeks, err)
		}
		product, err := o.Open(ctx, temp)
		if err != nil {
			return fmt.Errorf("open the rollups of %d weeks: %w", o.Weeks, err)
		}
		defer func() { err = errors.Join(err, product.Close()) }()
		server, err := serve(product.Handler, product.Forget)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Close()) }()
		list, err := askRolledUp(ctx, o, server.client(1).withCompression(), o.yearPeriod(), func(question int, data json.RawMessage) (string, error) {
			want, err := y.repeated(ofWeek[question])
			if err != nil {
				return "", err
			}
			got, err := resultsTimes(data, 1, 0)
			return differenceOf("the year", want, got), err
		})
		w.RolledUp = append(w.RolledUp, list...)
		return err
	})
}

func (o Options) yearPeriod() rolledUpPeriod {
	length := time.Duration(o.Weeks) * weekLength
	return rolledUpPeriod{
		fmt.Sprintf("%d days, rolled up, a week repeated", o.Weeks*daysOfWeek),
		period(time.Unix(yearEnd(), 0).UTC().Add(-length), length), yearMs, false,
	}
}

// yearEnd is the end of the last week of the year in Unix seconds.
func yearEnd() int64 { return rollup.WeekOf(Day.Unix()) }

// shift returns the seconds from a day that is repeated to the same day of a week of the year.
func (y year) shift(week int) int64 {
	return yearEnd() - int64(y.weeks-week)*rollup.WeekLength - y.start
}

// make writes the index and the rollups of the year: the figures of each day, and the lists of each week. from has the
// rollups of the days that are repeated.
func (y year) make(ctx context.Context, from rollupfile.Folder) error {
	to := rollupfile.Folder(filepath.Join(y.dir, y.rollups))
	if err := errors.Join(os.MkdirAll(string(to), 0o700), copyFile(from.HashKeyPath(), to.HashKeyPath())); err != nil {
		return err
	}
	week, lists, err := scan.RollUp(
		ctx, scan.ToRollUp{Start: y.start, Length: rollup.WeekLength, Objects: y.week}, scan.Options{Rollups: scan.NewRollups(from)},
	)
	if err != nil {
		return err
	}
	var days []*rollup.Day
	for i := range int64(daysOfWeek) {
		day, err := readDay(from, y.start+i*rollup.DayLength)
		if err != nil {
			return err
		}
		days = append(days, day)
	}
	var index []lake.Object
	for n := range y.weeks {
		shift := y.shift(n)
		objects := moved(y.week, shift)
		index = append(index, objects...)
		if err := to.Weeks().Write(dated(week, shift, objects), lists); err != nil {
			return err
		}
		byDay := scan.ByDay(objects)
		for _, day := range days {
			if err := to.Write(dated(day, shift, byDay[day.Start+shift]), rollup.Lists{}); err != nil {
				return err
			}
		}
	}
	return y.publish(ctx, index)
}

// publish lists objects in the index.
func (y year) publish(ctx context.Context, objects []lake.Object) error {
	index, err := manifest.Open(filepath.Join(y.dir, "lake"))
	if err != nil {
		return err
	}
	update, err := index.Begin(ctx)
	if err != nil {
		return err
	}
	return errors.Join(update.Publish(manifest.Change{Add: objects}), update.Close())
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}

// readDay reads the figures of a day.
func readDay(from rollupfile.Folder, start int64) (_ *rollup.Day, err error) {
	file, err := os.Open(from.Path(start, rollup.Subset{}))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return rollup.Read(file, start)
}

// moved returns the objects as if their records were so many seconds later, in the order of their paths, which are
// names.
func moved(objects []lake.Object, seconds int64) []lake.Object {
	list := make([]lake.Object, len(objects))
	for i, o := range objects {
		o.Partition += lake.Partition(seconds / rollup.Hour)
		o.Path = lake.CompactName(o.Partition, strings.TrimSuffix(filepath.Base(o.Path), filepath.Ext(o.Path)))
		o.MinTsMs, o.MaxTsMs = o.MinTsMs+1000*seconds, o.MaxTsMs+1000*seconds
		list[i] = o
	}
	slices.SortFunc(list, func(a, b lake.Object) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// dated returns a rollup of a day or a week as if its records were so many seconds later, in these objects.
func dated(of *rollup.Day, seconds int64, objects []lake.Object) *rollup.Day {
	d := *of
	d.Start += seconds
	d.Objects = make([]rollup.Object, len(objects))
	for i, o := range objects { // of moved
		d.Objects[i] = rollup.ObjectOf(o)
	}
	d.Hosts = slices.Clone(of.Hosts)
	for i := range d.Hosts {
		d.Hosts[i].Hour += seconds
	}
	d.Segments = slices.Clone(of.Segments)
	for i := range d.Segments {
		d.Segments[i].Start += seconds
	}
	return &d
}

// repeated returns the results about the year, given those about the week.
func (y year) repeated(ofWeek json.RawMessage) (all []string, _ error) {
	if !strings.Contains(string(ofWeek), segmentKey) {
		return resultsTimes(ofWeek, y.weeks, 0)
	}
	for n := range y.weeks {
		list, err := resultsTimes(ofWeek, 1, y.shift(n))
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// segmentKey is the key of the start of a segment in a result.
const segmentKey = "time_period"

// resultsTimes returns the results of an answer as texts, as if each request had occurred so many times, and so many
// seconds later. Averages are rounded.
func resultsTimes(data json.RawMessage, times int, seconds int64) (texts []string, _ error) {
	list, err := results[map[string]any](data)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		delete(r, "timeperiod_string") // which is the segment, too
		text, err := json.Marshal(figureTimes("", r, float64(times), float64(seconds)))
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(text))
	}
	return texts, nil
}

// figureTimes is resultsTimes for the value of a key of a result.
func figureTimes(key string, value any, times, seconds float64) any {
	switch v := value.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = figureTimes(key, value, times, seconds)
		}
	case []any:
		for i := range v {
			v[i] = figureTimes(key, v[i], times, seconds)
		}
	case float64:
		switch {
		case key == segmentKey:
			return v + seconds
		case strings.HasPrefix(key, "num_of_"), strings.HasPrefix(key, "sum_of_"):
			return v * times
		case strings.HasPrefix(key, "avg_"):
			return fmt.Sprintf("%.9g", v)
		}
	}
	return value
}
