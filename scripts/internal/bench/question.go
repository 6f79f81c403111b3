package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// question is one query, as a request to the API and as SQL.
type question struct {
	name    string
	what    string // for people
	long    bool   // about the long period, not about the day
	request request
	sql     []statement // for plain DuckDB; each can use the result of the one before
	naive   []statement // the usual way to write it, if it is worth a row
	// facts returns the part of the API's results that the SQL also returns, one text per result. Both sides must
	// agree. The SQL returns its texts in the column fact.
	facts func(data json.RawMessage) ([]string, error)
	goal  goal
}

// goal has the limits for the figures on the reference machine.
type goal struct {
	ms     float64 // maximum of the product's time; unused if there is a ratio
	ratio  float64 // maximum of that time divided by the time of plain DuckDB; 0: no goal
	mb     float64 // maximum size of the columns that are read; 0: no goal
	naive  float64 // minimum speed-up over the naive SQL; 0: no goal
	memory float64 // maximum of the memory that the product takes for one answer, in MB; 0: no goal
}

// Segment lengths in seconds.
const (
	fiveMinutes = 300
	hour        = 3600
)

// secondPage returns the request that continues the first page of the newest records of the long period.
func secondPage(ctx context.Context, o Options, c client) (request, error) {
	r := newRequest("logs", o.longPeriod(), "limit", "200")
	a, err := c.ask(ctx, r)
	if err != nil {
		return request{}, err
	}
	if a.Meta.Next == "" {
		return request{}, errors.New("the newest records have no next page")
	}
	r.parameters.Set("cursor", a.Meta.Next)
	return r, nil
}

// questions returns the queries of the benchmark about the records of the day and of the long period. The needle is a
// record of the day, and second a request for a second page of the long period.
func questions(o Options, day, long stored, n needle, second request) []question {
	return append(questionsOfDay(day, n), questionsOfLong(o, long, second)...)
}

func questionsOfDay(s stored, n needle) []question {
	nextDay := Day.Add(24 * time.Hour).UnixMilli()
	all := s.paths(lake.PartitionOf(Day.UnixMilli()), lake.PartitionOf(nextDay))
	inside := lake.PartitionOf(n.tsMs)
	start := time.UnixMilli(inside.Start()).UTC()
	day := table{paths: all, fromMs: Day.UnixMilli(), toMs: nextDay - 1}
	inHour := table{
		paths: s.paths(inside, inside), fromMs: inside.Start(), toMs: inside.Start() + time.Hour.Milliseconds() - 1,
	}
	wholeDay := wholeDay()
	lastHour := s.objects[len(s.objects)-1].Partition
	last := table{paths: s.paths(lastHour, lastHour), fromMs: lastHour.Start(), toMs: (lastHour + 1).Start() - 1}
	byID := fmt.Sprintf(", request_id=%q", n.id)
	segment := strconv.Itoa(fiveMinutes)
	return []question{
		{
			name: "topx", what: "topx, 12 labels, 20 aggregates", goal: goal{ratio: 0.25, mb: 36, naive: 4},
			request: newRequest("topx", wholeDay, "limit", "10"),
			sql:     topxTwoPhases(day), naive: topxNaive(day), facts: topxFacts,
		},
		{
			name: "facets", what: "facets, ten fields", goal: goal{ratio: 0.5, mb: 33},
			request: newRequest("facets", wholeDay),
			sql:     facetsSQL(day, 10), facts: facetsFacts,
		},
		{
			name: "diff", what: "diff, blocked against the rest", goal: goal{ratio: 0.6, mb: 36},
			request: newRequest("diff", wholeDay, "select", "blocked is true"),
			sql:     diffSQL(day, 20), facts: diffFacts,
		},
		{
			name: "histogram_status", what: "histogram by status", goal: goal{ratio: 0.5, mb: 2},
			request: newRequest("histogram", wholeDay, "segment", segment, "by", "status"),
			sql:     histogramSQL(day, fiveMinutes, "status", 5), facts: histogramFacts,
		},
		{
			name: "histogram_country", what: "histogram by country", goal: goal{ratio: 0.5, mb: 2},
			request: newRequest("histogram", wholeDay, "segment", segment, "by", "country"),
			sql:     histogramSQL(day, fiveMinutes, "country", 5), facts: histogramFacts,
		},
		{
			name: "values", what: "values, paths of the last hour", goal: goal{ms: 30, mb: 0.1},
			request: newRequest("values", period(time.UnixMilli(last.fromMs).UTC(), time.Hour),
				"field", "path", "limit", "50"),
			sql: valuesSQL(last, "path", 50), facts: valuesFacts,
		},
		{
			name: "timeline", what: "timeline, exact distincts", goal: goal{ms: 170, mb: 16},
			request: newRequest("timeline", wholeDay, "segment", segment),
			sql:     timelineSQL(day, fiveMinutes), facts: timelineFacts,
		},
		{
			name: "stats", what: "stats", goal: goal{ms: 60, mb: 9},
			request: newRequest("stats", wholeDay, "segment", segment),
			sql:     statsSQL(day, fiveMinutes), facts: statsFacts,
		},
		{
			name: "logs", what: "logs, newest 1,000 of status>=500", goal: goal{ms: 300},
			request: newRequest("logs", wholeDay+", status>=500", "limit", "1000"),
			sql:     logsSQL(day, "status >= 500", 1000),
			naive:   logsNaive(day, "status >= 500", 1000), facts: logsFacts,
		},
		{
			name: "needle", what: "needle (request_id), 24 h", goal: goal{ms: 60},
			request: newRequest("logs", wholeDay+byID),
			sql:     needleSQL(day, n.id), facts: logsFacts,
		},
		{
			name: "needle_hour", what: "needle, hour known", goal: goal{ms: 35},
			request: newRequest("logs", period(start, time.Hour)+byID),
			sql:     needleSQL(inHour, n.id), facts: logsFacts,
		},
	}
}

// questionsOfLong returns the queries about the long period, which has many objects.
func questionsOfLong(o Options, s stored, second request) []question {
	from, end := o.longStart().UnixMilli(), Day.Add(24*time.Hour).UnixMilli()
	whole := table{paths: s.paths(lake.PartitionOf(from), lake.PartitionOf(end)), fromMs: from, toMs: end - 1}
	days := fmt.Sprintf("%d days", o.Days)
	return []question{
		{
			name: "timeline_long", what: "timeline, exact distincts, hours of " + days, long: true,
			goal:    goal{ratio: 0.35, mb: 22, memory: 100},
			request: newRequest("timeline", o.longPeriod(), "segment", strconv.Itoa(hour)),
			sql:     timelineSQL(whole, hour), facts: timelineFacts,
		},
		{
			name: "logs_first", what: "logs, newest 200 of " + days, long: true, goal: goal{ms: 30, mb: 1},
			request: newRequest("logs", o.longPeriod(), "limit", "200"),
			sql:     logsSQL(whole, "true", 200), facts: logsFacts,
		},
		{
			name: "logs_page", what: "logs, second page of 200 of " + days, long: true, goal: goal{ms: 30, mb: 1},
			request: second,
			sql:     logsPageSQL(whole, 200), facts: logsFacts,
		},
		{
			name: "logs_many", what: "logs, newest 200 not Passed of " + days, long: true, goal: goal{ms: 30, mb: 1},
			request: newRequest("logs", o.longPeriod()+`, result!="Passed"`, "limit", "200"),
			sql:     logsSQL(whole, "result is distinct from 'Passed'", 200), facts: logsFacts,
		},
	}
}

// period returns the condition for a period, without its end.
func period(from time.Time, length time.Duration) string {
	const format = "2006-01-02 15:04:05.000"
	return "timestamp between " + from.Format(format) + " and " + from.Add(length-time.Millisecond).Format(format)
}

// needle is the record to search for. Seven tenths of all records are older.
type needle struct {
	id   string
	tsMs int64
}

func findNeedle(ctx context.Context, db *bare, s stored) (needle, error) {
	const text = `select request_id, ts_ms from %s order by ts_ms, line limit 1 offset %d`
	var n needle
	files := fileList(s.paths(s.objects[0].Partition, s.objects[len(s.objects)-1].Partition))
	row := db.db.QueryRowContext(ctx, fmt.Sprintf(text, files, s.rows*7/10))
	if err := row.Scan(&n.id, &n.tsMs); err != nil {
		return needle{}, fmt.Errorf("choose a record to search for: %w", err)
	}
	return n, nil
}
