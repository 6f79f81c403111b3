package search

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/query"
)

// FuzzTokens: a token is read as the content it was made of, and every text that is read as a token is one that its
// content makes.
func FuzzTokens(f *testing.F) {
	period := query.Period{FromMs: 1, ToMs: 9}
	place := query.Place{TsMs: 5, TsNanos: 6, Source: "it's", Line: 7}
	f.Add("", int64(5), int64(6), "it's", int64(7))
	f.Add(tokenOfHead(head{Place: place}), int64(-1), int64(1_000_000), "\x00", int64(-1))
	f.Add(tokenOfHead(head{place, 3}), int64(5), int64(6), "a", int64(1))
	f.Add(cursor{Period: period, Head: place, Last: place}.token(), int64(9), int64(999_999), "\xff", int64(0))
	f.Add(cursor{Period: period, Last: query.Place{TsMs: 10}}.token(), int64(1)<<62, int64(0), "", int64(1))
	f.Fuzz(func(t *testing.T, text string, ms, nanos int64, source string, line int64) {
		if h, ok := parseHead(text); ok && tokenOfHead(h) != text {
			t.Errorf("%q is read as the head %+v", text, h)
		}
		if c, ok := parseCursor(text); ok && c.token() != text {
			t.Errorf("%q is read as the cursor %+v", text, c)
		}
		place := query.Place{TsMs: ms, TsNanos: nanos, Source: source, Line: line}
		if len(source) > 100 {
			return
		}
		for _, want := range []head{{Place: place}, {place, 1}, {place, 1 << 62}} {
			if h, ok := parseHead(tokenOfHead(want)); ok && h != want {
				t.Errorf("the head %+v is read as %+v", want, h)
			}
		}
		c := cursor{Question: [16]byte{1, 2}, Period: query.Period{FromMs: ms, ToMs: ms}, Head: place, Last: place}
		got, ok := parseCursor(c.token())
		if _, possible := parseHead(tokenOfHead(head{Place: place})); ok != possible || ok && got != c {
			t.Errorf("the cursor %+v is read as %+v, %v", c, got, ok)
		}
	})
}

func TestCursorOutsideItsPeriodIsRefused(t *testing.T) {
	c := cursor{Period: query.Period{FromMs: 10, ToMs: 20}}
	for ms, want := range map[int64]bool{9: false, 10: true, 20: true, 21: false} {
		c.Last.TsMs = ms
		if _, ok := parseCursor(c.token()); ok != want {
			t.Errorf("a place at %d in 10 to 20 is accepted: %v", ms, ok)
		}
	}
}

// TestForgedCursorsGrantNothing: a token has no signature, so anyone can make one. A query with a token keeps the
// conditions of the filter and the branches of the key. The token only limits it to the records after a place.
func TestForgedCursorsGrantNothing(t *testing.T) {
	r := Request{
		Route: Logs, Branches: []string{"shop"},
		Filters: "timestamp between 2026-01-01 10:00 and 2026-01-01 11:00, status>=500",
	}
	asked, err := bind(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(asked.String(), "branch") {
		t.Fatalf("the query is not limited to branches:\n%s", asked)
	}
	forged := cursor{
		Question: questionOf(r, asked), Period: asked.Period, Head: query.Place{TsMs: asked.Period.ToMs},
		Last: query.Place{TsMs: asked.Period.ToMs, TsNanos: 999_999, Source: "the log of another branch", Line: 1 << 40},
	}
	r.Cursor, r.Since = forged.token(), ""
	got, err := bind(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	logs := got.Shape.(query.Logs)
	if logs.OlderThan == nil || *logs.OlderThan != forged.Last {
		t.Errorf("the page begins at %v", logs.OlderThan)
	}
	logs.OlderThan = nil
	got.Shape = logs
	if diff := cmp.Diff(asked.String(), got.String()); diff != "" {
		t.Errorf("the query (-without +with the cursor):\n%s", diff)
	}
	for what, change := range map[string]func(*cursor){
		"a longer period":  func(c *cursor) { c.Period.FromMs = 0 },
		"another question": func(c *cursor) { c.Question[0]++ },
	} {
		other := forged
		change(&other)
		r.Cursor = other.token()
		var refused *ParamError
		if _, err := bind(t.Context(), r); !errors.As(err, &refused) || refused.Code != CursorOfOtherQuery {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestPlacesThatNoRecordHasAreRefused(t *testing.T) {
	for rule, place := range map[string]query.Place{
		"a year of five digits": {TsMs: 253_402_300_800_000},
		"a year before 0":       {TsMs: -62_167_219_200_001},
		"negative nanoseconds":  {TsNanos: -1},
		"a whole millisecond":   {TsNanos: 1_000_000},
		"a negative line":       {Line: -1},
		"NUL in the source":     {Source: "\x00"},
		"invalid UTF-8":         {Source: "\xff"},
	} {
		t.Run(rule, func(t *testing.T) {
			if h, ok := parseHead(tokenOfHead(head{Place: place})); ok {
				t.Errorf("%+v is accepted", h)
			}
		})
	}
}
