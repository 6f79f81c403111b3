package answering

import (
	"context"
	"maps"

	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/mark/asking"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/search"
)

// errMarks is the error of marks whose representation has no place for them.
var errMarks = &search.ParamError{
	Param: parameter.FormatName, Message: "only JSON has a place for marks", Suggestion: "format=json",
}

// answerMarked answers a question to timeline or histogram, with marks.
func (s *server) answerMarked(c *route.Call, to search.Route, args parameter.Arguments) error {
	r := asking.Request{
		Route: to, Params: maps.Clone(args), Filters: args[parameter.Filters.Name], Syntax: parameter.SyntaxOf(c.Request.Header),
		Now: s.present(), AtOnce: s.AtOnce, Versions: s.planetVersions(c),
	}
	for _, name := range []string{dryRunName, search.MarksParam, parameter.FormatName, parameter.CSVName} {
		delete(r.Params, name)
	}
	if to == search.Histogram {
		return answerTogether(s, c, args, marked(r, func(results []search.HistogramResult, meta *search.Meta) {
			whole := search.Result{Histogram: results, Meta: *meta}
			shortenSeries(&whole)
		}))
	}
	return answerTogether(s, c, args, marked(r, func([]search.TimelineResult, *search.Meta) {}))
}

// planetVersions returns what reads the versions of planets for a caller, or nil if the caller may not read planets.
func (s *server) planetVersions(c *route.Call) asking.Versions {
	if s.Planets == nil || !c.Caller.Allows(keys.ConfRead) {
		return nil
	}
	return versionsIn(s.Planets)
}

func versionsIn(planets document.Store) asking.Versions {
	return func(ctx context.Context, config string) ([]document.Info, error) {
		return planets.Versions(ctx, planet.DocumentOf(config))
	}
}

// marked returns the results of a request with marks. shorten cuts texts in them.
func marked[Result any](r asking.Request, shorten func([]Result, *search.Meta)) conclusion[Result] {
	return conclusion[Result]{
		estimate: func(ctx context.Context, ask Ask) (search.Meta, error) { return asking.DryRun(ctx, ask, r) },
		find: func(ctx context.Context, ask Ask, _ *allowance) ([]Result, search.Meta, error) {
			results := []Result{}
			meta, err := asking.Run(ctx, ask, r, &results)
			shorten(results, &meta)
			return results, meta, err
		},
	}
}
