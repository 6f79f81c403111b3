package answering

import (
	"context"
	"time"

	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// TrySource answers the questions of a rule that is tried.
type TrySource struct {
	ask       Ask
	sequences func(ctx context.Context, params map[string]string) (query.SequencesAnswer, inquiry.Answer, error)
}

// Ask returns the answer of a data route in JSON.
func (t TrySource) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	return t.ask(ctx, route, params)
}

// Sequences returns sequences as they are. There can be a million requests in them, so they do not become JSON.
func (t TrySource) Sequences(
	ctx context.Context, params map[string]string,
) (query.SequencesAnswer, inquiry.Answer, error) {
	return t.sequences(ctx, params)
}

// TryAs returns a source with the permissions of a caller, as AskAs does.
func TryAs(s Searcher, branches []string, caller string, now func() time.Time) TrySource {
	queries, _ := s.(Queries)
	return TrySource{askAs(s, queries, branches, caller, now, nil), sequencesAs(s, queries, branches, caller)}
}

func sequencesAs(
	s Searcher, queries Queries, branches []string, caller string,
) func(context.Context, map[string]string) (query.SequencesAnswer, inquiry.Answer, error) {
	return func(
		ctx context.Context, params map[string]string,
	) (found query.SequencesAnswer, _ inquiry.Answer, err error) {
		defer recovered(&err)
		result, err := find(ctx, s, queries, requestOf(string(search.Sequences), params, branches, caller))
		return result.Sequences, inquiry.Answer{Meta: result.Meta, Unrounded: result.Unrounded()}, err
	}
}

// trySource returns the source for a request of a caller, whose questions may read as much as is allowed.
func (s *server) trySource(c *route.Call, ask Ask, within *allowance) TrySource {
	sequences := sequencesAs(s.Search, s.Queries, c.Caller.Branches, c.Caller.Owner)
	return TrySource{ask, func(
		ctx context.Context, params map[string]string,
	) (query.SequencesAnswer, inquiry.Answer, error) {
		if err := within.reserve(ctx, ask, string(search.Sequences), params); err != nil {
			return query.SequencesAnswer{}, inquiry.Answer{}, err
		}
		found, meta, err := sequences(ctx, params)
		s.logFailure(ctx, c, string(search.Sequences), err)
		return found, meta, err
	}}
}
