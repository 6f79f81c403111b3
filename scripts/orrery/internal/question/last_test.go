package question

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/filter"
)

func TestLast(t *testing.T) {
	for _, c := range []struct{ name, last, filter, want string }{
		{"without the flag the filter stays", "", "status=404", "status=404"},
		{"without a filter it is all", "15m", " ", "timestamp between now-15m and now"},
		{"it comes first", "1h", "status=404", "timestamp between now-1h and now, status=404"},
		{
			"in JSON, too", "1d", `{"field":"status","op":"eq","value":404}`,
			`{"AND":[{"field":"timestamp","op":"between","value":["now-1d","now"]},{"field":"status","op":"eq","value":404}]}`,
		},
		{"mistakes stay", "1h", "status==404", "timestamp between now-1h and now, status==404"},
		{
			"mistakes in JSON stay, and it is JSON", "1d", `{"field":"status","op":"eq"}`,
			`{"field":"timestamp","op":"between","value":["now-1d","now"]}, {"field":"status","op":"eq"}`,
		},
		{
			"mistakes in a list stay", "1d", ` [{"field":"status","op":"eqs","value":404}]`,
			`[{"field":"timestamp","op":"between","value":["now-1d","now"]}, {"field":"status","op":"eqs","value":404}]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (LastFlag{Last: c.last}).Before(c.filter); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestShortFormOfLast(t *testing.T) {
	for _, c := range []struct {
		name       string
		args, want []string
	}{
		{"query", []string{"query", "logs", "-1h", "status=404"}, []string{"query", "logs", "--last=1h", "status=404"}},
		{"explain", []string{"explain", "-15m", "logs"}, []string{"explain", "--last=15m", "logs"}},
		{"no other command", []string{"parse", "-1h"}, []string{"parse", "-1h"}},
		{"not after two dashes", []string{"query", "logs", "--", "-1h"}, []string{"query", "logs", "--", "-1h"}},
		{"not with another unit", []string{"query", "logs", "-1x"}, []string{"query", "logs", "-1x"}},
		{"no arguments", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, WithLongLast(c.args)); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMistakesWithLast: the mistakes of a filter with the flag are those of the filter.
func TestMistakesWithLast(t *testing.T) {
	for _, text := range []string{
		`{"field":"status","op":"eq"}`, `[{"field":"status","op":"eqs","value":404}]`, `{"AND":[{"field":"status"}`,
		"status==404", `{"OR":[{"field":"status","op":"eq","value":404}]}`,
	} {
		codes := func(text string) (list []string) {
			for _, e := range filter.Parse(text).Problems {
				list = append(list, e.Code)
			}
			return list
		}
		got := codes((LastFlag{Last: "1h"}).Before(text))
		if diff := cmp.Diff(codes(text), got); diff != "" || got == nil {
			t.Errorf("%s: codes (-alone +with the flag):\n%s", text, diff)
		}
	}
}
