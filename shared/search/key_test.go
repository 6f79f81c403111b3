package search

import (
	"strings"
	"testing"
	"time"
)

// TestKeysOfQueries: the key of a query does not depend on addresses in memory, so that equal requests join. Everything
// that changes the answer changes the key.
func TestKeysOfQueries(t *testing.T) {
	const hour = "timestamp between 2026-01-01 10:00 and 2026-01-01 11:00"
	first := Request{Route: Logs, Filters: hour, Limit: "3"}
	q, err := bind(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	cursor := cursorAfter(first, q, nil)
	cursor.Last.TsMs = q.Period.FromMs
	later, newer := cursor, cursor
	later.Last.Line = 7
	newer.Head.Line = 7
	since := func(h head) Request { return Request{Route: Logs, Filters: hour, Limit: "3", Since: tokenOfHead(h)} }
	requests := map[string]Request{
		"logs":                      first,
		"logs of a page":            {Route: Logs, Filters: hour, Limit: "3", Cursor: cursor.token()},
		"logs of a newer head":      {Route: Logs, Filters: hour, Limit: "3", Cursor: newer.token()},
		"logs of the next page":     {Route: Logs, Filters: hour, Limit: "3", Cursor: later.token()},
		"logs since":                since(head{Place: cursor.Last}),
		"logs since a later record": since(head{Place: later.Last}),
		"logs since a change":       since(head{cursor.Last, 1}),
		"logs since another change": since(head{cursor.Last, 2}),
		"a member":                  {Route: Stats, Filters: hour + `, headers["accept"]="a"`},
		"another member":            {Route: Stats, Filters: hour + `, headers["accept-language"]="a"`},
		"a pattern of members":      {Route: Stats, Filters: hour + `, headers[~"accept"]="a"`},
		"a regular expression":      {Route: Stats, Filters: hour + `, path~"^/a"`},
		"groups":                    {Route: Stats, Filters: hour, GroupBy: `headers["accept"]`},
		"other groups":              {Route: Stats, Filters: hour, GroupBy: `cookies["accept"]`},
		"a zone":                    {Route: Timeline, Filters: hour, Segment: "1h", TZ: "Europe/Berlin"},
		"another zone":              {Route: Timeline, Filters: hour, Segment: "1h", TZ: "Asia/Tokyo"},
		"topx":                      {Route: TopX, Filters: hour},
		"topx with percentiles":     {Route: TopX, Filters: hour, Figures: "percentiles"},
		"facets":                    {Route: Facets, Filters: hour, By: `country,headers["accept"]`},
		"facets of other fields":    {Route: Facets, Filters: hour, By: `country,headers["host"]`},
		"a histogram":               {Route: Histogram, Filters: hour, By: "country"},
		"a histogram by another":    {Route: Histogram, Filters: hour, By: `headers["accept"]`},
		"a diff":                    {Route: Diff, Filters: hour, Select: `headers["accept"]="a"`},
		"a diff of others":          {Route: Diff, Filters: hour, Select: `headers["accept"]="b"`},
		"a diff with the past":      {Route: Diff, Filters: hour, Against: "previous"},
		"a diff with a day ago":     {Route: Diff, Filters: hour, Against: "1d"},
	}
	names := map[string]string{} // by key
	for name, r := range requests {
		var keys [2]string
		for i := range keys {
			q, err := bind(t.Context(), r)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			keys[i] = keyOf(r, q)
		}
		if keys[0] != keys[1] || strings.Contains(keys[0], "0xc") {
			t.Errorf("%s has the keys\n%s\n%s", name, keys[0], keys[1])
		}
		if other, taken := names[keys[0]]; taken {
			t.Errorf("%s has the key of %s: %s", name, other, keys[0])
		}
		names[keys[0]] = name
	}
	at := time.Date(2026, 1, 3, 12, 0, 0, 0, time.UTC)
	var joined [2]string
	for i, against := range []string{"2026-01-01 12:00..2026-01-02 12:00", "now-2d..now-1d"} {
		r := Request{Route: Diff, Filters: "timestamp between now-1h and now", Against: against, Now: at}
		q, err := bind(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		joined[i] = keyOf(r, q)
	}
	if joined[0] != joined[1] {
		t.Errorf("a relative period and its absolute form have the keys\n%s\n%s", joined[0], joined[1])
	}
	const days = "timestamp between 2026-01-01 and 2026-01-09"
	for i, segment := range []string{"4d", "345600"} {
		r := Request{Route: Timeline, Filters: days, Segment: segment}
		q, err := bind(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		joined[i] = keyOf(r, q)
	}
	if joined[0] != joined[1] {
		t.Errorf("segments of four days have the keys\n%s\n%s", joined[0], joined[1])
	}
}
