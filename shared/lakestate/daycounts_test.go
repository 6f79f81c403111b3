package lakestate_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// namesOnly is a bucket of objects without content. It counts the requests of listings, as S3 answers them.
type namesOnly struct {
	blob.Store
	objects  []blob.Info // by name
	requests int
}

func (n *namesOnly) put(name string, bytes int64) {
	i, _ := slices.BinarySearchFunc(n.objects, name, byName)
	n.objects = slices.Insert(n.objects, i, blob.Info{Name: name, Size: bytes, ETag: fmt.Sprint(bytes)})
}

func byName(info blob.Info, name string) int { return strings.Compare(info.Name, name) }

func (n *namesOnly) List(_ context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		i, _ := slices.BinarySearchFunc(n.objects, max(prefix, after), byName)
		for listed, info := range n.objects[i:] {
			if listed%1000 == 0 {
				n.requests++
			}
			if !strings.HasPrefix(info.Name, prefix) || !yield(info, nil) {
				return
			}
		}
	}
}

// largeLake is a lake of a year with seven objects in each hour, of which the newest hours are fresh.
type largeLake struct {
	t     *testing.T
	names *namesOnly
	table lakestate.Table
	state lakestate.State
	first lake.Day
}

const (
	largeDays = 365
	perHour   = 7
)

func newLargeLake(t *testing.T) *largeLake {
	l := &largeLake{t: t, names: &namesOnly{}, table: lakestate.Over(&tabletest.Memory{}), first: 20_000}
	begin, end := l.first.First(), (l.first + largeDays).First()
	l.state = lakestate.State{
		Watermark: end - 3, Version: 5000,
		Extent: lake.Extent{MinTsMs: begin.Start(), MaxTsMs: end.Start() - 1, Rows: 1},
	}
	for hour := begin; hour < end; hour++ {
		for i := range perHour {
			name := lake.CompactName(hour, fmt.Sprintf("%016x", i))
			if hour >= l.state.Watermark {
				name = lake.ObjectName(hour, "source", i)
			}
			l.names.objects = append(l.names.objects, blob.Info{Name: "lake/" + name, Size: 100, ETag: "100"})
		}
	}
	l.state.Days.SetAll(l.state.Version)
	_, err := lakestate.Update(t.Context(), l.table, func(s *lakestate.State) bool { *s = l.state; return true }, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// count saves the count of each day before that of the watermark, as compaction does.
func (l *largeLake) count() {
	l.t.Helper()
	first, last := l.first, l.state.Watermark.Day()-1
	before, err := lakestate.ReadDayCounts(l.t.Context(), l.table, first, last)
	if err != nil {
		l.t.Fatal(err)
	}
	for count, err := range lakestate.NewListing(l.names).Days(l.t.Context(), first, last, nil) {
		if err == nil {
			count.Version = l.state.Version
			err = lakestate.SaveDayCount(l.t.Context(), l.table, noon, before[count.Day], count)
		}
		if err != nil {
			l.t.Fatal(err)
		}
	}
}

// change adds an object to a day.
func (l *largeLake) change(day lake.Day) {
	l.names.put("lake/"+lake.CompactName(day.First()+5, fmt.Sprint("late", l.state.Version)), 40)
	l.state.Changed(day)
}

// sizes returns the sums of the sizes of hours, or false if there are too many objects, and checks them.
func (l *largeLake) sizes(from, to lake.Partition) (all engine.Sizes, known bool) {
	l.t.Helper()
	l.names.requests = 0
	sizes := lakestate.NewSizes(l.table, lakestate.NewListing(l.names))
	hours, known, err := sizes.Sizes(l.t.Context(), l.state.OfEngines(), from, to)
	if err != nil {
		l.t.Fatal(err)
	}
	want := map[lake.Partition]engine.Sizes{}
	for _, info := range l.names.objects {
		hour, _ := lakestate.HourOf(info.Name)
		isFresh := strings.HasPrefix(info.Name, "lake/fresh/")
		if from <= hour && hour <= to && isFresh == (hour >= l.state.Watermark) {
			want[hour] = engine.Sizes{Objects: want[hour].Objects + 1, Bytes: want[hour].Bytes + info.Size}
		}
	}
	for hour, sizes := range hours {
		all.Objects += sizes.Objects
		all.Bytes += sizes.Bytes
		if want[hour] != sizes {
			l.t.Errorf("hour %s has %+v instead of %+v", hour, sizes, want[hour])
		}
	}
	if known && len(hours) != len(want) {
		l.t.Errorf("%d hours have objects instead of %d", len(hours), len(want))
	}
	return all, known
}

// TestLargeLake: the objects of a lake with more than 60,000 of them are counted with few requests.
func TestLargeLake(t *testing.T) {
	l := newLargeLake(t)
	begin, end := l.first.First(), (l.first+largeDays).First()-1
	if _, known := l.sizes(begin, end); known {
		t.Error("too many objects were listed")
	}
	l.count()
	objects, bytes := largeDays*24*perHour, int64(largeDays*24*perHour*100)
	expect := func(t *testing.T, from, to lake.Partition, objects int, bytes int64, requests int) {
		t.Helper()
		all, known := l.sizes(from, to)
		if !known || all.Objects != objects || all.Bytes != bytes || l.names.requests > requests {
			t.Errorf("%+v, %v, with %d requests", all, known, l.names.requests)
		}
	}
	t.Run("a year", func(t *testing.T) { expect(t, begin, end, objects, bytes, 3) })
	t.Run("a period that cuts days", func(t *testing.T) {
		expect(t, begin+5, end-50, objects-55*perHour, bytes-55*perHour*100, 3)
	})
	t.Run("a few days are listed without counts", func(t *testing.T) { expect(t, begin, begin+71, 504, 50_400, 1) })
	t.Run("days that have changed are listed", func(t *testing.T) {
		l.change(l.first + 100)
		l.change(l.first + 101)
		l.change(l.first + 200)
		l.change(l.first + largeDays - 1)
		objects, bytes = objects+4, bytes+160
		expect(t, begin, end, objects, bytes, 5)
	})
	t.Run("days that the bucket has removed at the beginning are missing", func(t *testing.T) {
		n := 30*24*perHour + 20 // the last of these days has only a part of its objects
		l.names.objects = slices.Delete(l.names.objects, 0, n)
		objects, bytes = objects-n, bytes-int64(n)*100
		expect(t, begin, end, objects, bytes, 5)
	})
	t.Run("the status", func(t *testing.T) {
		_, err := lakestate.Update(t.Context(), l.table, func(s *lakestate.State) bool { *s = l.state; return true }, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		l.names.requests = 0
		got, err := lakestate.NewOverview(l.table, lakestate.NewListing(l.names)).Status(t.Context())
		if err != nil || got.Objects == nil || *got.Objects != objects || *got.Bytes != bytes || l.names.requests > 6 {
			t.Errorf("%+v, %v, with %d requests", got, err, l.names.requests)
		}
	})
	t.Run("the estimate of a year", func(t *testing.T) {
		e, err := athena.New(athena.Config{
			Client: noAthena{}, States: lakestate.NewStates(l.table, time.Now), Workgroup: "w", Database: "d", Now: time.Now,
			Sizes: lakestate.NewSizes(l.table, lakestate.NewListing(l.names)),
		})
		if err != nil {
			t.Fatal(err)
		}
		period := fmt.Sprintf("timestamp between %s and %s", l.first, l.first+largeDays)
		q, err := query.Bind(filter.ParseQueryString(period), query.Stats{})
		if err != nil {
			t.Fatal(err)
		}
		l.names.requests = 0
		got, err := e.Estimate(t.Context(), q)
		if err != nil || got.Objects == nil || *got.Objects != objects || got.Bytes.High < bytes || l.names.requests > 5 {
			t.Errorf("%+v, %v, with %d requests", got, err, l.names.requests)
		}
	})
	t.Run("no count of before is used after a change of any day", func(t *testing.T) {
		l.state.ChangedAll()
		if _, known := l.sizes(begin, end); known {
			t.Error("the objects are known")
		}
		l.count()
		expect(t, begin, end, objects, bytes, 4)
	})
}

// noAthena is a client that is not asked.
type noAthena struct{ athena.Client }

// TestCountsOfDaysThatChange: whatever changes, and whenever days are counted, no count is used that is wrong.
func TestCountsOfDaysThatChange(t *testing.T) {
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 1))
		l := newLargeLake(t)
		l.names.objects = slices.DeleteFunc(l.names.objects, func(blob.Info) bool { return random.IntN(perHour) > 0 })
		begin, end := l.first.First(), (l.first+largeDays).First()-1
		for range 30 {
			switch random.IntN(8) {
			case 0:
				l.count()
			case 1:
				l.state.ChangedAll()
			default:
				l.change(l.first + lake.Day(random.IntN(largeDays)))
			}
			from := begin + lake.Partition(random.IntN(int(end-begin)))
			to := from + lake.Partition(random.IntN(int(end-from+1)))
			if _, known := l.sizes(from, to); !known {
				t.Errorf("seed %d: too many objects", seed)
			}
		}
	}
}

// TestCountThatCannotBeDecoded: an item that cannot be decoded is replaced.
func TestCountThatCannotBeDecoded(t *testing.T) {
	l := newLargeLake(t)
	key := lakestate.Key{Partition: "counts", Sort: (l.first + 7).String()}
	if err := l.table.Write(t.Context(), lakestate.Change{Key: key, Body: []byte(`{"objects":[1]}`)}); err != nil {
		t.Fatal(err)
	}
	l.count()
	if _, known := l.sizes(l.first.First(), l.state.Watermark+2); !known || l.names.requests > 3 {
		t.Errorf("%v, with %d requests", known, l.names.requests)
	}
}

func TestListed(t *testing.T) {
	table := lakestate.Over(&tabletest.Memory{})
	for _, want := range []lakestate.Listed{{}, {At: noon, Version: 7}, {At: noon.Add(time.Hour), Version: 9}} {
		if !want.At.IsZero() {
			if err := lakestate.SaveListed(t.Context(), table, want); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := lakestate.ReadListed(t.Context(), table); err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
	}
}
