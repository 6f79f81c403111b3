package cost

import (
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/incident/asking"
	marking "github.com/orrery/orrery/shared/mark/asking"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/report"
)

// dailyReport returns the report whose cost is estimated: it is about a day, compared with the day before.
func dailyReport() report.Setting {
	end := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	day := report.Day.Last(end)
	before := day.Previous(time.UTC)
	return report.Setting{Template: report.Traffic, Period: day, Previous: &before, Zone: time.UTC}
}

// ReportBytes is the number of bytes that a question of a report reads of each record of a day.
type ReportBytes struct {
	Part    report.Part
	Columns float64
	Records bool // it also reads a row group of the newest matches
}

// reportBytes returns the bytes that each question of a daily report reads. sum returns the bytes of columns.
func reportBytes(sum func(columns []string) float64) ([]ReportBytes, error) {
	var list []ReportBytes
	for _, question := range dailyReport().Questions() {
		shape, days, err := shapeOf(question)
		if err != nil {
			return nil, fmt.Errorf("question %s of a report: %w", question.Part, err)
		}
		q, err := query.Bind(filter.ParseQueryString(question.Params["filters"]), shape)
		if err != nil {
			return nil, fmt.Errorf("question %s of a report: %w", question.Part, err)
		}
		_, records := shape.(query.Logs)
		bytes := days * sum(touched(q))
		if question.Part == report.Marks {
			revisions, err := marking.Counted()
			if err != nil {
				return nil, err
			}
			q.Shape = revisions
			bytes += sum(touched(q))
		}
		list = append(list, ReportBytes{question.Part, bytes, records})
	}
	return list, nil
}

// shapeOf returns the shape of a question, and how many days it reads. The question for changes compares two days; it
// is bound as a diff of one day. The shape of the question for incidents is that of its first questions.
func shapeOf(question report.Question) (shape query.Shape, days float64, err error) {
	switch question.Route {
	case "timeline":
		return query.Timeline{SegmentSeconds: 3600}, 1, nil
	case "histogram":
		return query.Histogram{SegmentSeconds: 3600, Measure: query.Measure(question.Params["measure"])}, 1, nil
	case "stats":
		return query.Stats{SegmentSeconds: 3600, Percentiles: question.Params["figures"] != ""}, 1, nil
	case "topx":
		return query.TopX{Limit: query.DefaultTopX}, 1, nil
	case "facets":
		by, err := query.ParseDimensions(question.Params["by"])
		return query.Facets{By: by, Limit: query.DefaultFacetLimit}, 1, err
	case "logs":
		return query.Logs{Limit: query.DefaultLogs}, 1, nil
	case "incidents":
		hours, err := asking.Counted()
		return hours, 2, err // the day before is read, too
	case "diff":
		shapes, err := routes()
		return shapes["diff"], 2, err
	}
	return nil, 0, fmt.Errorf("no shape of route %q", question.Route)
}
