package querytest

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
)

// Case is one cell of the truth table: a record, a filter, and whether the filter matches the record.
type Case struct {
	Field   string // with its key, as in a filter
	State   State
	Op      filter.Op
	Negated bool
	Record  string // JSON, as ingested
	Filter  string // query-string form
	Want    bool
}

func (c Case) String() string { return fmt.Sprintf("%s/%s/%s", c.Field, c.State, c.Filter) }

// State is the content of a field in a record.
type State string

const (
	Absent        State = "absent"
	Null          State = "null"
	Empty         State = "empty list"
	OneHit        State = "one, passes"
	OneMiss       State = "one, fails"
	SeveralHit    State = "several, one passes"
	SeveralMissed State = "several, none passes"
)

// States lists the states in the order of the published table.
var States = []State{Absent, Null, Empty, OneHit, OneMiss, SeveralHit, SeveralMissed}

// Verdict defines the truth table. It reports whether a condition holds for a state: a condition holds if some value
// passes its test, and a negated condition holds if the plain one does not.
func Verdict(s State, negated bool) bool {
	return (s == OneHit || s == SeveralHit) != negated
}

// Cases lists the cells of the truth table: every field and closed member, each of its operators, and every state that
// it can have in a record, plain and negated.
func Cases() []Case {
	var cases []Case
	for i := range catalog.Fields {
		field := &catalog.Fields[i]
		for _, source := range field.Sources {
			for _, op := range source.Ops() {
				cases = append(cases, casesOf(field, source, op)...)
			}
		}
	}
	return cases
}

func casesOf(field *catalog.Field, source catalog.Source, op filter.Op) []Case {
	sample := sampleOf(source, op)
	name := field.Name
	switch field.Keys {
	case catalog.ClosedKeys:
		name += `["` + source.Name + `"]`
	case catalog.OpenKeys, catalog.FoldedKeys:
		name += `["k"]`
	}
	var cases []Case
	for _, state := range States {
		record, ok := recordOf(field, source, state, sample)
		if !ok {
			continue
		}
		for _, negated := range []bool{false, true} {
			test := name + sample.test
			if negated {
				test = "not " + test
			}
			cases = append(cases, Case{
				Field: name, State: state, Op: op, Negated: negated,
				Record: record,
				Filter: "timestamp between 2026-01-01 and 2026-01-02, " + test,
				Want:   Verdict(state, negated),
			})
		}
	}
	return cases
}

// sample is a test, as in a filter, and JSON values that pass and fail it.
type sample struct{ test, hit, miss string }

func sampleOf(source catalog.Source, op filter.Op) sample {
	switch {
	case source.Type == catalog.Reference:
		return referenceSamples[op]
	case source.Type == catalog.Time:
		return sample{" between 2026-01-01T11 and 2026-01-01T13", `"2026-01-01T12:00:00Z"`, `"2026-01-01T14:00:00Z"`}
	case op == filter.Is:
		return sample{" is true", "true", "false"}
	case source.Type == catalog.Bool:
		return boolMemberSamples[op]
	case source.HasNetworks() && networkSamples[op].test != "":
		return networkSamples[op]
	case source.Type == catalog.String, source.Type == catalog.Any && textSamples[op].test != "":
		return textSamples[op]
	}
	return numberSamples[op]
}

var textSamples = map[filter.Op]sample{
	filter.Eq:    {`="hit"`, `"hit"`, `"miss"`},
	filter.In:    {` in ("hit", "other")`, `"hit"`, `"miss"`},
	filter.Regex: {`~"^h"`, `"hit"`, `"miss"`},
}

var networkSamples = map[filter.Op]sample{
	filter.Eq: {`="192.0.2.0/24"`, `"192.0.2.7"`, `"192.0.3.7"`},
	filter.In: {` in ("192.0.2.0/24", "2001:db8::/32", "hit")`, `"2001:db8::7"`, `"2001:db8:0::7"`},
}

// The samples of references are the paths of the records.
var referenceSamples = map[filter.Op]sample{
	filter.Eq: {fmt.Sprintf("=%q", refOf(recordOfPath(`"/hit"`))), `"/hit"`, `"/miss"`},
	filter.In: {fmt.Sprintf(" in (%q, %q)", refOf(recordOfPath(`"/hit"`)), refOf("")), `"/hit"`, `"/miss"`},
}

func recordOfPath(path string) string { return `{` + stamp + `,"path":` + path + `}` }

// stamp is the timestamp of the records, except those with a timestamp as their sample.
const stamp, stampMs = `"timestamp":"2026-01-01T12:00:00Z"`, 1767268800000

// SetPlace sets source and line of a record of the truth table. They follow from its text, so that filters can refer to
// the record.
func SetPlace(row *lake.Row, record string) { row.Source, row.Line = truthSource, lineOf(record) }

const truthSource = "truth"

func lineOf(record string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(record)) // never fails
	return int64(h.Sum64()>>2) + 1
}

// refOf returns the reference to a record that has the usual timestamp.
func refOf(record string) string { return lake.RefTo(stampMs, truthSource, lineOf(record)).String() }

var numberSamples = map[filter.Op]sample{
	filter.Eq:      {"=5", "5", "50"},
	filter.Gt:      {">10", "11", "10"},
	filter.Lt:      {"<10", "9", "10"},
	filter.Gte:     {">=10", "10", "9"},
	filter.Lte:     {"<=10", "10", "11"},
	filter.In:      {" in (5, 6)", "5", "50"},
	filter.Between: {" between 6 and 4", "6", "7"},
}

// boolMemberSamples are the samples of boolean members, which count as 1 or 0 with numeric operators.
var boolMemberSamples = map[filter.Op]sample{
	filter.Eq:      {"=1", "true", "false"},
	filter.Gt:      {">0", "true", "false"},
	filter.Lt:      {"<1", "false", "true"},
	filter.Gte:     {">=1", "true", "false"},
	filter.Lte:     {"<=0", "false", "true"},
	filter.In:      {" in (1, 2)", "true", "false"},
	filter.Between: {" between 1 and 2", "true", "false"},
}

// recordOf returns a record with the field in the state; ok is false when the field cannot be in that state.
func recordOf(field *catalog.Field, source catalog.Source, state State, s sample) (record string, ok bool) {
	values := map[State][]string{
		OneHit: {s.hit}, OneMiss: {s.miss}, SeveralHit: {s.miss, s.hit, s.miss}, SeveralMissed: {s.miss, s.miss},
	}[state]
	name := field.Name
	switch {
	case name == "timestamp":
		if len(values) != 1 {
			return "", false // every record has one timestamp
		}
		return `{"timestamp":` + values[0] + `}`, true
	case name == catalog.RecordRef:
		if len(values) != 1 {
			return "", false // every record has one reference
		}
		return recordOfPath(values[0]), true
	case state == Absent && name == "time_period":
		return "", false // the default is the timestamp, in whole seconds
	case state == Null && name == "time_period":
		return "", false
	case state == Absent:
		return "{" + stamp + "}", true
	case name == "svcid", name == "svcsessionid":
		if state == Empty {
			return "", false // a cookie has a value
		}
		if len(values) > 0 {
			return fmt.Sprintf(`{%s,"cookies":{%q:[%s]}}`, stamp, name, strings.Join(values, ",")), true
		}
		return fmt.Sprintf(`{%s,"cookies":{"other":"hit"}}`, stamp), true
	case name == catalog.LogRest:
		return fmt.Sprintf(`{%s,"other":"hit","k":%s}`, stamp, memberOf(state, values)), true
	}
	content, ok := contentOf(field, source, state, values)
	return fmt.Sprintf("{%s,%q:%s}", stamp, name, content), ok
}

// memberOf returns the JSON value of a member that is no field.
func memberOf(state State, values []string) string {
	switch {
	case state == Null:
		return "null"
	case len(values) == 1:
		return values[0]
	}
	return "[" + strings.Join(values, ",") + "]"
}

// contentOf returns the JSON value of the field in the record.
func contentOf(field *catalog.Field, source catalog.Source, state State, values []string) (content string, ok bool) {
	if state == Null {
		return "null", true
	}
	list := "[" + strings.Join(values, ",") + "]"
	switch source.Layout {
	case catalog.List:
		return list, true
	case catalog.Structs:
		for i, v := range values {
			values[i] = fmt.Sprintf("{%q:%s}", source.Name, v)
		}
		return "[" + strings.Join(values, ",") + "]", true
	case catalog.Pairs:
		return pairsOf(field, state, values, list), true
	}
	switch {
	case field.Keys == catalog.ClosedKeys && state == Empty:
		return "{}", true
	case len(values) != 1:
		return "", false
	case field.Keys == catalog.ClosedKeys:
		return fmt.Sprintf("{%q:%s}", source.Name, values[0]), true
	}
	return values[0], true
}

// pairsOf returns the JSON value of a name/value field: values of the name k, and another name with a value that would
// pass. Open fields are lists of entries; filters test every member of an entry.
func pairsOf(field *catalog.Field, state State, values []string, list string) string {
	open := strings.HasSuffix(field.Name, "_triggers") || field.Name == "biometric" || field.Name == "logs"
	named := field.Name == "proxy" || field.Name == "profiling"
	var entries []string
	for _, v := range values {
		switch {
		case open:
			entries = append(entries, fmt.Sprintf(`{"other":"hit","k":%s}`, v))
		case named:
			entries = append(entries, fmt.Sprintf(`{"name":"k","value":%s}`, v))
		}
	}
	switch {
	case open, named:
		return "[" + strings.Join(entries, ",") + "]"
	case state == Empty:
		return "{}"
	case len(values) == 1:
		return fmt.Sprintf(`{"other":"hit","k":%s}`, values[0])
	}
	return fmt.Sprintf(`{"other":"hit","k":%s}`, list)
}
