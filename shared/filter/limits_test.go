package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/filter"
)

func TestTextTooLong(t *testing.T) {
	for _, open := range []string{"a=", "["} {
		f := filter.Parse(open + strings.Repeat("x", filter.MaxText))
		if codesOf(f.Problems) != "too_long" || len(f.Conditions) > 0 {
			t.Errorf("%s…: %s", open, codesOf(f.Problems))
		}
		filter.Draw(f.Text, f.Problems)
	}
	f := filter.Parse("a=" + strings.Repeat("x", filter.MaxText-2))
	if len(f.Problems) > 0 || len(f.Conditions) != 1 {
		t.Errorf("the longest text: %s", codesOf(f.Problems))
	}
}

func TestParseOfFixedForm(t *testing.T) {
	if f := filter.ParseQueryString(` {"AND":[]}`); codesOf(f.Problems) != "json_here" {
		t.Errorf("JSON as a query string: %s", codesOf(f.Problems))
	}
	if f := filter.ParseJSON(`status=404`); codesOf(f.Problems) != "not_json" {
		t.Errorf("a query string as JSON: %s", codesOf(f.Problems))
	}
	for _, f := range []filter.Filter{filter.ParseQueryString(" "), filter.ParseJSON("")} {
		if len(f.Problems)+len(f.Conditions) > 0 {
			t.Errorf("an empty text: %v", f)
		}
	}
}

func TestParseJSONNesting(t *testing.T) {
	nested := func(depth int) string {
		pairs := (depth - 1) / 2 // each AND is an object and an array, the condition one object more
		return strings.Repeat(`{"AND":[`, pairs) + `{"field":"a","op":"eq","value":1}` + strings.Repeat("]}", pairs)
	}
	if f := filter.Parse(nested(63)); len(f.Problems) > 0 || len(f.Conditions) != 1 {
		t.Errorf("63 deep: %s", codesOf(f.Problems))
	}
	if f := filter.Parse(nested(67)); codesOf(f.Problems) != "too_deep" {
		t.Errorf("67 deep: %s", codesOf(f.Problems))
	}
}

func TestParseMaxErrors(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("a==1, ", 50) + "b=1",
		strings.Repeat("(", 1000),
		strings.Repeat("a in (b, ", 1000),
		strings.Repeat(`a="`, 1000),
		"[" + strings.Repeat(`{"field":1},`, 50) + "{}]",
		"[" + strings.Repeat(`{"a":01,},`, 50) + "{}]",
	} {
		if f := filter.Parse(text); len(f.Problems) > filter.MaxErrors || len(f.Problems) == 0 {
			t.Errorf("%.20s…: %d mistakes", text, len(f.Problems))
		}
	}
}

// hostilePieces are texts that, repeated, take quadratic time to parse if any part of the text is searched twice.
var hostilePieces = []string{
	"a=(b,", "a~(b,", "a in (b, ", `a="b, `, "a and ", "(", `["a"`, "{\"a\":[", ";;a", "! ", "not ", "a between b, ",
	"“", "\n", ",", "a.b[", `"\`,
}

// TestParseHostileTexts parses 64 kB of each piece. If parsing took quadratic time, the test would not end.
func TestParseHostileTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, which runs with -short")
	}
	for _, piece := range hostilePieces {
		text := strings.Repeat(piece, 1<<16/len(piece))
		for _, end := range []string{"", ")", `"`, ")x", `")"`} {
			filter.ParseQueryString("a=1, " + text + end)
			filter.ParseQueryString("a~" + text + end)
			filter.ParseJSON("[" + text + end)
		}
	}
}

// tenConditions is the filter for which the goal for parsing speed is defined.
const tenConditions = `timestamp between 2026-01-01 10:00:00 and 2026-01-01 12:00:00, status>=500, ` +
	`host="shop.example", method in (POST, PUT, DELETE), path~"^/api/v[0-9]+/", headers["content-type"]~"json", ` +
	`country not in ("Germany", "France"), blocked is true, not tags="bot", request_time>2.5`

func manyConditions(n int) string {
	var b strings.Builder
	b.WriteString("timestamp between 2026-01-01 and 2026-01-02")
	for i := range n - 1 {
		fmt.Fprintf(&b, `, headers["x-%d"]!="value %d"`, i%50, i)
	}
	return b.String()
}

func TestParseThousandsOfConditions(t *testing.T) {
	f := filter.Parse(manyConditions(5000))
	if len(f.Conditions) != 5000 || len(f.Problems) > 0 {
		t.Fatalf("%d conditions, mistakes %s", len(f.Conditions), codesOf(f.Problems))
	}
	checkRoundTrip(t, f)
}

func BenchmarkParse(b *testing.B) {
	asJSON := filter.FormatJSON(filter.Parse(tenConditions))
	for _, test := range []struct{ name, text string }{
		{"ten", tenConditions}, {"ten-json", asJSON}, {"500", manyConditions(500)}, {"5000", manyConditions(5000)},
		{"5000-json", filter.FormatJSON(filter.Parse(manyConditions(5000)))},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(test.text)))
			for b.Loop() {
				if f := filter.Parse(test.text); len(f.Problems) > 0 {
					b.Fatal(codesOf(f.Problems))
				}
			}
		})
	}
}
