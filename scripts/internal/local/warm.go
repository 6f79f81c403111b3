package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// DashboardQuestion is a question of the console's dashboard about a period.
type DashboardQuestion struct {
	Route     search.Route
	Condition string            // besides the period; "": none
	Params    map[string]string // besides the filters
	Before    bool              // it is asked about the period before, too
}

// DashboardQuestions are the questions of a dashboard without conditions about 30 days.
var DashboardQuestions = []DashboardQuestion{
	{Route: search.Timeline, Params: map[string]string{"segment": "6h"}, Before: true},
	{Route: search.Facets, Params: map[string]string{"by": "ip,result,monitor,human,upstream_status"}, Before: true},
	{
		Route: search.Facets, Condition: "upstream_status>=400",
		Params: map[string]string{"by": "upstream_status", "limit": "1"}, Before: true,
	},
	{Route: search.TopX, Params: map[string]string{"limit": "8"}},
	{Route: search.Incidents},
	{Route: search.Histogram, Params: map[string]string{"segment": "6h", search.MarksParam: "true"}},
}

// The questions that Warm asks read at least and at most so many bytes. Less is read as fast as it is remembered, and
// much more would keep a machine busy for a dashboard that perhaps nobody opens.
const (
	leastWarmed = 1 << 20
	mostWarmed  = 2 << 30
)

const warmedLength = 30 * 24 * time.Hour

// Warmed are the questions that Warm has asked.
type Warmed struct {
	Questions int
	Bytes     int64 // that were read
}

// Warm asks what a dashboard asks about the newest 30 days, so that figures are kept when the first one is opened. It
// leaves out what is read as fast again, and what is heavy. It does nothing without records of the folder's own.
func (p *Product) Warm(ctx context.Context) (Warmed, error) {
	return p.warm(ctx, leastWarmed, mostWarmed)
}

func (p *Product) warm(ctx context.Context, least, most int64) (done Warmed, _ error) {
	if p.Store == nil {
		return done, nil
	}
	extent, err := p.Engine.Extent(ctx)
	demo, failed := p.isDemo(ctx)
	if err = errors.Join(err, failed); err != nil || demo || extent.Rows == 0 {
		return done, err
	}
	from := reportSource{p, answering.AskOnce(p.Search, p.planets, "dashboard")}
	for _, q := range DashboardQuestions {
		for _, period := range warmedPeriods(extent, q.Before) {
			if err := ask(ctx, from, q, period, least, most, &done); err != nil {
				return done, fmt.Errorf("ask for %s as a dashboard does: %w", q.Route, err)
			}
		}
	}
	return done, nil
}

// warmedPeriods returns the newest 30 days, and if wanted the 30 days before, if there are records.
func warmedPeriods(extent lake.Extent, before bool) []query.Period {
	length := warmedLength.Milliseconds()
	periods := []query.Period{{FromMs: extent.MaxTsMs - length + 1, ToMs: extent.MaxTsMs}}
	if earlier := periods[0].FromMs - 1; before && extent.MinTsMs <= earlier {
		periods = append(periods, query.Period{FromMs: earlier - length + 1, ToMs: earlier})
	}
	return periods
}

// ask asks a question about a period if it reads at least and at most so many bytes.
func ask(
	ctx context.Context, from inquiry.Source, q DashboardQuestion, period query.Period, least, most int64, done *Warmed,
) error {
	params := map[string]string{"filters": filter.Joined(filter.During(period.FromMs, period.ToMs), q.Condition)}
	maps.Copy(params, q.Params)
	var about search.Meta
	question := inquiry.Question{
		Route: string(q.Route), Params: params, About: &about, Into: func(json.RawMessage) error { return nil },
	}
	var metas inquiry.Meta
	if err := metas.Estimate(ctx, from, 1, question); err != nil {
		return err
	}
	bytes := about.Estimate.Bytes
	if bytes == nil || bytes.High < least || bytes.High > most {
		return nil
	}
	if err := metas.Ask(ctx, from, 1, question); err != nil {
		return err
	}
	done.Questions++
	done.Bytes += about.BytesScanned
	return nil
}
