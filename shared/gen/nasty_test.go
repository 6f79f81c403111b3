package gen

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestNasty checks that the records contain each kind of hostile data, and nothing that JSON forbids or does not
// define.
func TestNasty(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	seen := map[string]int{}
	textIn := map[string]bool{} // fields that had a hostile text
	var last time.Time
	g := New(Options{Records: 4_000, Seed: 1, From: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), Nasty: true})
	for {
		line, ok := g.Next(nil)
		if !ok {
			break
		}
		if !json.Valid(line) || !utf8.Valid(line) {
			t.Fatalf("a record is not JSON: %.500q", line)
		}
		members := splitMembers(nil, string(line))
		names := map[string]bool{}
		for _, m := range members {
			if names[m.name] {
				t.Fatalf("a record has the member %s twice", m.name)
			}
			names[m.name] = true
			seen["value "+m.value]++
			if strings.HasPrefix(m.value, `{"`) && contains(pairFields, m.name) {
				uniqueNames(t, m.value)
			}
			for _, h := range hostile {
				if m.value == h.literal {
					seen["text "+h.class]++
					textIn[m.name] = true
				}
			}
			classify(m, seen)
		}
		for _, f := range append(append([]string{}, textFields...), `"headers"`, `"tags"`) {
			if !names[f] {
				seen["absent "+f]++
			}
		}
		if members[0].name != `"timestamp"` {
			seen["shuffled"]++
		}
		at := timeOf(t, line)
		if at.Equal(last) {
			seen["same instant"]++
		}
		if at.Truncate(time.Hour).Equal(at) {
			seen["hour boundary"]++
		}
		if at.Truncate(time.Minute).Equal(at) {
			seen["minute boundary"]++
		}
		last = at
	}
	for _, want := range []string{
		"shuffled", "same instant", "hour boundary", "minute boundary", "32 kB", "offset",
		"list of pairs", "repeated name", "names differing in case", "list of values",
		"digits 0", "digits 1", "digits 2", "digits 3", "digits 4",
		"digits 5", "digits 6", "digits 7", "digits 8", "digits 9",
		"value null", "value []", "value {}", `value ""`,
		"number as text", "huge integer", "12 digits", "unknown field", "absent \"headers\"", "absent \"ip\"",
	} {
		if seen[want] == 0 {
			t.Errorf("no record with %s", want)
		}
	}
	for _, h := range hostile {
		if seen["text "+h.class] == 0 {
			t.Errorf("no text of class %s", h.class)
		}
	}
	for _, f := range textFields {
		if !textIn[f] {
			t.Errorf("no hostile text in %s", f)
		}
	}
	for name, values := range structValues {
		for _, v := range values {
			if seen["value "+v] == 0 {
				t.Errorf("no record has %s with value %s", name, v)
			}
		}
	}
	for _, v := range append(append([]string{}, openValues...), otherValues...) {
		if seen["value "+v] == 0 {
			t.Errorf("no record has value %s", v)
		}
	}
}

// classify counts the kinds of hostile data that a member is an example of.
func classify(m member, seen map[string]int) {
	known := contains(textFields, m.name) || contains(pairFields, m.name)
	switch {
	case m.name == `"timestamp"`:
		text := strings.Trim(m.value, `"`)
		if !strings.HasSuffix(text, "Z") {
			seen["offset"]++
			text = text[:len(text)-5]
		}
		_, fraction, _ := strings.Cut(strings.TrimRight(text, "Z+-"), ".")
		seen["digits "+string(rune('0'+len(fraction)))]++
	case contains(unknownNames, m.name):
		seen["unknown field"]++
	case contains(numberFields, m.name) && strings.HasPrefix(m.value, `"`):
		seen["number as text"]++
	case contains(numberFields, m.name) && len(m.value) == 14 && strings.HasPrefix(m.value, "0."):
		seen["12 digits"]++
	case contains(pairFields, m.name) && strings.HasPrefix(m.value, `[{"name":`):
		seen["list of pairs"]++
		if strings.Count(m.value, `"name":"X-Repeated"`) > 1 {
			seen["repeated name"]++
		}
	case contains(pairFields, m.name) && strings.Contains(m.value, `":["`):
		seen["list of values"]++
	}
	if m.value == "99999999999999999999999999" {
		seen["huge integer"]++
	}
	if known && len(m.value) > 32<<10 {
		seen["32 kB"]++
	}
	if strings.Contains(m.value, `"x-repeated"`) && strings.Contains(m.value, `"X-REPEATED"`) {
		seen["names differing in case"]++
	}
}

// uniqueNames fails when an object has two names that are equal once JSON decodes them.
func uniqueNames(t *testing.T, object string) {
	t.Helper()
	var decoded map[string]any
	if err := json.Unmarshal([]byte(object), &decoded); err != nil {
		t.Fatal(err)
	}
	if members := splitMembers(nil, object); len(members) != len(decoded) {
		t.Fatalf("%d names, %d of them distinct: %.500s", len(members), len(decoded), object)
	}
}

func timeOf(t *testing.T, line []byte) time.Time {
	t.Helper()
	var r struct {
		Timestamp json.RawMessage `json:"timestamp"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(`"`+time.RFC3339Nano+`"`, string(r.Timestamp))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func contains(list []string, name string) bool {
	for _, v := range list {
		if v == name {
			return true
		}
	}
	return false
}
