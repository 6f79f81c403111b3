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
	"github.com/orrery/orrery/shared/effect/asking"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/search"
)

// effectRoutes returns the route of effects and its POST form.
func (s *server) effectRoutes() []route.Route {
	offers := representation.OffersOf(search.Effect)
	found := route.Response{
		Status: http.StatusOK, Doc: "The comparison of all blocked requests, then of each rule, then of each reason.",
		Value: Container[answer.EffectResult]{}, Other: Estimated{},
	}
	found.Texts, found.Headers = offers.Documented()
	get := route.Route{
		ID:       string(search.Effect),
		Path:     "/data/effect",
		Tag:      route.DataTag,
		Searches: true,
		Summary:  "What a change did",
		Doc: "Compares the blocked requests of two equally long periods, before and after a moment: all of them, by rule and by " +
			"reason. The difference is the sum of what the number of requests explains, what the rules explain, and the rest. It " +
			"asks eight questions to `stats`. If the data ends earlier, both periods are shortened, and `meta.effect` reports it.",
		Scope:  keys.DataRead,
		Offers: offers,
		Params: slices.Concat([]parameter.Parameter{
			parameter.Of(search.Parameter{
				Name: parameter.AtName, Required: true, Example: "2026-01-01 10:03",
				Doc: "The moment of the change, as filters write a time: `2026-01-01 10:30`, `now-2h`.",
			}),
			parameter.Of(search.Parameter{
				Name: parameter.LengthName, Kind: search.LengthKind, Pattern: "^[1-9][0-9]*[smhd]?$",
				Default: asking.DefaultLength, Example: "2m",
				Doc: fmt.Sprintf("The length of each of the two periods, from 1m to %dd.", asking.MaxDays),
			}),
			parameter.Of(search.Parameter{
				Name: "against", Pattern: "^(previous|[1-9][0-9]*[smhd])$", Default: asking.Previous, Example: "1d",
				Doc: fmt.Sprintf("The period before: previous (right before the moment), or a number of days from 1d to %dd: the same "+
					"time that many days earlier, by the clock of `tz`.", asking.MaxEarlier),
			}),
			parameter.Conditions("Conditions of the requests that are compared, in the query-string form or the JSON form, without a " +
				"period. By default all requests."),
			parameter.DayZone,
		}, offers.Parameters(), []parameter.Parameter{
			parameter.MaxBytes("The most bytes that the questions may read together. If they may exceed this, " +
				"according to their estimate, none is asked: the answer is a 422 `too_heavy` with the estimate."),
			parameter.Boolean(dryRunName, "true: nothing is compared. The answer has no results, and `meta.estimate` has what the "+
				"questions would read and cost."),
		}),
		Headers: []parameter.Parameter{parameter.Syntax, parameter.Prefer},
		Answers: []route.Response{found, finding},
		Errors:  route.QueryErrors,
	}
	return bothForms(get, s.answerEffect)
}

// answerEffect answers with what a change did, or with the estimate of its questions.
func (s *server) answerEffect(c *route.Call, args parameter.Arguments) error {
	r := asking.Request{
		At: args[parameter.AtName], Length: args[parameter.LengthName], Against: args["against"],
		Filters: args[parameter.Filters.Name], Syntax: parameter.SyntaxOf(c.Request.Header), Zone: args["tz"], Now: s.present(),
		AtOnce: s.AtOnce,
	}
	return answerTogether(s, c, args, conclusion[answer.EffectResult]{
		estimate: func(ctx context.Context, ask Ask) (search.Meta, error) { return asking.DryRun(ctx, ask, r) },
		find: func(ctx context.Context, ask Ask, _ *allowance) ([]answer.EffectResult, search.Meta, error) {
			found, err := asking.Run(ctx, ask, r)
			return found.Results, found.Meta, err
		},
	})
}
