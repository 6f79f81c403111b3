package bench

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// results returns the results in an answer's data.
func results[T any](data json.RawMessage) ([]T, error) {
	var container struct {
		Results []T `json:"results"`
	}
	if err := json.Unmarshal(data, &container); err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	return container.Results, nil
}

// factsOf returns each result as text, without empty texts.
func factsOf[T any](data json.RawMessage, fact func(T) string) ([]string, error) {
	list, err := results[T](data)
	if err != nil {
		return nil, err
	}
	var facts []string
	for _, r := range list {
		if text := fact(r); text != "" {
			facts = append(facts, text)
		}
	}
	return facts, nil
}

func line(values ...any) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = fmt.Sprint(v)
	}
	return strings.Join(parts, "|")
}

func topxFacts(data json.RawMessage) ([]string, error) {
	type result struct {
		Label    string `json:"label"`
		Key      string `json:"key"`
		N        int64  `json:"num_of_requests"`
		Blocked  int64  `json:"num_of_blocked_requests"`
		Bots     int64  `json:"num_of_bot_requests"`
		Challeng int64  `json:"num_of_challenges"`
		Human    int64  `json:"num_of_human_requests"`
		Monitor  int64  `json:"num_of_monitored_requests"`
		Sent     int64  `json:"sum_of_bytes_sent"`
		Length   int64  `json:"sum_of_request_length"`
		ASN      string `json:"first_asn"`
		Country  string `json:"first_geo_country"`
		Org      string `json:"first_organization"`
	}
	return factsOf(data, func(r result) string {
		return line(r.Label, r.Key, r.N, r.Blocked, r.Bots, r.Challeng, r.Human, r.Monitor, r.Sent, r.Length,
			r.ASN, r.Country, r.Org)
	})
}

type statusCount struct {
	Key   string `json:"key"`
	Value int64  `json:"value"`
}

// histogram prints status counts as DuckDB prints a map: {200=3, 404=1}, by status.
func histogram(counts []statusCount) string {
	slices.SortFunc(counts, func(a, b statusCount) int {
		x, _ := strconv.Atoi(a.Key)
		y, _ := strconv.Atoi(b.Key)
		return x - y
	})
	parts := make([]string, len(counts))
	for i, c := range counts {
		parts[i] = fmt.Sprintf("%s=%d", c.Key, c.Value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func timelineFacts(data json.RawMessage) ([]string, error) {
	type result struct {
		Segment    int64         `json:"time_period"`
		N          int64         `json:"num_of_requests"`
		Blocked    int64         `json:"num_of_blocked_requests"`
		Challenges int64         `json:"num_of_challenges"`
		Human      int64         `json:"num_of_human_requests"`
		IPs        int64         `json:"num_of_ip"`
		Sessions   int64         `json:"num_of_sessions"`
		Origin     int64         `json:"num_of_origin_blocked_requests"`
		Sent       int64         `json:"sum_of_sent_bytes"`
		Statuses   []statusCount `json:"array_status_codes"`
		Origins    []statusCount `json:"array_origin_status_codes"`
	}
	return factsOf(data, func(r result) string {
		if r.N == 0 { // SQL has no row for it
			return ""
		}
		return line(r.Segment, r.N, r.Blocked, r.Challenges, r.Human, r.IPs, r.Sessions, r.Origin, r.Sent,
			histogram(r.Statuses), histogram(r.Origins))
	})
}

func statsFacts(data json.RawMessage) ([]string, error) {
	type result struct {
		Segment   int64  `json:"time_period"`
		N         int64  `json:"num_of_requests"`
		Bandwidth int64  `json:"sum_of_bandwidth"`
		Hostname  string `json:"hostname"`
	}
	return factsOf(data, func(r result) string {
		if r.N == 0 {
			return ""
		}
		return line(r.Segment, r.N, r.Bandwidth, r.Hostname)
	})
}

func logsFacts(data json.RawMessage) ([]string, error) {
	type result struct {
		ID string `json:"request_id"`
	}
	return factsOf(data, func(r result) string { return r.ID })
}

func valuesFacts(data json.RawMessage) ([]string, error) {
	type result struct {
		Value string `json:"value"`
	}
	return factsOf(data, func(r result) string { return r.Value })
}

func facetsFacts(data json.RawMessage) ([]string, error) {
	type facet struct {
		By     string `json:"by"`
		Values []struct {
			Value      any   `json:"value"`
			N          int64 `json:"num_of_requests"`
			Blocked    int64 `json:"num_of_blocked_requests"`
			Challenges int64 `json:"num_of_challenges"`
			Monitored  int64 `json:"num_of_monitored_requests"`
			Human      int64 `json:"num_of_human_requests"`
		} `json:"values"`
	}
	list, err := results[facet](data)
	var facts []string
	for _, f := range list {
		for _, v := range f.Values {
			facts = append(facts, line(f.By, v.Value, v.N, v.Blocked, v.Challenges, v.Monitored, v.Human))
		}
	}
	slices.Sort(facts)
	return facts, err
}

func histogramFacts(data json.RawMessage) ([]string, error) {
	type result struct {
		Segment int64   `json:"time_period"`
		Series  *string `json:"series"`
		Kind    string  `json:"kind"`
		N       int64   `json:"value"`
	}
	facts, err := factsOf(data, func(r result) string {
		if r.N == 0 { // SQL has no row for it
			return ""
		}
		series := "(" + r.Kind + ")"
		if r.Series != nil {
			series = *r.Series
		}
		return line(r.Segment, series, r.N)
	})
	slices.Sort(facts)
	return facts, err
}

func diffFacts(data json.RawMessage) ([]string, error) {
	type side struct {
		N int64 `json:"num_of_requests"`
	}
	type finding struct {
		By       string `json:"by"`
		Value    any    `json:"value"`
		Selected side   `json:"selected"`
		Baseline side   `json:"baseline"`
	}
	return factsOf(data, func(f finding) string { return line(f.By, f.Value, f.Selected.N, f.Baseline.N) })
}
