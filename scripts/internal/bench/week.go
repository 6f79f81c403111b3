package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// weekReports is how often the report about the week is made. The fastest counts, so the files are in memory.
const weekReports = 2

// The goals of the report about the week.
const (
	weekSeconds = 5
	weekMemory  = 300e6
)

// The goals of the timeline of the week, in hours. The first scan took 2.25 s for ten such days.
const (
	firstTimelineDayMs = 225
	timelineShare      = 0.35
	timelineMemory     = 100e6
)

// WeekReport holds the figures of the report about the week, from opening the data until the page is written.
type WeekReport struct {
	Records     int64   `json:"records"`
	Bytes       int64   `json:"bytes"` // of the page
	Seconds     float64 `json:"seconds"`
	MemoryBytes int64   `json:"memory_bytes,omitempty"`

	Days                int   `json:"days"`
	Timeline            Times `json:"timeline"` // in hours
	TimelineMemoryBytes int64 `json:"timeline_memory_bytes,omitempty"`
}

func weekDir(o Options) string { return filepath.Join(o.Dir, "week") }

// weekStart is the start of the week, which ends with the day.
func (o Options) weekStart() time.Time { return Day.AddDate(0, 0, 1-o.Week) }

// makeWeek makes the data of the week.
func makeWeek(ctx context.Context, o Options, temp string, made *Import) error {
	records := o.Week * o.Records // each day has as many as the day
	if err := makeData(ctx, o, temp, weekDir(o), records, o.weekStart()); err != nil {
		return err
	}
	made.Week = int64(records)
	return nil
}

// reportWeek measures the report about the week.
func reportWeek(ctx context.Context, o Options, made Import) (WeekReport, error) {
	result := WeekReport{Records: made.Week, Days: o.Week}
	product, err := o.Open(ctx, weekDir(o))
	if err != nil {
		return result, fmt.Errorf("open the data: %w", err)
	}
	err = result.timeWeek(ctx, o, product)
	if err := errors.Join(err, product.Close()); err != nil || product.Report == nil {
		return result, err
	}
	memory := watchMemory()
	for i := range weekReports {
		var page lineCounter
		page.show = func(int64) error { return nil }
		began := time.Now()
		if err := product.Report(ctx, period(o.weekStart(), Day.AddDate(0, 0, 1).Sub(o.weekStart())), &page); err != nil {
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

// timeWeek measures the timeline of the week.
func (w *WeekReport) timeWeek(ctx context.Context, o Options, product Product) (err error) {
	server, err := serve(product.Handler)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	c := server.client(1)
	whole := period(o.weekStart(), Day.AddDate(0, 0, 1).Sub(o.weekStart()))
	r := newRequest("timeline", whole, "segment", strconv.Itoa(hour))
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
	return err
}

func (r Report) weekRows() []Row { return slices.Concat(r.weekTimelineRows(), r.weekReportRows()) }

func (r Report) weekTimelineRows() []Row {
	limit := timelineShare * firstTimelineDayMs * float64(r.Week.Days)
	rows := []Row{{
		What: "timeline, exact distincts, hours of a week of such days",
		Ours: r.Week.Timeline.String(),
		Goal: fmt.Sprintf("≤ %.0f ms, %g of the first scan", limit, timelineShare),
		Met:  r.met(r.Week.Timeline.Min <= limit),
	}}
	if r.Week.TimelineMemoryBytes > 0 {
		rows = append(rows, Row{
			What: "memory for one answer: timeline, hours of a week of such days",
			Ours: fmt.Sprintf("%.0f MB", mb(r.Week.TimelineMemoryBytes)),
			Goal: fmt.Sprintf("≤ %.0f MB", timelineMemory/1e6),
			Met:  r.met(r.Week.TimelineMemoryBytes <= timelineMemory),
		})
	}
	return rows
}

func (r Report) weekReportRows() []Row {
	if r.Week.Seconds == 0 {
		return nil
	}
	rows := []Row{{
		What: "report about a week of such days",
		Ours: fmt.Sprintf("%.1f s", r.Week.Seconds),
		Goal: fmt.Sprintf("< %d s", weekSeconds),
		Met:  r.met(r.Week.Seconds < weekSeconds),
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
