package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// question is one question, asked in two ways.
type question struct {
	name    string
	what    string // for people
	request request
	sql     []statement // on bare DuckDB: each sees what the one before found
	naive   []statement // the usual way to write it, if that is worth a line
	// facts prints what an answer of the API says and the SQL says too, one line a result: both sides must
	// agree. The SQL's own lines are its columns called fact_….
	facts func(data json.RawMessage) ([]string, error)
	goal  goal
}

// goal is what the figures must be on the reference machine.
type goal struct {
	ms    float64 // of our time
	mb    float64 // bytes of touched columns; 0: no goal
	naive float64 // how many times faster than the naive way; 0: no goal
}

// fiveMinutes is the segment that the reference figures are of.
const fiveMinutes = "300"

// questions lists what is asked. The needle is the id of a record that exists.
func questions(s stored, n needle) []question {
	all := s.paths(lake.PartitionOf(Day.UnixMilli()), lake.PartitionOf(Day.Add(24*time.Hour).UnixMilli()))
	hour := lake.PartitionOf(n.tsMs)
	hourStart := time.UnixMilli(hour.Start()).UTC()
	day := table{paths: all, fromMs: Day.UnixMilli(), toMs: Day.Add(24*time.Hour).UnixMilli() - 1}
	inHour := table{paths: s.paths(hour, hour), fromMs: hour.Start(), toMs: hour.Start() + time.Hour.Milliseconds() - 1}
	wholeDay := period(Day, 24*time.Hour)
	byID := fmt.Sprintf(", request_id=%q", n.id)
	return []question{
		{
			name: "topx", what: "topx, 12 labels, 20 aggregates", goal: goal{ms: 700, mb: 36, naive: 4},
			request: newRequest("topx", wholeDay, "limit", "10"),
			sql:     topxTwoPhases(day), naive: topxNaive(day), facts: topxFacts,
		},
		{
			name: "timeline", what: "timeline, exact distincts", goal: goal{ms: 170, mb: 16},
			request: newRequest("timeline", wholeDay, "segment", fiveMinutes),
			sql:     timelineSQL(day), facts: timelineFacts,
		},
		{
			name: "stats", what: "stats", goal: goal{ms: 60, mb: 9},
			request: newRequest("stats", wholeDay, "segment", fiveMinutes),
			sql:     statsSQL(day), facts: statsFacts,
		},
		{
			name: "logs", what: "logs, newest 1,000 of status>=500", goal: goal{ms: 300},
			request: newRequest("logs", wholeDay+", status>=500", "limit", "1000"),
			sql:     logsSQL(day, "status >= 500", 1000), naive: logsNaive(day, "status >= 500", 1000), facts: logsFacts,
		},
		{
			name: "needle", what: "needle (request_id), 24 h", goal: goal{ms: 60},
			request: newRequest("logs", wholeDay+byID),
			sql:     needleSQL(day, n.id), facts: logsFacts,
		},
		{
			name: "needle_hour", what: "needle, hour known", goal: goal{ms: 35},
			request: newRequest("logs", period(hourStart, time.Hour)+byID),
			sql:     needleSQL(inHour, n.id), facts: logsFacts,
		},
	}
}

// period is the condition for a stretch of time, its end excluded.
func period(from time.Time, length time.Duration) string {
	const format = "2006-01-02 15:04:05.000"
	return "timestamp between " + from.Format(format) + " and " + from.Add(length-time.Millisecond).Format(format)
}

// needle is a record to look for: the one that has seven tenths of all before it.
type needle struct {
	id   string
	tsMs int64
}

func findNeedle(ctx context.Context, db *bare, s stored) (needle, error) {
	const text = `select request_id, ts_ms from %s order by ts_ms, line limit 1 offset %d`
	var n needle
	err := db.db.QueryRowContext(ctx, fmt.Sprintf(text, fileList(s.paths(s.objects[0].Partition, s.objects[len(s.objects)-1].Partition)), s.rows*7/10)).Scan(&n.id, &n.tsMs)
	if err != nil {
		return needle{}, fmt.Errorf("choose a record to look for: %w", err)
	}
	return n, nil
}
