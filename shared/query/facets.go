package query

import "slices"

// Facets asks for the most frequent values of some dimensions.
type Facets struct {
	By        []Dimension // 1…16
	Limit     int         // values of each dimension, 1…80
	ByBlocked bool        // the values with the most blocked requests come first
}

func (Facets) shape() {}

// DefaultFacets are the dimensions of facets if the request names none.
const DefaultFacets = "country,host,ip,method,organization,path,result,status,tags,user_agent"

// FacetsAnswer is the answer to Facets. It is empty if no record matches.
type FacetsAnswer struct {
	Requests int64   // of all matching records
	Facets   []Facet // of each dimension, in the order of the query
}

// Facet holds the most frequent values of a dimension.
type Facet struct {
	Requests int64        // of the records that have a value
	Distinct int64        // the number of different values
	Values   []FacetValue // by blocked requests, if the query asks for that, then requests (descending), value

	// Sum and SumBlocked are the sums of the requests and of the blocked requests of all values.
	Sum, SumBlocked int64
}

// FacetValue counts the records that have a value.
type FacetValue struct {
	Value string
	Flagged
}

// Flagged counts requests, and how many of them have each flag.
type Flagged struct{ Requests, Blocked, Challenges, Monitored, Human int64 }

// Rest returns the requests, and the blocked ones, of the values that are not in the answer.
func (f Facet) Rest() (requests, blocked int64) {
	requests, blocked = f.Sum, f.SumBlocked
	for _, v := range f.Values {
		requests, blocked = requests-v.Requests, blocked-v.Blocked
	}
	return requests, blocked
}

// FacetRow is a row of the result of the SQL for Facets.
type FacetRow struct {
	Dimension int     // from 1; 0: the row counts all matching records
	Value     *string // nil: the row counts the records without a value
	Flagged
	Distinct, Sum, SumBlocked int64 // of the dimension, see Facet
}

// FacetsOf returns the answer for the rows of a result, which are in the order of the answer, about n dimensions.
func FacetsOf(rows []FacetRow, n int) FacetsAnswer {
	var a FacetsAnswer
	if i := slices.IndexFunc(rows, func(r FacetRow) bool { return r.Dimension == 0 }); i >= 0 {
		a.Requests = rows[i].Requests
	}
	if a.Requests == 0 {
		return a
	}
	a.Facets = make([]Facet, n)
	for i := range a.Facets {
		a.Facets[i].Requests = a.Requests
	}
	for _, r := range rows {
		if r.Dimension == 0 {
			continue
		}
		f := &a.Facets[r.Dimension-1]
		if r.Value == nil {
			f.Requests -= r.Requests
			continue
		}
		f.Distinct, f.Sum, f.SumBlocked = r.Distinct, r.Sum, r.SumBlocked
		f.Values = append(f.Values, FacetValue{*r.Value, r.Flagged})
	}
	return a
}
