package athena

import (
	"context"
	"sync"

	"github.com/orrery/orrery/shared/query"
)

// startNextWindow searches the next window of a query for logs, unless the windows searched so far have enough records,
// or none is left. It reports whether it has started a search.
func (e *Engine) startNextWindow(ctx context.Context, w *work, q query.Query) (bool, error) {
	whole := q
	whole.Scope = w.Scope
	if !w.Windows || len(w.Parts) == len(whole.Windows()) {
		return false, nil
	}
	logs := q.Shape.(query.Logs)
	found := 0
	for i := range w.Parts {
		p := &w.Parts[i]
		if p.Rows == nil {
			n, err := e.count(ctx, p.ID, w.query(q, i))
			if err != nil {
				return false, err
			}
			p.Rows = &n
		}
		found += *p.Rows
	}
	if found >= logs.Limit {
		return false, nil
	}
	w.Parts = append(w.Parts, part{})
	return true, e.restart(ctx, w, len(w.Parts)-1, q)
}

// count returns the number of records in the result of a window. A result that exceeds the memory counts as enough.
func (e *Engine) count(ctx context.Context, id string, q query.Query) (int, error) {
	x, err := e.get(ctx, id)
	if err != nil {
		return 0, err
	}
	answer, err := e.read(ctx, x, q)
	if err != nil {
		return 0, contextError(ctx, e.resultError(x, err))
	}
	e.counted.keep(id, answer)
	if answer.Truncated {
		return q.Shape.(query.Logs).Limit, nil
	}
	return len(answer.Logs), nil
}

// counted is the result of the statement whose records were counted last. Usually it is the largest part of the answer
// and Result is called next, so it need not be read again.
type counted struct {
	mu     sync.Mutex
	id     string
	answer query.Answer
}

// keep replaces the result.
func (c *counted) keep(id string, answer query.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id, c.answer = id, answer
}

// take removes and returns the result if it belongs to statement id.
func (c *counted) take(id string) (query.Answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.id != id {
		return query.Answer{}, false
	}
	answer := c.answer
	c.id, c.answer = "", query.Answer{}
	return answer, true
}
