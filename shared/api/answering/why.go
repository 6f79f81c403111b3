package answering

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/why"
	"github.com/orrery/orrery/shared/why/asking"
)

// whyRoutes returns the route that explains a request, and its POST form.
func (s *server) whyRoutes() []route.Route {
	reference, _ := catalog.Lookup(catalog.RecordRef)
	get := route.Route{
		ID:       "why",
		Path:     "/data/why",
		Tag:      route.DataTag,
		Searches: true,
		Summary:  "Why a request was stopped",
		Doc: "Explains one request to people: what happened to it, whether that was probably a mistake, what to do, " +
			"and texts to take along. The server asks other data routes up to four questions. Each reason of the " +
			"verdict has its numbers with the filters that count them. With `Accept: text/plain` the answer is plain " +
			"text.",
		Scope:  keys.DataRead,
		Offers: content.Offers,
		Params: []parameter.Parameter{
			{
				Name: parameter.ReferenceName, Doc: "The reference of the record, as `fields=record_ref` of logs returns it.", Required: true,
				Schema: &huma.Schema{Type: "string"}, Example: strings.Trim(strings.TrimPrefix(reference.Example, "record_ref="), `"`),
				Read: parameter.ReadText,
			},
			parameter.Boolean(parameter.SecretsName, "true: values that may identify a person or give access are not covered."),
			parameter.Boolean(dryRunName, "true: the answer has no results, and `meta.estimate` has what its questions would read "+
				"and cost together."),
		},
		Answers: []route.Response{{
			Status: http.StatusOK, Doc: "The explanation, as a list of one; with `dry_run`, an empty list.", Value: Container[why.Explanation]{},
			Texts: []string{content.Text},
		}},
		Errors: slices.Concat(route.QueryErrors, []int{http.StatusNotFound}),
	}
	routes := bothForms(get, s.answerWhy)
	routes[1].Doc = "The same as GET, with the parameters as members of a JSON object."
	return routes
}

// answerWhy answers with the explanation of a request, or with its estimate.
func (s *server) answerWhy(c *route.Call, args parameter.Arguments) error {
	secrets := args[parameter.SecretsName]
	if secrets != "" && secrets != "true" && secrets != "false" {
		return &search.ParamError{Param: parameter.SecretsName, Message: `"` + secrets + `" is neither true nor false`, Suggestion: "true"}
	}
	dry, err := search.DryRun(args[dryRunName])
	switch {
	case err != nil:
		return err
	case dry && c.Accepts == content.Text:
		return errDryRun
	}
	o := why.Options{Reference: args[parameter.ReferenceName], Uncover: secrets == "true"}
	if console := s.consoleOf(c.Request); console != "" {
		o.Link = strings.TrimSuffix(console, "/") + "/#/events/" + o.Reference
	}
	var e asking.Explained
	err = s.inTime(c, func(ctx context.Context, ask Ask) (err error) {
		if dry {
			e.Meta, err = asking.Estimate(ctx, ask, o.Reference)
		} else {
			e, err = asking.Explain(ctx, ask, o)
		}
		return err
	})
	switch {
	case errors.As(err, new(*search.TimeoutError)):
		return problem.ErrGoesOn // its location would be the answer of one question
	case err != nil:
		return err
	}
	c.Scanned = e.Meta.BytesScanned
	results := []why.Explanation{}
	switch {
	case dry:
	case c.Accepts == content.Text:
		c.Send(route.Answer{Status: http.StatusOK, ContentType: content.Text + "; charset=utf-8", Body: []byte(e.Text())})
		return nil
	default:
		results = append(results, e.Explanation)
	}
	c.Send(route.Answer{Status: http.StatusOK, ContentType: content.JSON, Body: jsonOf(results, e.Meta, nil)})
	return nil
}
