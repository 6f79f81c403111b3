package simulate_test

import (
	"reflect"
	"testing"

	. "github.com/orrery/orrery/shared/whatif/simulate"
)

var request = Record{
	Fields: map[string]string{
		"ip": "192.0.2.77", "asn": "64500", "country": "China", "organization": "Jade Telecom", "method": "POST",
		"path": "/shop/login", "uri": "/shop/login?next=/cart", "query": "next=/cart", "authority": "shop.example:443",
		"session": "", "network": "192.0.2.0/24", "secpolid": "p1",
	},
	Headers: map[string]string{"user-agent": "curl/8.0", "dnt": ""},
	Cookies: map[string]string{"id": "abc"},
	Args:    map[string]string{"next": "/cart"},
	Tags:    []string{"all", "bot:curl"},
}

func TestEntries(t *testing.T) {
	for _, c := range []struct {
		entry Entry
		want  bool
	}{
		{Entry{"ip", "", "192.0.2.77"}, true},
		{Entry{"ip", "", "192.0.2.78"}, false},
		{Entry{"ip", "", "::ffff:192.0.2.77"}, true},
		{Entry{"ip", "", "192.0.2.64/28"}, true},
		{Entry{"ip", "", "192.0.2.99/24"}, true}, // bits after the length
		{Entry{"ip", "", "192.0.2.80/28"}, false},
		{Entry{"ip", "", "::/0"}, false},
		{Entry{"ip", "", "0.0.0.0/0"}, true},
		{Entry{"ip", "", "192.0.2"}, false},
		{Entry{"asn", "", "64500"}, true},
		{Entry{"asn", "", "064500"}, true},
		{Entry{"asn", "", "6450"}, false},
		{Entry{"asn", "", "AS64500"}, false},
		{Entry{"country", "", "China"}, true},
		{Entry{"country", "", "china"}, false},
		{Entry{"country", "", "Chin."}, false},
		{Entry{"organization", "", "Jade"}, false},
		{Entry{"authority", "", "shop.example:443"}, true},
		{Entry{"authority", "", "shop.example"}, false},
		{Entry{"network", "", "192.0.2.0/24"}, true},
		{Entry{"network", "", "192.0.0.0/16"}, false},
		{Entry{"secpolid", "", "p1"}, true},
		{Entry{"session", "", ""}, true},
		{Entry{"region", "", ""}, false}, // absent
		{Entry{"path", "", "login"}, true},
		{Entry{"path", "", "^login"}, false},
		{Entry{"path", "", "^/shop/[a-z]+$"}, true},
		{Entry{"path", "", "LOGIN"}, false},
		{Entry{"path", "", "(?i)LOGIN"}, true},
		{Entry{"path", "", "(login"}, false}, // invalid
		{Entry{"path", "", ""}, true},
		{Entry{"uri", "", `\?next`}, true},
		{Entry{"query", "", "^next="}, true},
		{Entry{"method", "", "^(POST|PUT)$"}, true},
		{Entry{"method", "", "P"}, true},
		{Entry{"method", "", "GET"}, false},
		{Entry{"headers", "user-agent", "^curl/"}, true},
		{Entry{"headers", "user-agent", "wget"}, false},
		{Entry{"headers", "User-Agent", "curl"}, false},
		{Entry{"headers", "dnt", "^$"}, true},
		{Entry{"headers", "accept", ""}, false}, // absent
		{Entry{"headers", "id", "abc"}, false},  // a cookie
		{Entry{"cookies", "id", "b"}, true},
		{Entry{"cookies", "id", "x"}, false},
		{Entry{"tags", "", "bot:curl"}, true},
		{Entry{"tags", "", "bot"}, false},
		{Entry{"args", "next", "cart"}, false}, // unknown
		{Entry{"status", "", ""}, false},       // unknown
	} {
		f := Filter{Active: true, Relation: "OR", Entries: []Entry{c.entry}}
		if got := len(Filters([]Filter{f}, []Record{request})[0]) == 1; got != c.want {
			t.Errorf("%+v matches: %t", c.entry, got)
		}
	}
}

func TestAddressesOfIPv6(t *testing.T) {
	for _, c := range []struct {
		ip, value string
		want      bool
	}{
		{"::ffff:192.0.2.77", "192.0.2.77", true},
		{"::ffff:192.0.2.77", "192.0.2.0/24", true},
		{"::ffff:192.0.2.77", "::ffff:192.0.2.0/120", false},
		{"2001:db8::1", "2001:0db8:0::1", true},
		{"2001:db8::1", "2001:db8::/32", true},
		{"2001:db9::1", "2001:db8::/32", false},
		{"2001:db8::1", "0.0.0.0/0", false},
		{"unknown", "unknown", false},
	} {
		f := Filter{Active: true, Relation: "OR", Entries: []Entry{{"ip", "", c.value}}}
		r := Record{Fields: map[string]string{"ip": c.ip}}
		if got := len(Filters([]Filter{f}, []Record{r})[0]) == 1; got != c.want {
			t.Errorf("%s matches %s: %t", c.ip, c.value, got)
		}
	}
}

func TestFilterRelations(t *testing.T) {
	yes, no := Entry{"method", "", "POST"}, Entry{"method", "", "GET"}
	group := func(relation string, entries ...Entry) Group { return Group{relation, entries} }
	for _, c := range []struct {
		name   string
		filter Filter
		want   bool
	}{
		{"empty and", Filter{Relation: "AND"}, false},
		{"empty or", Filter{Relation: "OR"}, false},
		{"and", Filter{Relation: "AND", Entries: []Entry{yes, yes}}, true},
		{"and with one that fails", Filter{Relation: "AND", Entries: []Entry{yes, no}}, false},
		{"or with one that holds", Filter{Relation: "OR", Entries: []Entry{no, yes}}, true},
		{"or without one that holds", Filter{Relation: "OR", Entries: []Entry{no, no}}, false},
		{"no relation is or", Filter{Entries: []Entry{no, yes}}, true},
		{"and of groups", Filter{Relation: "AND", Groups: []Group{group("OR", no, yes), group("AND", yes, yes)}}, true},
		{"and of groups, one fails",
			Filter{Relation: "AND", Groups: []Group{group("OR", no, yes), group("AND", yes, no)}}, false},
		{"or of groups", Filter{Relation: "OR", Groups: []Group{group("AND", no, yes), group("OR", no, yes)}}, true},
		{"entries and groups", Filter{Relation: "AND", Entries: []Entry{yes}, Groups: []Group{group("OR", no)}}, false},
		{"entries or groups", Filter{Relation: "OR", Entries: []Entry{yes}, Groups: []Group{group("OR", no)}}, true},
		{"an empty group fails", Filter{Relation: "AND", Entries: []Entry{yes}, Groups: []Group{group("AND")}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inactive := c.filter
			c.filter.Active = true
			got := Filters([]Filter{inactive, c.filter}, []Record{request})[0]
			if want := []int{1}; c.want && !reflect.DeepEqual(got, want) || !c.want && len(got) > 0 {
				t.Errorf("matching %v of the inactive and the active filter", got)
			}
		})
	}
}

// TestTags follows tags from filter to filter, and on to a limit.
func TestTags(t *testing.T) {
	tagged := func(needs string, tags ...string) Filter {
		return Filter{Active: true, Relation: "AND", Entries: []Entry{{"tags", "", needs}}, Tags: tags}
	}
	filters := []Filter{
		tagged("scraper"), // not yet
		{Active: true, Relation: "OR", Entries: []Entry{{"headers", "user-agent", "curl"}}, Tags: []string{"tool", "x"}},
		tagged("scraper", "scraper"), // not by itself
		tagged("tool", "scraper"),
		tagged("scraper"),
		tagged("all"), // from the record
	}
	other := Record{Fields: map[string]string{"ip": "192.0.2.77"}}
	records := []Record{request, other, request}
	want := [][]int{{1, 3, 4, 5}, nil, {1, 3, 4, 5}}
	if got := Filters(filters, records); !reflect.DeepEqual(got, want) {
		t.Errorf("matching %v, want %v", got, want)
	}

	shared := append(make([]string, 0, 10), "all")
	Tagged(filters, []Record{{Headers: request.Headers, Tags: shared}})
	if after := shared[:2]; after[1] != "" {
		t.Errorf("the tag %q was written behind the tags that were given", after[1])
	}

	got := Tagged(filters, records)
	if want := []string{"all", "bot:curl", "tool", "x", "scraper"}; !reflect.DeepEqual(got[0].Tags, want) {
		t.Errorf("tags %v, want %v", got[0].Tags, want)
	}
	if want := []string{"all", "bot:curl"}; !reflect.DeepEqual(records[0].Tags, want) {
		t.Errorf("the record that was given has the tags %v, want %v", records[0].Tags, want)
	}

	limit := Limit{Active: true, Timeframe: 60, Threshold: 1, Include: Tags{Names: []string{"scraper"}},
		Key: []Part{{"attrs", "ip"}}}
	if got, want := Limits(limit, got), []bool{false, false, true}; !reflect.DeepEqual(got, want) {
		t.Errorf("with the filters, the limit acts on %v, want %v", got, want)
	}
	if got, want := Limits(limit, records), []bool{false, false, false}; !reflect.DeepEqual(got, want) {
		t.Errorf("without the filters, the limit acts on %v, want %v", got, want)
	}
}
