package answering

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/representation"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/incident/asking"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/search"
)

// Finding is the answer while some questions of incidents are not answered yet.
type Finding struct {
	Status string `json:"status" enum:"running"`
}

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
		Doc: "Bounded episodes against one target: when, what kind, how many requests, from where, and whether the origin " +
			"served others as before. They are found in the requests of each minute and host, compared with the 24 hours " +
			"before, which are read, too. The period has at most 31 days. It asks several questions to other data routes; the " +
			"answer has the 50 largest incidents, ordered by begin.",
		Scope:  keys.DataRead,
		Offers: offers,
		Params: slices.Concat([]parameter.Parameter{
			parameter.Filters,
			parameter.DayZone,
		}, offers.Parameters(), []parameter.Parameter{
			parameter.Boolean(dryRunName, "true: no incidents are sought. The answer has no results, and `meta.estimate` has what "+
				"the first questions would read and cost."),
		}),
		Headers: []parameter.Parameter{parameter.Syntax, parameter.Prefer},
		Answers: []route.Response{
			found,
			{
				Status: http.StatusAccepted, Value: Finding{},
				Doc: "With `Prefer: respond-async`: some questions are not answered yet. The same request later has their answers.",
			},
		},
		Errors: route.QueryErrors,
	}
	return bothForms(get, s.answerIncidents)
}

// answerIncidents answers with the incidents of a period, or with the estimate of its first questions.
func (s *server) answerIncidents(c *route.Call, args parameter.Arguments) error {
	c.Filters = args[parameter.Filters.Name]
	as, err := representation.Offers(c.Route.Offers).Choose(c.Request.Header.Values("Accept"), args)
	if err != nil {
		return err
	}
	dry, err := search.DryRun(args[dryRunName])
	switch {
	case err != nil:
		return err
	case dry && as.MediaType != content.JSON:
		return errDryRun
	}
	r := asking.Request{
		Filters: c.Filters, Syntax: parameter.SyntaxOf(c.Request.Header), Zone: args["tz"], Now: s.present(), AtOnce: s.AtOnce,
	}
	if dry {
		meta, err := asking.DryRun(c.Request.Context(), source(s.asker(c)), r)
		if err != nil {
			return stillRunning(c, err, "")
		}
		c.Send(route.Answer{Status: http.StatusOK, ContentType: content.JSON, Body: jsonOf([]struct{}{}, meta, nil)})
		return nil
	}
	found, err := s.findIncidents(c, r)
	switch {
	case errors.Is(err, problem.ErrGoesOn) && prefersAsync(c.Request.Header.Values("Prefer")):
		c.Writer.Header().Set("Preference-Applied", respondAsync)
		c.Writer.Header().Set("Retry-After", wholeSeconds(problem.ErrGoesOn.RetryAfter))
		c.SendJSON(http.StatusAccepted, Finding{Status: "running"})
		return nil
	case err != nil:
		return stillRunning(c, err, "")
	}
	c.Fingerprint, c.Scanned = found.Meta.Fingerprint, found.Meta.BytesScanned
	return sendResults(c, search.Incidents, found.Results, found.Meta, as)
}

// source asks the questions of incidents.
type source Ask

// Ask implements inquiry.Source.
func (s source) Ask(ctx context.Context, to string, params map[string]string) ([]byte, error) {
	return s(ctx, to, params)
}

// findIncidents finds incidents within the time that a request has. Queries that take longer go on, and a repeated
// request joins them.
func (s *server) findIncidents(c *route.Call, r asking.Request) (asking.Incidents, error) {
	var found asking.Incidents
	err := s.inTime(c, func(ctx context.Context, ask Ask) (err error) {
		found, err = asking.Run(ctx, source(ask), r)
		return err
	})
	return found, err
}
