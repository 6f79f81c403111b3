package pattern

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"testing"
)

func TestWorkOf(t *testing.T) {
	words := make([]string, 400)
	for i := range words {
		words[i] = fmt.Sprintf("%c%dword", 'a'+i%26, i)
	}
	for _, c := range []struct {
		pattern string
		work    int
	}{
		{"^/login$", 0},
		{"(?i)bot", 0},
		{"^/api/v[0-9]+/users", 2},
		{`\d{1,3}\.\d{1,3}`, 12},
		{"[0-9a-f]{8}-[0-9a-f]{4}", 24},
		{"(a?){1000}", 3_000},
		{strings.Repeat("a?", 1_000), 2_000},
		{"(?:(?:a?){30}){30}", 2_730},
		{"(?:(?:(?:(?:a?){9}){9}){9})*", 2_279},
		{strings.Repeat("[a-z]", 800), 800},
		{strings.Join(words, "|"), 400},
		{"(?:" + strings.Join(words, "|") + ")+", 2_000},
	} {
		re, err := syntax.Parse(c.pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := WorkOf(re); got < c.work*9/10 || got > c.work*2 {
			t.Errorf("%.60s: %d, want about %d", c.pattern, got, c.work)
		}
	}
}
