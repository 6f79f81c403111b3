package athena

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/query"
)

// work is the content of an engine.Execution: everything that another process needs to go on with it.
type work struct {
	Scope   query.Scope `json:"scope"`           // what is read, as the statement was written
	Version int64       `json:"version"`         // of the data when it began
	Split   bool        `json:"split,omitempty"` // one part for each of query.TopXParts
	Parts   []part      `json:"parts"`           // one, unless split
}

// part is one statement's execution.
type part struct {
	ID      string `json:"id"`              // Athena's
	Attempt int    `json:"attempt"`         // how often the statement was begun before; or the second of asking, Unix, see begin
	Done    bool   `json:"done,omitempty"`  // it succeeded
	Found   int64  `json:"found,omitempty"` // it had succeeded before it was asked for: when, Unix milliseconds
}

// read makes w the work of a query that reads by a state.
func (w *work) read(q query.Query, s engine.State) {
	w.Scope, w.Version = q.Scope, s.Version
	w.Scope.Watermark = s.Watermark
}

func (w work) execution() engine.Execution {
	text, err := json.Marshal(w)
	if err != nil {
		panic("athena: an execution cannot be printed: " + err.Error()) // numbers and texts can
	}
	return engine.Execution(text)
}

func readWork(x engine.Execution) (work, error) {
	var w work
	if err := json.Unmarshal([]byte(x), &w); err != nil || len(w.Parts) == 0 {
		return work{}, fmt.Errorf("athena: %.60q names no execution", x)
	}
	return w, nil
}

// question is the query of part i.
func (w work) question(q query.Query, i int) query.Query {
	q.Scope = w.Scope
	if topx, ok := q.Shape.(query.TopX); ok && w.Split {
		topx.Labels = query.TopXParts[i].Labels
		q.Shape = topx
	}
	return q
}

func (w work) done() bool {
	for _, p := range w.Parts {
		if !p.Done {
			return false
		}
	}
	return true
}

// found is when the oldest part had succeeded before it was asked for; false if one had not.
func (w work) found() (time.Time, bool) {
	oldest := w.Parts[0].Found
	for _, p := range w.Parts {
		if p.Found == 0 {
			return time.Time{}, false
		}
		oldest = min(oldest, p.Found)
	}
	return time.UnixMilli(oldest), true
}
