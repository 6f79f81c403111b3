package rows

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/orrery/orrery/shared/query"
)

// statsOf returns a row of stats of a shape.
func statsOf(r *result, shape query.Stats) query.StatsRow {
	row := query.StatsRow{
		Segment:   r.integer("segment"),
		Requests:  r.integer("requests"),
		Bandwidth: r.integer("bandwidth"),
		TimeUs:    r.integer("time_us"),
		Timed:     r.integer("timed"),
	}
	if shape.By == nil {
		row.Hostname = r.text("hostname")
	} else if value := r.cell("value"); value != nil {
		row.Value, row.HasValue = *value, true
	}
	if shape.Percentiles {
		row.Percentiles = r.percentiles()
	}
	return row
}

// countsOf returns a row of counts of a shape.
func countsOf(r *result, shape query.Counts) query.CountsRow {
	row := query.CountsRow{Segment: r.integer("segment"), N: []int64{r.integer("n")}}
	if value := r.cell("value"); value != nil {
		row.Value, row.HasValue = *value, true
	}
	for i := range shape.Of {
		row.N = append(row.N, r.integer(fmt.Sprintf("n_%d", i+1)))
	}
	return row
}

// percentiles returns the percentiles of a group, which have three columns for each duration.
func (r *result) percentiles() query.Percentiles {
	return query.Percentiles{Origin: r.ranks("origin"), Svc: r.ranks("svc"), Total: r.ranks("total")}
}

// ranks returns the percentiles of a duration. All are NULL if no record has it.
func (r *result) ranks(name string) query.Ranks {
	us := make([]int64, len(query.Percents))
	for i, percent := range query.Percents {
		column := fmt.Sprintf("%s_p%d", name, percent)
		if i == 0 && r.cell(column) == nil {
			return query.Ranks{}
		}
		us[i] = r.integer(column)
	}
	return query.RanksAt(us)
}

func timelineOf(r *result) query.TimelineRow {
	return query.TimelineRow{
		Segment:        r.integer("segment"),
		Requests:       r.integer("requests"),
		Blocked:        r.integer("blocked"),
		Challenges:     r.integer("challenges"),
		Human:          r.integer("human"),
		OriginBlocked:  r.integer("origin_blocked"),
		IPs:            r.integer("ips"),
		Sessions:       r.integer("sessions"),
		BytesSent:      r.integer("bytes_sent"),
		Statuses:       r.statuses("statuses"),
		OriginStatuses: r.statuses("origin_statuses"),
	}
}

// statuses returns the counts in a column: a JSON object in any order, or NULL if it has no counts. A key is a status
// or a list of statuses ("502,200", "" if it is empty). Each status of a list counts.
func (r *result) statuses(column string) []query.StatusCount {
	cell := r.cell(column)
	if cell == nil {
		return nil
	}
	var lists map[string]int64
	if err := json.Unmarshal([]byte(*cell), &lists); err != nil {
		r.fail(column, "%w", err)
		return nil
	}
	counts := map[int64]int64{}
	for list, n := range lists {
		if list == "" {
			continue
		}
		for text := range strings.SplitSeq(list, ",") {
			status, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				r.fail(column, "%q is not a list of statuses", shortened(list))
				return nil
			}
			counts[status] += n
		}
	}
	return query.SortedStatuses(counts)
}

func topXOf(r *result, shape query.TopX) query.TopXRow {
	row := query.TopXRow{
		Label:             r.text("label"),
		Key:               r.text("key"),
		Requests:          r.integer("requests"),
		Blocked:           r.integer("blocked"),
		Bots:              r.integer("bots"),
		Challenges:        r.integer("challenges"),
		Human:             r.integer("human"),
		Monitored:         r.integer("monitored"),
		BytesSent:         r.integer("bytes_sent"),
		RequestLength:     r.integer("request_length"),
		Origin:            r.times("origin"),
		Svc:               r.times("svc"),
		Total:             r.times("total"),
		FirstASN:          r.text("first_asn"),
		FirstCountry:      r.text("first_country"),
		FirstOrganization: r.text("first_organization"),
	}
	if shape.Percentiles {
		row.Percentiles = r.percentiles()
	}
	return row
}

// times returns the figures of a time, which has four columns.
func (r *result) times(name string) query.Times {
	return query.Times{
		Count: r.integer(name + "_count"),
		Sum:   r.integer(name + "_sum"),
		Min:   r.integer(name + "_min"),
		Max:   r.integer(name + "_max"),
	}
}

// dimension returns the number of one of n dimensions, or 0.
func (r *result) dimension(n int) int {
	dimension := r.integer("dimension")
	if dimension < 0 || dimension > int64(n) {
		r.fail("dimension", "%d is not one of %d dimensions", dimension, n)
	}
	return int(dimension)
}

// diffRowOf returns a row about one of n dimensions.
func diffRowOf(r *result, n int) query.DiffRow {
	row := query.DiffRow{
		Dimension: r.dimension(n),
		Kind:      query.DiffKind(r.integer("kind")),
		Value:     r.cell("value"),
		Distinct:  r.integer("distinct_values"),
		Sides:     query.Sides{Selected: r.integer("selected"), Baseline: r.integer("baseline")},
	}
	if row.Kind == query.DiffFrequent && row.Value == nil {
		r.fail("value", "it is NULL")
	}
	return row
}

// facetRowOf returns a row about one of n dimensions.
func facetRowOf(r *result, n int) query.FacetRow {
	return query.FacetRow{
		Dimension: r.dimension(n),
		Value:     r.cell("value"),
		Flagged: query.Flagged{
			Requests:   r.integer("requests"),
			Blocked:    r.integer("blocked"),
			Challenges: r.integer("challenges"),
			Monitored:  r.integer("monitored"),
			Human:      r.integer("human"),
		},
		Distinct:   r.integer("distinct_values"),
		Sum:        r.integer("sum_requests"),
		SumBlocked: r.integer("sum_blocked"),
	}
}

func histogramRowOf(r *result) query.HistogramRow {
	return query.HistogramRow{
		Series:   int(r.integer("series")),
		Value:    r.cell("value"),
		Total:    r.integer("total"),
		Distinct: r.integer("distinct_values"),
		Point:    query.Point{Segment: r.integer("segment"), N: r.integer("n")},
	}
}

// texts keeps one copy of each text of a result, because many rows have the same texts.
type texts map[string]*string

func (t texts) once(text string) *string {
	known := t[text]
	if known == nil {
		known = new(strings.Clone(text))
		t[*known] = known
	}
	return known
}

func sequenceRowOf(r *result, shape query.Sequences, known texts) query.SequenceRow {
	row := query.SequenceRow{TsMs: r.integer("ts_ms"), TsNanos: r.integer("ts_nanos"), Selected: uint32(r.integer("selected"))}
	for i := range shape.Key {
		row.Key = append(row.Key, *known.once(r.text(fmt.Sprintf("key_%d", i+1))))
	}
	for i := range len(shape.With) + len(shape.Also) {
		value := r.cell(fmt.Sprintf("with_%d", i+1))
		if value != nil {
			value = known.once(*value)
		}
		row.With = append(row.With, value)
	}
	return row
}
