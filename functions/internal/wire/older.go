package wire

import (
	"context"
	"log/slog"
	"time"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/searching"
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/valuelist"
)

// Older wires the function that answers every route below the older base paths. It has the parts of all functions that
// it stands for. maker makes its reports.
func Older(
	ctx context.Context, lookup function.Lookup, log *slog.Logger, maker answering.Reports,
) (*function.Function, error) {
	p, err := begin(ctx, lambdas.Older, lookup)
	if err != nil {
		return nil, err
	}
	e := p.environment
	path, err := searching.New(p.aws, p.table, e, log)
	if err != nil {
		return nil, err
	}
	finder, values, err := finding(p, path.States)
	if err != nil {
		return nil, err
	}
	rules, err := rulesOf(e)
	if err != nil {
		return nil, err
	}
	bucket := s3.New(function.NewS3(p.aws), e.LakeBucket)
	c := together(e, api.Config{
		Keys: p.callers, TokenKeys: keys.Over(p.table),
		Search: byRoute{values: values, others: path.Service}, Queries: path.Service, Reports: maker,
		Status:  newDeployed(lakestate.Over(p.table), bucket, e),
		Planets: planet.Over(document.Over(p.table), time.Now), Documents: document.Over(p.table),
		Lists:       valuelist.In(bucket),
		Definitions: rules, Runs: runs.Over(p.table, nil),
	})
	checks := append(searchChecks(p, path),
		doctor.Bucket("lake bucket", bucket, e.LakeBucket, "lake/"), doctor.ValueLists(finder))
	return newHTTP(p.row, e, log, c, checks)
}

// byRoute has a read path for values and one for all other questions.
type byRoute struct{ values, others answering.Searcher }

// Search implements answering.Searcher.
func (b byRoute) Search(ctx context.Context, r search.Request) (search.Result, error) {
	if r.Route == search.Values {
		return b.values.Search(ctx, r)
	}
	return b.others.Search(ctx, r)
}
