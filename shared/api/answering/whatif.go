package answering

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/representation"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/whatif"
	"github.com/orrery/orrery/shared/whatif/asking"
)

// whatIfRoutes returns the route of rules that are tried and its POST form.
func (s *server) whatIfRoutes() []route.Route {
	offers := representation.OffersOf(search.WhatIf)
	found := route.Response{
		Status: http.StatusOK, Doc: "One result: what the rule would have done. With `rules`, the first result is what all " +
			"rules together would have done; each further result is about one rule, applied after the rules before it.",
		Value: Container[answer.WhatIfResult]{}, Other: Estimated{},
	}
	found.Texts, found.Headers = offers.Documented()
	get := route.Route{
		ID:       string(search.WhatIf),
		Path:     "/data/whatif",
		Tag:      route.DataTag,
		Searches: true,
		Summary:  "What a rule would have done",
		Doc: fmt.Sprintf("Replays a rate limit or a filter on the requests of a period. The answer reports the "+
			"requests on which it would have acted, how many of these are not blocked today, who sent them, and what "+
			"other thresholds would do. Nothing is sent to a gateway. For a limit, the 24 hours before the period are "+
			"read, too, to know where windows begin. The period has at most %d days.", asking.MaxDays),
		Scope:  keys.DataRead,
		Offers: offers,
		Params: slices.Concat([]parameter.Parameter{
			parameter.Filters,
			parameter.Of(search.Parameter{
				Name: parameter.RuleName, Example: "limit 60 per 1m by ip",
				Doc: "The rule: `limit 60 per 1m by ip [with FIELD] [ban 10m] [where CONDITIONS]`, `block [tag TAG] where " +
					"CONDITIONS`, `enforce NAME` for a rule that is only monitored today, or a rate limit or a global filter as " +
					"the gateway has it in JSON. A request has either `rule` or `rules`.",
			}),
			parameter.Texts(parameter.RulesName, fmt.Sprintf("At most %d rules that are tried together, in the order of stages: "+
				"filters, then limits, then `enforce`. Limits see the tags that filters add, and a request that a filter stops "+
				"does not reach them. In a query, the list is in JSON.", whatif.MaxRules), whatif.MaxRules,
				[]string{`monitor tag login where path="/login"`, "limit 5 per 1m by ip where tags=login"}),
			parameter.Of(search.Parameter{
				Name: parameter.AttackName, Kind: search.FilterKind, Example: `path="/login", human is false`,
				Doc: "The attack that a limit is to stop: conditions of its requests, in the query-string form or " +
					"the JSON form; a period is not needed. For each threshold, the answer reports how much of the " +
					"attack and how many others it stops. It also reports the threshold that best separates the two.",
			}),
			parameter.DayZone,
		}, offers.Parameters(), []parameter.Parameter{
			parameter.MaxBytes("The most bytes that the questions may read together. A question that may exceed " +
				"this, according to its estimate, is not asked: the answer is a 422 `too_heavy` with the estimate " +
				"and, if it is the first question, the part of the period that fits."),
			parameter.Boolean(dryRunName, "true: the rule is not tried. The answer has no results, and `meta.estimate` has "+
				"what the first question would read and cost."),
		}),
		Headers: []parameter.Parameter{parameter.Syntax, parameter.Prefer},
		Answers: []route.Response{found, finding},
		Errors:  route.QueryErrors,
	}
	return bothForms(get, s.answerWhatIf)
}

// answerWhatIf answers with what a rule would have done, or with the estimate of its first question.
func (s *server) answerWhatIf(c *route.Call, args parameter.Arguments) error {
	rules, err := parameter.TextsOf(args, parameter.RulesName)
	if err != nil {
		return err
	}
	r := asking.Request{
		Filters: args[parameter.Filters.Name], Syntax: parameter.SyntaxOf(c.Request.Header), Rule: args[parameter.RuleName],
		Rules: rules, Attack: args[parameter.AttackName], Zone: args["tz"], Now: s.present(), AtOnce: s.AtOnce,
	}
	return answerTogether(s, c, args, conclusion[answer.WhatIfResult]{
		estimate: func(ctx context.Context, ask Ask) (search.Meta, error) {
			return asking.DryRun(ctx, s.trySource(c, ask, nil), r)
		},
		find: func(ctx context.Context, ask Ask, within *allowance) ([]answer.WhatIfResult, search.Meta, error) {
			found, err := asking.Run(ctx, s.trySource(c, ask, within), r)
			return found.Results, found.Meta, err
		},
		fitting: fittingPart(r.Filters, r.Syntax, r.Zone, r.Now, func(
			ctx context.Context, ask Ask, filters string,
		) (search.Meta, error) {
			part := r
			part.Filters, part.Syntax = filters, filter.QueryString
			return asking.DryRun(ctx, s.trySource(c, ask, nil), part)
		}),
	})
}
