package inquiry

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/search"
)

// Whole is the length of a segment that contains a whole period, unless it ends in it. In UTC, it begins with the period.
const Whole = "4096d"

// Question is a question to a data route.
type Question struct {
	Route  string
	Params map[string]string
	Into   func(results json.RawMessage) error // reads the results
	About  *search.Meta                        // gets the meta of the answer; nil: nothing does
	// Optional: an answer that is too large is none.
	Optional bool
}

// Ask asks questions, atOnce of them at the same time (0: all), and adds the metas of their answers. The error is that of
// the context, or of the first question without an answer.
func (m *Meta) Ask(ctx context.Context, from Source, atOnce int, list ...Question) error {
	answers := make([]Answer, len(list))
	errs := make([]error, len(list))
	Each(len(list), atOnce, func(i int) {
		answers[i], errs[i] = list[i].ask(ctx, from)
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	m.Add(answers)
	return nil
}

// Estimate asks what questions would read, and adds the metas of the answers. It returns the errors of Ask.
func (m *Meta) Estimate(ctx context.Context, from Source, atOnce int, list ...Question) error {
	dry := make([]Question, len(list))
	for i, q := range list {
		q.Params = maps.Clone(q.Params)
		q.Params["dry_run"] = "true"
		q.Into = func(json.RawMessage) error { return nil }
		dry[i] = q
	}
	known := len(m.known)
	if err := m.Ask(ctx, from, atOnce, dry...); err != nil {
		return err
	}
	if len(m.known) != known+len(list) {
		return errors.New("an answer has no estimate")
	}
	return nil
}

func (q Question) ask(ctx context.Context, from Source) (Answer, error) {
	body, err := from.Ask(ctx, q.Route, q.Params)
	if err != nil {
		if q.Optional && fault.KindOf(err) == fault.EngineLimit {
			err = nil
		}
		return Answer{}, err
	}
	answer, results, err := read(body)
	if err != nil {
		return Answer{}, err
	}
	if q.About != nil {
		*q.About = answer.Meta
	}
	return answer, q.Into(results)
}
