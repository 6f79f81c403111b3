package athena

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/query"
)

// work is the content of an engine.Execution. It has everything that another process needs to continue it.
type work struct {
	Scope   query.Scope `json:"scope"`             // the period and watermark that the statements use
	Version int64       `json:"version"`           // the version of the data at the start
	Days    []int64     `json:"days,omitempty"`    // the version of the days of each window, or of the only period
	Split   bool        `json:"split,omitempty"`   // one part for each of query.TopXParts
	Windows bool        `json:"windows,omitempty"` // one part for each of the first windows of a query for logs
	Parts   []part      `json:"parts"`             // one part, unless split or for windows
}

// part is the execution of one statement.
type part struct {
	ID        string `json:"id"`              // assigned by Athena
	Attempt   int    `json:"attempt"`         // number of earlier starts, or a Unix time in seconds, see startPart
	Done      bool   `json:"done,omitempty"`  // it succeeded
	Completed int64  `json:"found,omitempty"` // Unix milliseconds of its success, if that was before it was requested
	Rows      *int   `json:"rows,omitempty"`  // of a window's result, once it has been counted
}

// setState makes w read the scope of q in a state of the lake.
func (w *work) setState(q query.Query, s engine.State) {
	w.Scope, w.Version = q.Scope, s.Version
	w.Scope.Watermark = s.Watermark
	w.Days = []int64{s.VersionOf(q)}
	if w.Windows {
		w.Days = make([]int64, len(q.Windows()))
		for i := range w.Days {
			w.Days[i] = s.VersionOf(w.query(q, i))
		}
	}
}

// versionOf returns the version of the days that part i reads. An execution that an earlier version of the program has
// started does not have it; then versionOf returns the version of the data.
func (w work) versionOf(i int) int64 {
	if !w.Windows {
		i = 0
	}
	if i < len(w.Days) {
		return w.Days[i]
	}
	return w.Version
}

func (w work) execution() engine.Execution {
	text, err := json.Marshal(w)
	if err != nil {
		panic("athena: encode an execution: " + err.Error()) // numbers and strings can always be encoded
	}
	return engine.Execution(text)
}

func readWork(x engine.Execution) (work, error) {
	var w work
	if err := json.Unmarshal([]byte(x), &w); err != nil || len(w.Parts) == 0 {
		return work{}, fmt.Errorf("athena: %.60q is not an execution", x)
	}
	return w, nil
}

// query returns the query of part i.
func (w work) query(q query.Query, i int) query.Query {
	q.Scope = w.Scope
	if topx, ok := q.Shape.(query.TopX); ok && w.Split {
		topx.Labels = query.TopXParts[i].Labels
		q.Shape = topx
	}
	if w.Windows {
		q.Scope.Period = q.Windows()[i]
	}
	return q
}

// whole returns the query for all parts together.
func (w work) whole(q query.Query) query.Query {
	first, last := w.query(q, 0), w.query(q, len(w.Parts)-1)
	if w.Windows {
		first.Scope.FromMs = last.Scope.FromMs
	}
	return first
}

func (w work) done() bool {
	for _, p := range w.Parts {
		if !p.Done {
			return false
		}
	}
	return true
}

// progress returns how far w is. queue is how long its unfinished parts have been in the queue.
func (w work) progress(queue time.Duration) engine.Progress {
	if w.done() {
		return engine.Progress{Done: true}
	}
	return engine.Progress{Queue: queue}
}

// reused reports whether every part had succeeded before it was requested, and if so, when the first part succeeded.
func (w work) reused() (oldest time.Time, ok bool) {
	first := w.Parts[0].Completed
	for _, p := range w.Parts {
		if p.Completed == 0 {
			return time.Time{}, false
		}
		first = min(first, p.Completed)
	}
	return time.UnixMilli(first), true
}
