package search_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/search"
)

const hour = "timestamp between 2026-01-01 10:00 and 2026-01-01 11:00"

// hourMs is the beginning of the period of hour.
const hourMs = 1767261600000

// crowd returns n records of the hour. Many have the same time.
func crowd(random *rand.Rand, n int) []*lake.Row {
	rows := make([]*lake.Row, n)
	for i := range rows {
		status := int64(200 + random.IntN(3))
		rows[i] = &lake.Row{
			TsMs: hourMs + 1000*random.Int64N(6), TsNanos: random.Int64N(2),
			Source: strconv.Itoa(random.IntN(3)), Line: int64(i + 1), Status: &status,
		}
	}
	return rows
}

// textsOf returns the records of a result as text.
func textsOf(r search.Result) []string {
	var texts []string
	for i := range r.Logs.Len() {
		texts = append(texts, string(r.Logs.AppendJSON(nil, i)))
	}
	return texts
}

func find(t *testing.T, rows []*lake.Row, r search.Request) search.Result {
	t.Helper()
	r.Route = search.Logs
	result, err := service(t, oracle{rows: rows}).Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if result.Meta.Next == nil || result.Meta.Head == "" {
		t.Fatalf("next is %v and head %q", result.Meta.Next, result.Meta.Head)
	}
	return result
}

func TestAllPagesAreTheWholeAnswer(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	for i := range 60 {
		rows := crowd(random, 1+random.IntN(60))
		for n, r := range rows {
			r.Host = hostOf(n)
		}
		r := search.Request{Filters: hour + ", status<202", Limit: "2500"}
		want := find(t, rows, r)
		if *want.Meta.Next != nil {
			t.Fatalf("an answer with %d of at most 2500 records has a next page", want.Logs.Len())
		}
		var got []string
		for pages := 0; ; pages++ {
			r.Limit = strconv.Itoa(1 + random.IntN(9))
			page := find(t, rows, r)
			got = append(got, textsOf(page)...)
			if page.Meta.Head != want.Meta.Head {
				t.Fatalf("page %d has another head than the first", pages)
			}
			if (*page.Meta.Next != nil) != (len(got) < want.Logs.Len()) {
				t.Fatalf("data %d: next is %v after %d of %d records", i, *page.Meta.Next, len(got), want.Logs.Len())
			}
			if *page.Meta.Next == nil {
				break
			}
			r.Cursor = **page.Meta.Next
		}
		if diff := cmp.Diff(textsOf(want), got); diff != "" {
			t.Fatalf("data %d: all pages (-whole +pages):\n%s", i, diff)
		}
	}
}

func TestRecordsThatArriveBetweenPages(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 0))
	rows := crowd(random, 60)
	early := len(rows)
	for i, r := range rows {
		r.Host = hostOf(i)
	}
	seen := map[string]int{}
	r := search.Request{Filters: hour, Limit: "7", Fields: "host"}
	for {
		page := find(t, rows, r)
		for _, text := range textsOf(page) {
			seen[text]++
		}
		if *page.Meta.Next == nil {
			break
		}
		r.Cursor = **page.Meta.Next
		for _, late := range crowd(random, 3) {
			late.Source, late.Line, late.Host = "1", int64(len(rows)+1), hostOf(len(rows))
			rows = append(rows, late)
		}
	}
	for i := range early {
		if text := fmt.Sprintf(`{"host":%q}`, *hostOf(i)); seen[text] == 0 {
			t.Errorf("record %s of the first page's data is missing", text)
		}
	}
	for text, n := range seen {
		if n > 1 {
			t.Errorf("record %s comes %d times", text, n)
		}
	}
	if len(seen) == early {
		t.Error("no late record came, so the test tests nothing")
	}
}

func hostOf(i int) *string {
	host := strconv.Itoa(i)
	return &host
}

func TestSinceFollowsALog(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 0))
	all := crowd(random, 200)
	slices.SortFunc(all, lake.Compare)
	var got []string
	head := ""
	for n := 0; n < len(all); {
		n = min(len(all), n+random.IntN(30))
		r := search.Request{Filters: hour, Limit: "11", Since: head}
		first := find(t, all[:n], r)
		news := textsOf(first)
		for page := first; *page.Meta.Next != nil; {
			r.Cursor = **page.Meta.Next
			page = find(t, all[:n], r)
			news = append(news, textsOf(page)...)
		}
		slices.Reverse(news)
		got = append(got, news...)
		head = first.Meta.Head
	}
	want := textsOf(find(t, all, search.Request{Filters: hour, Limit: "2500"}))
	slices.Reverse(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("all news (-whole +news):\n%s", diff)
	}
	t.Run("a token of no records is the beginning of the period", func(t *testing.T) {
		none := find(t, nil, search.Request{Filters: hour})
		first := &lake.Row{TsMs: hourMs, Source: "s", Line: 1}
		if n := find(t, []*lake.Row{first}, search.Request{Filters: hour, Since: none.Meta.Head}).Logs.Len(); n != 1 {
			t.Errorf("%d records since then, want the one that arrived", n)
		}
	})
	t.Run("a token stays the same while there is nothing newer", func(t *testing.T) {
		if again := find(t, all, search.Request{Filters: hour, Since: head}); again.Meta.Head != head {
			t.Errorf("head %s is now %s", head, again.Meta.Head)
		}
	})
}

func TestTokensOfOtherQueries(t *testing.T) {
	rows := crowd(rand.New(rand.NewPCG(4, 0)), 40)
	first := search.Request{Route: search.Logs, Filters: hour + ", status=200", Fields: "host,status", Limit: "3"}
	page := find(t, rows, first)
	next, head := **page.Meta.Next, page.Meta.Head
	for _, c := range []struct {
		rule   string
		change func(r *search.Request)
		code   string // "-" for no error
	}{
		{"the same request is accepted", func(*search.Request) {}, "-"},
		{"another spelling of the filter is accepted", func(r *search.Request) {
			r.Filters = `{"AND":[{"field":"timestamp","op":"between",` +
				`"value":["2026-01-01 11:00","2026-01-01 10:00"]},{"field":"status","op":"eq","value":200}]}`
		}, "-"},
		{"another limit is accepted", func(r *search.Request) { r.Limit = "9" }, "-"},
		{"another condition is refused", func(r *search.Request) { r.Filters = hour + ", status=201" },
			search.CursorOfOtherQuery},
		{"another period is refused", func(r *search.Request) {
			r.Filters = "timestamp between 2026-01-01 10:00 and 2026-01-01 12:00, status=200"
		}, search.CursorOfOtherQuery},
		{"other fields are refused", func(r *search.Request) { r.Fields = "host" }, search.CursorOfOtherQuery},
		{"other branches are refused", func(r *search.Request) { r.Branches = []string{"b"} }, search.CursorOfOtherQuery},
		{"another since is refused", func(r *search.Request) { r.Since = head }, search.CursorOfOtherQuery},
		{"a head is no cursor", func(r *search.Request) { r.Cursor = head }, ""},
		{"a cursor is no head", func(r *search.Request) { r.Cursor, r.Since = "", next }, ""},
		{"a cut cursor is refused", func(r *search.Request) { r.Cursor = next[:len(next)-4] }, ""},
		{"a changed cursor is refused", func(r *search.Request) { r.Cursor = "B" + next[1:] }, ""},
		{"text after a cursor is refused", func(r *search.Request) { r.Cursor += "AAAA" }, ""},
		{"a line break in a cursor is refused", func(r *search.Request) { r.Cursor = next[:8] + "\n" + next[8:] }, ""},
		{"a text is no head", func(r *search.Request) { r.Cursor, r.Since = "", "yesterday" }, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := first
			r.Cursor = next
			c.change(&r)
			_, err := service(t, oracle{rows: rows}).Search(t.Context(), r)
			var refused *search.ParamError
			switch {
			case c.code == "-" && err != nil, c.code != "-" && !errors.As(err, &refused):
				t.Fatalf("error %v", err)
			case c.code != "-" && refused.Code != c.code:
				t.Errorf("code %q of %v, want %q", refused.Code, err, c.code)
			}
		})
	}
}
