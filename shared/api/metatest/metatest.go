// Package metatest compares the meta of answers with the table of its members in the README of package api.
package metatest

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// The places of an answer.
const (
	OneMachine = "one machine"
	Athena     = "Athena"
)

// Member is a row of the table.
type Member struct {
	Name   string
	Routes []string // nil: all
	Where  string   // "everywhere" or a place
	When   string   // "always" or a condition
}

// Members reads the table. readme is the path of the README of package api.
func Members(t testing.TB, readme string) []Member {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## What an answer reports about itself\n")
	if !ok {
		t.Fatalf("%s has no section about the members of meta", readme)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var members []Member
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 || !strings.Contains(cells[1], "`") {
			continue
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "`", "")
		}
		m := Member{Name: cells[1], Where: cells[3], When: cells[4]}
		if cells[2] != "all" {
			m.Routes = strings.Fields(cells[2])
		}
		members = append(members, m)
	}
	return members
}

// Check compares the body of an answer with the table: it has every member that an answer of the route in that place
// always has, and none that the table does not have for them.
func Check(t testing.TB, members []Member, route, place string, body []byte) {
	t.Helper()
	var answer struct{ Meta map[string]json.RawMessage }
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%s: %v in %s", route, err, body)
	}
	if len(members) == 0 || len(answer.Meta) == 0 {
		t.Fatalf("%s: %d members in the table, meta of %s", route, len(members), body)
	}
	for _, m := range members {
		applies := (m.Routes == nil || slices.Contains(m.Routes, route)) && (m.Where == "everywhere" || m.Where == place)
		_, has := answer.Meta[m.Name]
		if applies && m.When == "always" && !has || !applies && has {
			t.Errorf("%s on %s: meta has %s: %v; the table has %+v", route, place, m.Name, has, m)
		}
	}
	for name := range answer.Meta {
		if !slices.ContainsFunc(members, func(m Member) bool { return m.Name == name }) {
			t.Errorf("%s on %s: the table does not have %s", route, place, name)
		}
	}
}

// CheckEstimate checks that the bytes that an answer read are known beforehand and within their estimate.
func CheckEstimate(t testing.TB, body []byte) {
	t.Helper()
	var answer struct {
		Meta struct {
			Bytes    int64 `json:"bytes_scanned"`
			Estimate struct {
				Bytes *struct{ Low, High int64 }
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	m := answer.Meta
	if b := m.Estimate.Bytes; b == nil || m.Bytes < b.Low || m.Bytes > b.High {
		t.Errorf("%d bytes, estimated %+v", m.Bytes, b)
	}
}
