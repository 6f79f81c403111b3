package asking_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/sqlgen"
	"github.com/orrery/orrery/shared/whatif"
	"github.com/orrery/orrery/shared/whatif/asking"
	"github.com/orrery/orrery/shared/whatif/simulate"
)

// various gives requests countries, methods, headers and tags.
func various(r *rand.Rand, rows []*lake.Row) []simulate.Record {
	var records []simulate.Record
	for _, row := range rows {
		row.TsNanos = row.TsNanos / 1000 * 1000
		record := recordOf(row)
		set := func(name string, values ...string) *string {
			if n := r.IntN(len(values) + 1); n > 0 {
				record.Fields[name] = values[n-1]
				return &values[n-1]
			}
			return nil
		}
		row.Country, row.Method, row.ASN = set("country", "China", "Peru"), set("method", "GET", "POST"), set("asn", "1", "64500")
		if r.IntN(2) == 0 {
			row.Headers = []lake.Pair{{Name: "x-a", Value: "b"}}
			record.Headers = map[string]string{"x-a": "b"}
		}
		for _, tag := range []string{"a", "c"} {
			if r.IntN(2) == 0 {
				row.Tags = append(row.Tags, tag)
			}
		}
		record.Tags = row.Tags
		records = append(records, record)
	}
	return records
}

func randomEntries(r *rand.Rand, n int) (list []simulate.Entry) {
	for range n {
		list = append(list, []simulate.Entry{
			{Type: "country", Value: "China"}, {Type: "country", Value: "Peru"}, {Type: "method", Value: "^P"}, {Type: "asn", Value: "64500"},
			{Type: "path", Value: "[12]$"}, {Type: "ip", Value: "192.0.2.1"}, {Type: "ip", Value: "192.0.2.2/31"},
			{Type: "headers", Name: "x-a", Value: "b"}, {Type: "tags", Value: "a"}, {Type: "tags", Value: "c"},
		}[r.IntN(10)])
	}
	return list
}

func entriesJSON(list []simulate.Entry) []map[string]string {
	entries := []map[string]string{}
	for _, e := range list {
		one := map[string]string{"type": e.Type, "value": e.Value}
		if e.Name != "" {
			one["name"] = e.Name
		}
		entries = append(entries, one)
	}
	return entries
}

// TestTreesAreSimulated: a global filter acts on the requests that the simulation of the published rules selects, with
// conditions of which all or one must hold on both levels.
func TestTreesAreSimulated(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	rows := traffic(r)
	records := various(r, rows)
	relations := []string{"AND", "OR"}
	alternatives, some := 0, 0
	for range 60 {
		f := simulate.Filter{Active: true, Relation: relations[r.IntN(2)], Entries: randomEntries(r, r.IntN(4))}
		var groups []map[string]any
		for range r.IntN(4) {
			g := simulate.Group{Relation: relations[r.IntN(2)], Entries: randomEntries(r, 1+r.IntN(3))}
			f.Groups = append(f.Groups, g)
			groups = append(groups, map[string]any{"relation": g.Relation, "entry": entriesJSON(g.Entries)})
		}
		if len(f.Entries)+len(f.Groups) == 0 {
			continue
		}
		text, err := json.Marshal(map[string]any{"rule": map[string]any{
			"relation": f.Relation, "entry": entriesJSON(f.Entries), "group": groups,
		}})
		if err != nil {
			t.Fatal(err)
		}
		var want int64
		for i, is := range simulate.Filters([]simulate.Filter{f}, records) {
			if len(is) > 0 && inPeriod(rows[i]) {
				want++
			}
		}
		got := run(t, sourceOf(t, rows), string(text))
		if got.NumOfRequests != want {
			t.Fatalf("%s: %d requests, the simulation has %d", text, got.NumOfRequests, want)
		}
		if again := run(t, sourceOf(t, rows), got.Rule); again.NumOfRequests != want || again.Rule != got.Rule {
			t.Errorf("%s becomes %s: %d requests, the simulation has %d", got.Rule, again.Rule, again.NumOfRequests, want)
		}
		if len(got.Forms) != 1 {
			t.Errorf("%s has %d forms", text, len(got.Forms))
		}
		if strings.HasPrefix(got.Rule, "{") {
			alternatives++
		}
		if want > 0 && want < int64(len(rows))/2 {
			some++
		}
		for _, c := range got.Affected {
			if c.RecordRef == nil {
				t.Errorf("%s: no record of %+v", text, c)
			}
		}
	}
	if alternatives < 20 || some < 20 {
		t.Errorf("%d filters have alternatives, %d select some requests", alternatives, some)
	}
}

// TestTagsThatExcludeTogether: a limit does not count requests that have all of several tags.
func TestTagsThatExcludeTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	rows := traffic(r)
	various(r, rows)
	limit := simulate.Limit{
		Active: true, Threshold: 2, Timeframe: 600, Key: []simulate.Part{{Kind: "attrs", Name: "ip"}},
		Exclude: simulate.Tags{Relation: "AND", Names: []string{"a", "c"}},
	}
	reaching := slices.DeleteFunc(slices.Clone(rows), func(row *lake.Row) bool { return !counted(row) })
	var records []simulate.Record
	for _, row := range reaching {
		record := recordOf(row)
		record.Tags = row.Tags
		records = append(records, record)
	}
	want := int64(0)
	for i, is := range simulate.Limits(limit, records) {
		if is && inPeriod(reaching[i]) {
			want++
		}
	}
	const text = `{"threshold":2,"timeframe":600,"key":[{"attrs":"ip"}],"exclude":{"relation":"AND","tags":["a","c"]}}`
	got := run(t, sourceOf(t, rows), text)
	if got.NumOfRequests != want || want == 0 {
		t.Errorf("%d requests, the simulation has %d", got.NumOfRequests, want)
	}
	if again := run(t, sourceOf(t, rows), got.Rule); again.NumOfRequests != want || !strings.Contains(again.Rule, `"exclude":{"relation":"AND"`) {
		t.Errorf("%s: %d requests, the simulation has %d", again.Rule, again.NumOfRequests, want)
	}
}

var literals = regexp.MustCompile(`'(?:[^']|'')*'`)

// FuzzAlternatives: whatever the values of a global filter are, they are nothing but literals in SQL, and select the
// requests that have them.
func FuzzAlternatives(f *testing.F) {
	for _, text := range []string{"China", `", path="`, `a\`, `it's`, "' OR '1'='1", "c\nd", "x\x00", ") where", "--", "/*"} {
		f.Add(text, "Peru", true)
		f.Add("Peru", text, false)
	}
	f.Fuzz(func(t *testing.T, a, b string, and bool) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || a == "" || b == "" || len(a)+len(b) > 1000 {
			return
		}
		q, ok := bindTree(t, a, b, and)
		if !ok {
			return
		}
		plain, _ := bindTree(t, "x", "y", and)
		for name, print := range map[string]func(query.Query) (sqlgen.Script, error){
			"Athena": sqlgen.Athena, "DuckDB": func(q query.Query) (sqlgen.Script, error) { return sqlgen.DuckDB(q, nil) },
		} {
			script, err := print(q)
			var refused *sqlgen.ValueError
			if errors.As(err, &refused) {
				continue
			}
			other, otherErr := print(plain)
			if err != nil || otherErr != nil {
				t.Fatal(err, otherErr)
			}
			got := literals.ReplaceAllString(script.Statements[0].SQL, "'…'")
			if want := literals.ReplaceAllString(other.Statements[0].SQL, "'…'"); got != want {
				t.Errorf("%s of %q and %q:\n%s\nwant\n%s", name, a, b, got, want)
			}
		}
		row := &lake.Row{TsMs: noon.UnixMilli(), Country: &a, Tags: []string{b}}
		if !query.Match(&q, row) {
			t.Errorf("%q and %q: the request that has both is not selected", a, b)
		}
		if query.Match(&q, &lake.Row{TsMs: noon.UnixMilli(), Country: new(a + "?"), Tags: []string{b + "?"}}) {
			t.Errorf("%q and %q: a request that has none is selected", a, b)
		}
		if one := query.Match(&q, &lake.Row{TsMs: noon.UnixMilli(), Country: &a}); one == and {
			t.Errorf("%q and %q: a request with one of them: %t", a, b, one)
		}
	})
}

// bindTree binds the query of a global filter with a country and a tag, of which one or both must be there.
func bindTree(t *testing.T, country, tag string, and bool) (q query.Query, ok bool) {
	t.Helper()
	entries := entriesJSON([]simulate.Entry{{Type: "country", Value: country}, {Type: "tags", Value: tag}})
	group := map[string]any{"relation": "OR", "entry": entries}
	if and {
		group["relation"] = "AND"
	}
	text, err := json.Marshal(map[string]any{"rule": map[string]any{
		"relation": "OR", "group": []any{group}, "entry": entriesJSON([]simulate.Entry{{Type: "ip", Value: "192.0.2.1"}}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	rule, err := whatif.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	q, err = query.Bind(filter.ParseQueryString(filter.Joined(period, rule.Where)), query.Stats{})
	if err != nil {
		t.Fatal(err)
	}
	alternatives, err := search.BindAnyOf(search.AnyOfText(rule.AnyOf))
	if err != nil {
		if errors.As(err, new(*query.FilterError)) {
			return q, false
		}
		t.Fatal(err)
	}
	q.Conditions = append(q.Conditions, alternatives...)
	return q, true
}

// TestMistakesInAlternatives: a mistake in a condition of several is one of the rule.
func TestMistakesInAlternatives(t *testing.T) {
	const rule = `{"rule":{"relation":"OR","entry":[{"type":"path","value":"("},{"type":"country","value":"China"}]}}`
	_, err := asking.Run(t.Context(), sourceOf(t, nil), asking.Request{Filters: period, Rule: rule})
	var mistake *search.ParamError
	if !errors.As(err, &mistake) || mistake.Param != "rule" || !strings.Contains(fmt.Sprint(err), "regular expression") {
		t.Errorf("%v", err)
	}
}
