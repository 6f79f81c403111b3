package answering

import (
	"context"
	"net/http"
	"slices"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/representation"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/incident/asking"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/search"
)

// incidentRoutes returns the route of incidents and its POST form.
func (s *server) incidentRoutes() []route.Route {
	offers := representation.OffersOf(search.Incidents)
	found := route.Response{
		Status: http.StatusOK, Doc: "The incidents. If there are none, an empty list.",
		Value: Container[answer.IncidentResult]{}, Other: Estimated{},
	}
	found.Texts, found.Headers = offers.Documented()
	get := route.Route{
		ID:       string(search.Incidents),
		Path:     "/data/incidents",
		Tag:      route.DataTag,
		Searches: true,
		Summary:  "Attacks of a period",
		Doc: "Finds attacks: bounded episodes against one target, with their time, kind, requests and clients, and " +
			"whether the origin served others as before. It compares the requests of each minute and host with the " +
			"24 hours before, which are read, too. The period has at most 31 days. The server asks other data routes " +
			"several questions. The answer has the 50 largest incidents, the earliest first.",
		Scope:  keys.DataRead,
		Offers: offers,
		Params: slices.Concat([]parameter.Parameter{
			parameter.Filters,
			parameter.DayZone,
		}, offers.Parameters(), []parameter.Parameter{
			parameter.MaxBytes("The most bytes that the questions may read together. A question that may exceed " +
				"this, according to its estimate, is not asked: the answer is a 422 `too_heavy` with the estimate " +
				"and, if it is the first question, the part of the period that fits."),
			parameter.Boolean(dryRunName, "true: no incidents are sought. The answer has no results, and "+
				"`meta.estimate` has what the first questions would read and cost."),
		}),
		Headers: []parameter.Parameter{parameter.Syntax, parameter.Prefer},
		Answers: []route.Response{found, finding},
		Errors:  route.QueryErrors,
	}
	return bothForms(get, s.answerIncidents)
}

// answerIncidents answers with the incidents of a period, or with the estimate of its first questions.
func (s *server) answerIncidents(c *route.Call, args parameter.Arguments) error {
	r := asking.Request{
		Filters: args[parameter.Filters.Name], Syntax: parameter.SyntaxOf(c.Request.Header), Zone: args["tz"], Now: s.present(),
		AtOnce: s.AtOnce, Kept: &s.kept,
	}
	if named, ok := s.Search.(interface {
		Data(ctx context.Context) (search.Data, error)
	}); ok && c.Caller.Branches == nil {
		var err error
		if r.Data, err = named.Data(c.Request.Context()); err != nil {
			return err
		}
	}
	return answerTogether(s, c, args, incidentsOf(r))
}

// incidentsOf returns the incidents of a request.
func incidentsOf(r asking.Request) conclusion[answer.IncidentResult] {
	return conclusion[answer.IncidentResult]{
		estimate: func(ctx context.Context, ask Ask) (search.Meta, error) { return asking.DryRun(ctx, ask, r) },
		find: func(ctx context.Context, ask Ask, _ *allowance) ([]answer.IncidentResult, search.Meta, error) {
			found, err := asking.Run(ctx, ask, r)
			return found.Results, found.Meta, err
		},
		fitting: fittingPart(r.Filters, r.Syntax, r.Zone, r.Now, func(
			ctx context.Context, ask Ask, filters string,
		) (search.Meta, error) {
			part := r
			part.Filters, part.Syntax = filters, filter.QueryString
			return asking.DryRun(ctx, ask, part)
		}),
	}
}
