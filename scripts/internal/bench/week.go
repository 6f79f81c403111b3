package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// weekReports is how often the report about the week is made. The fastest counts, so the files are in memory.
const weekReports = 2

// The goals of the report about the week.
const (
	weekSeconds = 1
	weekMemory  = 300e6
)

// The goals of the timeline of the full days, in hours. The first scan took 2.25 s and 512 MB for ten of them.
const (
	firstTimelineDayMs = 225
	timelineShare      = 0.35
	timelineMemory     = 100e6
)

// WeekReport holds the figures of the report about the week, from opening the data until the page is written, and the
// figures of the timeline of all full days.
type WeekReport struct {
	Records     int64   `json:"records"`
	Bytes       int64   `json:"bytes"` // of the page
	Seconds     float64 `json:"seconds"`
	MemoryBytes int64   `json:"memory_bytes,omitempty"`

	Days                int        `json:"days"`
	Growth              []Growth   `json:"growth"`
	Again               []Again    `json:"again"`
	RollUp              Compacted  `json:"roll_up"` // the writing of the rollups
	RolledUp            []RolledUp `json:"rolled_up"`
	Timeline            Times      `json:"timeline"` // in hours
	TimelineMemoryBytes int64      `json:"timeline_memory_bytes,omitempty"`
}

// fullDir is the folder of the full days: the days of the long period, each with as many records as the day.
func fullDir(o Options) string { return filepath.Join(o.Dir, "full") }

// weekStart is the start of the week, which ends before the newest day.
func (o Options) weekStart() time.Time { return Day.AddDate(0, 0, -o.Week) }

// makeFullDays makes the data of the full days.
func makeFullDays(ctx context.Context, o Options, temp string, made *Import) error {
	if err := os.RemoveAll(filepath.Join(o.Dir, "week")); err != nil { // of an earlier version
		return err
	}
	n := o.Days * o.Records
	made.Full = int64(n)
	return makeData(ctx, o, temp, fullDir(o), o.records(n, o.longStart()))
}

// measureFullDays measures questions about the full days. It also measures the report about the week before the last of
// them, after the days of that week are rolled up.
func measureFullDays(ctx context.Context, o Options) (result WeekReport, err error) {
	result = WeekReport{Records: int64(o.Week * o.Records), Days: o.Days}
	product, err := o.Open(ctx, fullDir(o))
	if err != nil {
		return result, fmt.Errorf("open the data: %w", err)
	}
	defer func() { err = errors.Join(err, removeRollups(o, product)) }()
	err = removeRollups(o, product) // of an interrupted benchmark
	if err == nil {
		err = result.timeDays(ctx, o, product)
	}
	if err := errors.Join(err, product.Close()); err != nil || product.Report == nil {
		return result, err
	}
	memory := watchMemory()
	for i := range weekReports {
		var page lineCounter
		page.show = func(int64) error { return nil }
		began := time.Now()
		if err := product.Report(ctx, period(o.weekStart(), Day.Sub(o.weekStart())), &page); err != nil {
			return result, fmt.Errorf("make the report about the week: %w", err)
		}
		took := time.Since(began).Seconds()
		if i == 0 || took < result.Seconds {
			result.Seconds = took
		}
		result.Bytes = page.bytes
	}
	result.MemoryBytes = memory.growth()
	return result, nil
}

// timeDays measures questions about the full days. It leaves their rollups.
func (w *WeekReport) timeDays(ctx context.Context, o Options, product Product) (err error) {
	server, err := serve(product.Handler, product.Forget)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	c := server.client(1)
	r := newRequest("timeline", o.longPeriod(), "segment", strconv.Itoa(hour))
	var took []time.Duration
	for range o.Runs + 1 {
		a, err := c.ask(ctx, r)
		if err != nil {
			return err
		}
		took = append(took, a.took)
	}
	w.Timeline = timesOf(took[1:])
	memory := watchMemory()
	_, err = c.ask(ctx, r)
	w.TimelineMemoryBytes = memory.growth()
	if err != nil {
		return err
	}
	if w.Growth, err = measureGrowth(ctx, o, c); err != nil {
		return err
	}
	if w.Again, err = measureAgain(ctx, o, c); err != nil {
		return err
	}
	if err = w.measureRolledUp(ctx, o, product, c); err != nil {
		return err
	}
	return w.measureYear(ctx, o, product, c)
}

func (r Report) weekRows() []Row { return slices.Concat(r.fullDaysRows(), r.weekReportRows()) }

func (r Report) fullDaysRows() []Row {
	what := fmt.Sprintf("timeline, exact distincts, hours of %d such days", r.Week.Days)
	limit := timelineShare * firstTimelineDayMs * float64(r.Week.Days)
	rows := []Row{{
		What: what,
		Ours: r.Week.Timeline.String(),
		Goal: fmt.Sprintf("≤ %.0f ms, %g of the first scan", limit, timelineShare),
		Met:  r.met(r.Week.Timeline.Min <= limit),
	}}
	if r.Week.TimelineMemoryBytes > 0 {
		rows = append(rows, Row{
			What: "memory for one answer: " + what,
			Ours: fmt.Sprintf("%.0f MB", mb(r.Week.TimelineMemoryBytes)),
			Goal: fmt.Sprintf("≤ %.0f MB", timelineMemory/1e6),
			Met:  r.met(r.Week.TimelineMemoryBytes <= timelineMemory),
		})
	}
	return slices.Concat(rows, r.growthRows(), r.againRows(), r.rolledUpRows())
}

func (r Report) weekReportRows() []Row {
	if r.Week.Seconds == 0 {
		return nil
	}
	rows := []Row{{
		What: "report about a week of such days, rolled up",
		Ours: fmt.Sprintf("%.2f s", r.Week.Seconds),
		Goal: fmt.Sprintf("≤ %d s", weekSeconds),
		Met:  r.met(r.Week.Seconds <= weekSeconds),
	}}
	if r.Week.MemoryBytes > 0 {
		rows = append(rows, Row{
			What: "report about a week of such days, memory",
			Ours: fmt.Sprintf("%.0f MB", mb(r.Week.MemoryBytes)),
			Goal: fmt.Sprintf("< %.0f MB", weekMemory/1e6),
			Met:  r.met(r.Week.MemoryBytes < weekMemory),
		})
	}
	return rows
}
