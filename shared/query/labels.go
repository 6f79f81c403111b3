package query

import (
	"slices"
	"strings"
)

// Label is one ranking of topx: the top keys of a column.
type Label struct {
	Name   string
	Column string // column of the keys; "reason" means reason and monitor_reasons together
	Time   string // column of durations: their average ranks the keys; if "", blocked requests rank them
}

// TopXLabels lists the labels of topx, by name.
var TopXLabels = []Label{
	{Name: "country", Column: "country"},
	{Name: "host", Column: "host"},
	{Name: "ip", Column: "ip"},
	{Name: "organization", Column: "organization"},
	{Name: "origin_time", Column: "url", Time: "origin_us"},
	{Name: "reason", Column: "reason"},
	{Name: "referer", Column: "referer"},
	{Name: "svc_time", Column: "url", Time: "svc_us"},
	{Name: "svcid", Column: "svcid"},
	{Name: "total_time", Column: "url", Time: "total_us"},
	{Name: "url", Column: "url"},
	{Name: "user_agent", Column: "user_agent"},
}

// Labels lists the names of the labels of topx, in alphabetical order.
var Labels = labelNames(TopXLabels)

// TimeLabels lists the labels that rank URLs by an average time.
var TimeLabels = slices.DeleteFunc(slices.Clone(TopXLabels), func(l Label) bool { return l.Time == "" })

// TopXPart is a group of labels with their keys in the same column.
type TopXPart struct {
	Column string
	Labels []string
}

// TopXParts lists the parts of a topx query, by column. An engine that cannot answer all labels at once answers them
// part by part: labels of different parts have no keys in common.
var TopXParts = topXParts()

func topXParts() []TopXPart {
	byColumn := map[string][]string{}
	for _, l := range TopXLabels {
		byColumn[l.Column] = append(byColumn[l.Column], l.Name)
	}
	var parts []TopXPart
	for column, labels := range byColumn {
		parts = append(parts, TopXPart{column, labels})
	}
	slices.SortFunc(parts, func(a, b TopXPart) int { return strings.Compare(a.Column, b.Column) })
	return parts
}

func labelNames(labels []Label) []string {
	names := make([]string, len(labels))
	for i, l := range labels {
		names[i] = l.Name
	}
	return names
}

// Has reports whether the answer includes a label.
func (s TopX) Has(label string) bool { return s.Labels == nil || slices.Contains(s.Labels, label) }
