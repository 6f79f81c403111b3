package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/incident"
	"github.com/orrery/orrery/shared/wording"
)

// Incident is an incident of the period. Its sentence has the day, if the period has several.
type Incident struct {
	answer.IncidentResult
	Link string `json:"link,omitempty" doc:"Link to the requests of the incident in the console"`
}

// mostIncidents is the number of incidents that a report prints. Its JSON and its table have all.
const mostIncidents = 10

// incidents sets the incidents.
func (b *builder) incidents() {
	list, _, ok := read[answer.IncidentResult](b, Incidents)
	if !ok {
		return
	}
	b.r.Incidents = make([]Incident, len(list))
	for i, r := range list {
		r.Sentence = incident.Sentence(r, b.r.when(r))
		b.r.Incidents[i] = Incident{r, b.linkToIncident(r)}
	}
}

// when returns in words when an incident was.
func (r Report) when(of answer.IncidentResult) string {
	from, err := time.Parse(time.RFC3339, r.Period.From)
	return incident.When(of, r.zone, err != nil || Day.Start(from.In(r.zone)) != Day.Start(r.End().In(r.zone)))
}

// linkToIncident returns the link to the requests of an incident. Its filter begins with its period.
func (b *builder) linkToIncident(r answer.IncidentResult) string {
	f := filter.ParseQueryString(r.Filter)
	if len(f.Conditions) < 2 || len(f.Conditions[0].Values) != 2 {
		return ""
	}
	of := b.Setting
	for i, ms := range []*int64{&of.Period.FromMs, &of.Period.ToMs} {
		t, err := time.Parse(time.DateTime, f.Conditions[0].Values[i].Text)
		if err != nil {
			return ""
		}
		*ms = t.UnixMilli()
	}
	f.Conditions = f.Conditions[1:]
	of.Conditions = filter.Format(f)
	return of.link("events")
}

// held returns whether the incident held.
func (i Incident) held() incident.Held { return incident.Held(i.Held.State) }

// gravity is larger for incidents that someone should look at.
var gravity = map[incident.Held]int{incident.NotHeld: 2, incident.Look: 1}

// toLookAt reports whether someone should look at the incident.
func (i Incident) toLookAt() bool { return gravity[i.held()] > 0 }

// gravest returns the incidents that meet a condition, by gravity and then by size.
func gravest(list []Incident, meets func(Incident) bool) []Incident {
	list = slices.DeleteFunc(slices.Clone(list), func(i Incident) bool { return !meets(i) })
	slices.SortStableFunc(list, func(x, y Incident) int {
		return cmp.Or(
			cmp.Compare(gravity[y.held()], gravity[x.held()]),
			cmp.Compare(y.NumOfRequests, x.NumOfRequests),
		)
	})
	return list
}

// printed returns the incidents that a report prints: the gravest, in their order.
func (r Report) printed() []Incident {
	ids := map[string]bool{}
	list := gravest(r.Incidents, func(Incident) bool { return true })
	for _, i := range list[:min(len(list), mostIncidents)] {
		ids[i.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(r.Incidents), func(i Incident) bool { return !ids[i.ID] })
}

// furtherIncidents returns the sentence about the incidents that a report does not print, or "".
func (r Report) furtherIncidents() string {
	if len(r.Incidents) <= mostIncidents {
		return ""
	}
	return fmt.Sprintf("These are the gravest %d of %d incidents.", mostIncidents, len(r.Incidents))
}

// incidentToLookAt is a rule of the verdict.
func (b *builder) incidentToLookAt() (text, link string) {
	list := gravest(b.r.Incidents, Incident.toLookAt)
	if len(list) < 2 {
		return first(list, "")
	}
	return first(list, fmt.Sprintf("%d incidents need a look. The gravest: ", len(list)))
}

// otherIncident is a rule of the verdict.
func (b *builder) otherIncident() (text, link string) {
	list := gravest(b.r.Incidents, func(i Incident) bool { return !i.toLookAt() })
	if len(list) < 2 {
		return first(list, "")
	}
	return first(list, fmt.Sprintf("%s. The largest: ", wording.Plural(int64(len(list)), "incident")))
}

// first returns the sentence about the first of some incidents, and its link.
func first(list []Incident, before string) (text, link string) {
	if len(list) == 0 {
		return "", ""
	}
	return before + list[0].Sentence + ".", list[0].Link
}

// heldUnknown reports whether it cannot be told of an incident whether it held.
func (b *builder) heldUnknown() bool {
	return slices.ContainsFunc(b.r.Incidents, func(i Incident) bool { return i.held() == incident.HeldUnknown })
}
