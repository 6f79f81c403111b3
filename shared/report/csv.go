package report

import (
	"bytes"
	"encoding/json"

	"github.com/orrery/orrery/shared/tabular"
)

// csvRow is a row of a report in CSV. Each section leaves the columns that it does not use empty.
type csvRow struct {
	Section    string   `json:"section"`
	Item       string   `json:"item"`
	Key        string   `json:"key"`
	Value      *float64 `json:"value"`
	Previous   *float64 `json:"previous"`
	Requests   *int64   `json:"requests"`
	Blocked    *int64   `json:"blocked"`
	Challenged *int64   `json:"challenged"`
	Passed     *int64   `json:"passed"`

	RequestsBefore *int64 `json:"requests_before"`
	BlockedBefore  *int64 `json:"blocked_before"`

	Condition string `json:"condition"`
	Link      string `json:"link"`
}

// CSV returns the numbers of the report as a table. No cell is a formula.
func (r Report) CSV() []byte {
	var rows []csvRow
	add := func(row csvRow) { rows = append(rows, row) }
	known := func(n *int64) *int64 {
		if r.Chart.Undecided {
			return nil
		}
		return n
	}
	add(csvRow{Section: "report", Item: "title", Key: r.Title})
	add(csvRow{Section: "report", Item: "period", Key: r.Period.From + "/" + r.Period.To})
	if r.Previous != nil {
		add(csvRow{Section: "report", Item: "previous period", Key: r.Previous.From + "/" + r.Previous.To})
	}
	for _, notice := range r.Notices() {
		add(csvRow{Section: "notice", Key: notice})
	}
	for _, s := range r.Verdict.Sentences {
		add(csvRow{Section: "verdict", Item: string(r.Verdict.State), Key: s.Text, Link: s.Link})
	}
	for _, i := range r.Incidents {
		add(csvRow{
			Section: "incident", Item: i.ID, Key: i.Sentence, Requests: &i.NumOfRequests,
			Blocked: known(&i.NumOfBlockedRequests), Challenged: known(&i.NumOfChallenges), Passed: known(&i.NumOfPassedRequests),
			Condition: i.Filter, Link: i.Link,
		})
	}
	for _, m := range r.Marks {
		_, what := r.change(m)
		add(csvRow{Section: "change of settings", Item: m.At, Key: what})
	}
	for _, f := range r.Figures {
		add(csvRow{Section: "figure", Item: f.ID, Key: f.Unit, Value: f.Value, Previous: f.Previous})
	}
	for _, bar := range r.Chart.Bars {
		add(csvRow{
			Section: "chart", Item: bar.From, Key: bar.Label, Requests: &bar.Requests, Blocked: known(&bar.Blocked),
			RequestsBefore: bar.RequestsBefore, BlockedBefore: known(bar.BlockedBefore),
		})
	}
	for _, s := range r.sections() {
		for _, l := range s.Lists {
			for _, row := range l.Rows {
				add(csvRow{
					Section: s.Name, Item: l.Field, Key: row.Key, Requests: &row.Requests, Blocked: known(&row.Blocked),
					Challenged: known(&row.Challenged), Passed: known(row.Passed), BlockedBefore: known(row.BlockedBefore),
					Condition: row.Condition, Link: row.Link,
				})
			}
		}
		for _, c := range s.Changes {
			now, was := float64(c.Requests), float64(c.Before)
			add(csvRow{
				Section: "change: " + c.Kind, Item: c.Field, Key: c.Key, Value: &now, Previous: &was,
				Condition: c.Condition, Link: c.Link,
			})
		}
	}
	for _, e := range r.Examples {
		add(csvRow{Section: "blocked request", Item: e.Time, Key: e.Method + " " + e.Target, Link: e.Link})
		add(csvRow{Section: "blocked request", Item: e.Time, Key: e.IP})
		add(csvRow{Section: "blocked request", Item: e.Time, Key: e.Reason})
	}
	about, run := r.facts()
	for _, f := range about {
		add(csvRow{Section: "about", Item: f.Name, Key: f.Text})
	}
	if r.Link != "" {
		add(csvRow{Section: "about", Item: "Console", Link: r.Link})
	}
	for _, f := range run {
		add(csvRow{Section: "run", Item: f.Name, Key: f.Text})
	}
	encoder := tabular.NewEncoder(tabular.Table{Columns: tabular.Columns[csvRow]()})
	var b bytes.Buffer
	b.Write(encoder.Head())
	for i := range rows {
		object, err := json.Marshal(&rows[i])
		if err != nil {
			panic("report: a row of CSV: " + err.Error()) // texts and numbers
		}
		lines, err := encoder.Rows(object)
		if err != nil {
			panic("report: a row of CSV: " + err.Error()) // a JSON object
		}
		b.Write(lines)
	}
	return b.Bytes()
}
