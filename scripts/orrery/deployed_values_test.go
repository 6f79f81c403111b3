package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
)

// testValues asks both targets for the values of fields in an hour. The server looks into its objects, the deployment
// into the lists beside its objects. The answers are the same for a field that has few values.
func testValues(t *testing.T, s *targets) {
	const hour = "timestamp between 2026-01-01 02:00 and 2026-01-01 02:59:59.999"
	var answer struct {
		Data struct{ Results []json.RawMessage }
		Meta struct {
			Exact       bool
			Unavailable string
		}
	}
	fields := []string{"country", "method", "status", "blocked", `security_config["acl_active"]`, "upstream_status"}
	for _, field := range fields {
		parameters := url.Values{"field": {field}, "filters": {hour}, "limit": {"50"}}
		status, body := s.ask(t, apiRequest{method: "GET", path: "/api/v4.0/data/values?" + parameters.Encode()})
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Fatal(err)
		}
		if status != http.StatusOK || len(answer.Data.Results) == 0 || !answer.Meta.Exact {
			t.Errorf("%s: %d %s", field, status, body)
		}
	}
	s.ask(t, apiRequest{
		method: "POST", path: bases[0] + "/data/values",
		body:   `{"field":"method","prefix":"p","filters":"` + hour + `"}`,
		header: map[string]string{"Content-Type": "application/json"},
	})
	// The deployment keeps no lists of addresses.
	response, body := s.askOne(t, s.deployed, apiRequest{method: "GET", path: "/api/v4.0/data/values?field=ip"})
	answer.Data.Results, answer.Meta.Unavailable = nil, ""
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || len(answer.Data.Results) > 0 || answer.Meta.Unavailable == "" {
		t.Errorf("ip: %d %s", response.StatusCode, body)
	}
}
