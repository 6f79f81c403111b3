package representation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/tabular"
)

// TableOf returns the table of the results of a route: its columns, and the rows of a result. fields are those that the
// request of logs names; nil means all. ok is false if the route has no table.
func TableOf(to search.Route, fields []string) (t tabular.Table, ok bool) {
	switch to {
	case search.Logs:
		if fields != nil {
			return tabular.Table{Columns: fields}, true
		}
		return tabular.Table{Columns: recordColumns(), Rest: "other"}, true
	case search.Stats:
		return tabular.Table{Columns: withoutLocalTimes[search.StatsResult]()}, true
	case search.Timeline:
		return tabular.Table{Columns: withoutLocalTimes[search.TimelineResult](), Rows: timelineRows}, true
	case search.TopX:
		return tabular.Table{Columns: tabular.Columns[search.TopXResult]()}, true
	case search.Facets:
		return tabular.Table{Columns: tabular.Columns[facetRow](), Rows: facetRows}, true
	case search.Histogram:
		return tabular.Table{Columns: withoutLocalTimes[search.HistogramResult]()}, true
	case search.Diff:
		return tabular.Table{Columns: tabular.Columns[diffRow](), Rows: diffRows}, true
	case search.Effect:
		return tabular.Table{Columns: tabular.Columns[effectRow](), Rows: effectRows}, true
	case search.WhatIf:
		return tabular.Table{Columns: tabular.Columns[whatIfRow](), Rows: whatIfRows}, true
	case search.Incidents:
		return tabular.Table{Columns: tabular.Columns[incidentRow](), Rows: incidentRows}, true
	}
	return tabular.Table{}, false
}

// recordColumns returns the fields of whole records. They omit record_ref, and svcid, svcsessionid and log_rest, whose
// values are in other fields.
func recordColumns() []string {
	return slices.DeleteFunc(catalog.Names(), func(name string) bool {
		return name == "svcid" || name == "svcsessionid" || name == catalog.LogRest || name == catalog.RecordRef
	})
}

// timelineRows returns the row of a segment, with counts of statuses as text such as "200=12 404=3". A spreadsheet
// would read 200:12 as a time.
func timelineRows(result tabular.Object) ([]tabular.Object, error) {
	for _, name := range []string{"array_status_codes", "array_origin_status_codes"} {
		var counts []search.StatusResult
		if err := json.Unmarshal(result[name], &counts); err != nil {
			return nil, fmt.Errorf("read the member %s of a result: %w", name, err)
		}
		texts := make([]string, len(counts))
		for i, c := range counts {
			texts[i] = fmt.Sprintf("%s=%d", c.Key, c.Value)
		}
		result[name] = content.Encode(strings.Join(texts, " "))
	}
	return []tabular.Object{result}, nil
}

// incidentRow is a row of the table of incidents. It has no lists.
type incidentRow struct {
	Begin                  string  `json:"begin"`
	End                    *string `json:"end"`
	Kind                   string  `json:"kind"`
	Target                 string  `json:"target"`
	State                  string  `json:"held"`
	Certain                bool    `json:"certain"`
	NumOfRequests          int64   `json:"num_of_requests"`
	NumOfBlockedRequests   int64   `json:"num_of_blocked_requests"`
	NumOfChallenges        int64   `json:"num_of_challenges"`
	NumOfMonitoredRequests int64   `json:"num_of_monitored_requests"`
	NumOfPassedRequests    int64   `json:"num_of_passed_requests"`
	NumOfBlockedHumans     *int64  `json:"num_of_blocked_human_requests"`
	NumOfIP                int64   `json:"num_of_ip"`
	NumOfNetworks          *int64  `json:"num_of_networks"`
	BeginsEarlier          bool    `json:"begins_earlier"`
	EndsLater              bool    `json:"ends_later"`
	Sentence               string  `json:"sentence"`
	Details                string  `json:"details"`
	Why                    string  `json:"why"`
	Filter                 string  `json:"filter"`
	ID                     string  `json:"id"`
}

// incidentRows returns the row of an incident, with the state of held.
func incidentRows(result tabular.Object) ([]tabular.Object, error) {
	var held answer.IncidentHeld
	if err := json.Unmarshal(result["held"], &held); err != nil {
		return nil, fmt.Errorf("read the member held of a result: %w", err)
	}
	result["held"] = content.Encode(held.State)
	return []tabular.Object{result}, nil
}

// effectRow is a row of the table of an effect: a comparison with the members of its two sides.
type effectRow struct {
	By                         string  `json:"by"`
	Value                      *string `json:"value"`
	Difference                 int64   `json:"difference"`
	FromRequests               int64   `json:"from_requests"`
	FromRules                  int64   `json:"from_rules"`
	Rest                       int64   `json:"rest"`
	BeforeNumOfBlockedRequests int64   `json:"before_num_of_blocked_requests"`
	AfterNumOfBlockedRequests  int64   `json:"after_num_of_blocked_requests"`
	BeforeNumOfBlockedHumans   *int64  `json:"before_num_of_blocked_human_requests"`
	AfterNumOfBlockedHumans    *int64  `json:"after_num_of_blocked_human_requests"`
	Sentence                   string  `json:"sentence"`
	BeforeFilter               string  `json:"before_filter"`
	AfterFilter                string  `json:"after_filter"`
}

// effectRows returns the row of a comparison.
func effectRows(result tabular.Object) ([]tabular.Object, error) {
	for _, side := range []string{"before", "after"} {
		var members tabular.Object
		if err := json.Unmarshal(result[side], &members); err != nil {
			return nil, fmt.Errorf("read the member %s of a result: %w", side, err)
		}
		for name, value := range members {
			result[side+"_"+name] = value
		}
	}
	return []tabular.Object{result}, nil
}

// whatIfRow is a row of the table of a rule that was tried: a point of its curve, or, without a curve, the rule.
type whatIfRow struct {
	Rule             string  `json:"rule"`
	Threshold        *int64  `json:"threshold"`
	NumOfRequests    int64   `json:"num_of_requests"`
	NumOfNewRequests int64   `json:"num_of_new_requests"`
	NumOfIP          int64   `json:"num_of_ip"`
	NumOfHumans      *int64  `json:"num_of_human_requests"`
	NumOfHumanIP     *int64  `json:"num_of_human_ip"`
	NumOfAttack      *int64  `json:"num_of_attack_requests"`
	NumOfOtherIP     *int64  `json:"num_of_stopped_other_ip"`
	Sentence         *string `json:"sentence"`
}

// whatIfRows returns a row for each point of the curve, or one row if there is no curve. With a curve, only the row of the
// rule's threshold has the sentence.
func whatIfRows(result tabular.Object) ([]tabular.Object, error) {
	var points []tabular.Object
	if err := json.Unmarshal(result["curve"], &points); err != nil {
		return nil, fmt.Errorf("read the member curve of a result: %w", err)
	}
	if len(points) == 0 {
		return []tabular.Object{result}, nil
	}
	for _, p := range points {
		p["rule"] = result["rule"]
		if bytes.Equal(p["threshold"], result["threshold"]) {
			p["sentence"] = result["sentence"]
		}
	}
	return points, nil
}

// diffRow is a row of the table of a diff: a finding with the members of its two sides.
type diffRow struct {
	By                    string   `json:"by"`
	Value                 any      `json:"value"`
	SelectedNumOfRequests int64    `json:"selected_num_of_requests"`
	SelectedShare         float64  `json:"selected_share"`
	BaselineNumOfRequests int64    `json:"baseline_num_of_requests"`
	BaselineShare         float64  `json:"baseline_share"`
	Lift                  *float64 `json:"lift"`
	Score                 float64  `json:"score"`
	Condition             string   `json:"condition"`
	Excluded              string   `json:"excluded"`
	ValueTruncated        bool     `json:"value_truncated"`
}

// diffRows returns the row of a finding.
func diffRows(result tabular.Object) ([]tabular.Object, error) {
	for _, side := range []string{"selected", "baseline"} {
		var of search.DiffSide
		if err := json.Unmarshal(result[side], &of); err != nil {
			return nil, fmt.Errorf("read the member %s of a result: %w", side, err)
		}
		result[side+"_num_of_requests"], result[side+"_share"] = content.Encode(of.NumOfRequests), content.Encode(of.Share)
	}
	return []tabular.Object{result}, nil
}

// facetRow is a row of the table of facets: a value, or the requests with other values, or those without a value.
type facetRow struct {
	By       string `json:"by"`
	Type     string `json:"type"`
	Distinct int64  `json:"distinct"`
	Kind     string `json:"kind"`

	search.FacetValueResult
}

// facetRows returns a row for each value, one of kind other unless a request can have several values, and one of kind
// absent.
func facetRows(result tabular.Object) ([]tabular.Object, error) {
	var (
		rows   []tabular.Object
		values []tabular.Object
		rest   tabular.Object
	)
	if err := json.Unmarshal(result["values"], &values); err != nil {
		return nil, fmt.Errorf("read the values of a facet: %w", err)
	}
	if err := json.Unmarshal(result["rest"], &rest); err != nil {
		return nil, fmt.Errorf("read the rest of a facet: %w", err)
	}
	add := func(kind string, row tabular.Object) {
		row["by"], row["type"], row["distinct"] = result["by"], result["type"], result["distinct"]
		row["kind"] = content.Encode(kind)
		rows = append(rows, row)
	}
	for _, value := range values {
		add("value", value)
	}
	if rest != nil {
		add("other", rest)
	}
	add("absent", tabular.Object{"num_of_requests": result["num_of_absent"]})
	return rows, nil
}
