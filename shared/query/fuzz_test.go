package query_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// FuzzBind checks that for any text Bind does not panic, that mistakes point into the text and can be drawn, and that
// a corrected filter binds. A filter that binds must give the same results when it is grouped, and the same query when
// it is printed and bound again.
func FuzzBind(f *testing.F) {
	for _, file := range []string{"fields", "keys", "values", "times", "regexes", "references", "networks"} {
		content, err := os.ReadFile("testdata/bind/" + file + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			line = strings.TrimSuffix(line, "\n")
			if text, ok := strings.CutPrefix(line, "> "); ok {
				f.Add(text)
			} else if text, ok := strings.CutPrefix(line, "+ "); ok {
				f.Add(withPeriod(text))
			}
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	rows := querytest.Rows(r, 20)
	for range 50 {
		f.Add(querytest.Filter(r, rows))
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := query.Bind(filter.Parse(text), query.Timeline{})
		var bad *query.FilterError
		if errors.As(err, &bad) {
			checkMistakes(t, bad)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkBound(t, q, rows)
	})
}

func checkMistakes(t *testing.T, bad *query.FilterError) {
	if len(bad.Errors) == 0 || len(bad.Errors) > filter.MaxErrors {
		t.Fatalf("%d mistakes", len(bad.Errors))
	}
	for _, e := range bad.Errors {
		if e.Span.Offset < 0 || e.Span.Length < 0 || e.Span.End() > len(bad.Text) {
			t.Fatalf("%q: mistake %+v is outside the text", bad.Text, e)
		}
		if e.Code == "" || e.Message == "" || utf8.ValidString(bad.Text) && !utf8.ValidString(e.Message) {
			t.Fatalf("%q: mistake %+v has no code or no valid message", bad.Text, e)
		}
	}
	if drawing := filter.Draw(bad.Text, bad.Errors); drawing == "" {
		t.Fatalf("%q: its mistakes cannot be drawn", bad.Text)
	}
	if bad.Fixed == "" {
		return
	}
	if _, err := query.Bind(filter.Parse(bad.Fixed), query.Timeline{}); err != nil {
		t.Fatalf("%q: the fixed filter %q has mistakes: %v", bad.Text, bad.Fixed, err)
	}
}

func checkBound(t *testing.T, q query.Query, rows []*lake.Row) {
	groups := query.Groups(q.Conditions)
	plain := everything()
	plain.Conditions = q.Conditions
	for _, row := range rows {
		if want, got := query.Match(&plain, row), groupsHold(groups, row); got != want {
			t.Fatalf("%s: the conditions hold: %v, the groups: %v", q, want, got)
		}
	}
	for _, printed := range []string{filter.Format(q.Filter), filter.FormatJSON(q.Filter)} {
		again, err := query.Bind(filter.Parse(printed), query.Timeline{})
		if err != nil {
			t.Fatalf("the canonical form %q does not bind: %v", printed, err)
		}
		if again.String() != q.String() || again.Fingerprint() != q.Fingerprint() {
			t.Fatalf("%s\nis printed as %q, which binds to\n%s", q, printed, again)
		}
	}
}
