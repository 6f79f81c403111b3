package query_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

// TestBind compares the files of testdata/bind, which contain filters and the result of binding them:
//
//	# a rule
//	> a whole filter
//	+ conditions, to which the test adds the period
//	= the canonical form
//	where  a bound condition, as Query.String prints it
//
// After a filter with mistakes come the drawing of its errors and, when they have a mechanical correction, "fixed" and
// the corrected filter.
func TestBind(t *testing.T) {
	paths, err := filepath.Glob("testdata/bind/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("testdata/bind has no files: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			goldentest.Compare(t, path, answerCases(string(content)))
		})
	}
}

// answerCases returns the content of a file of cases with the current results.
func answerCases(content string) string {
	var b strings.Builder
	for line := range strings.Lines(content) {
		switch text := strings.TrimSuffix(line[min(2, len(line)):], "\n"); {
		case strings.HasPrefix(line, "#"):
			b.WriteString("\n" + line)
		case strings.HasPrefix(line, "> "):
			b.WriteString("\n" + line + describe(text, true))
		case strings.HasPrefix(line, "+ "):
			b.WriteString("\n" + line + describe(withPeriod(text), false))
		}
	}
	return strings.TrimPrefix(b.String(), "\n")
}

func withPeriod(text string) string {
	if strings.HasPrefix(text, "{") {
		return `[{"field":"timestamp","op":"between","value":["2026-01-01","2026-01-02"]},` + text + "]"
	}
	return text + ", timestamp between 2026-01-01 and 2026-01-02"
}

// describe prints the result of binding a filter. Without period, it omits the period, which the test added.
func describe(text string, period bool) string {
	q, err := query.Bind(filter.Parse(text), query.Logs{})
	if err != nil {
		drawing := querytest.Explain(err)
		var e *query.FilterError
		if errors.As(err, &e) && e.Fixed != "" {
			drawing += "fixed " + e.Fixed + "\n"
		}
		return drawing
	}
	var b strings.Builder
	if !period {
		q.Filter.Conditions = q.Filter.Conditions[1:]
	} else {
		b.WriteString(q.Period.String() + "\n")
	}
	b.WriteString("= " + filter.Format(q.Filter) + "\n")
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		b.WriteString("= " + filter.FormatJSON(q.Filter) + "\n")
	}
	for _, c := range q.Conditions {
		b.WriteString("where  " + c.String() + "\n")
	}
	return b.String()
}

func TestBindErrorKind(t *testing.T) {
	_, err := query.Bind(filter.Parse("hots=1"), query.Logs{})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("a filter with mistakes is of kind %v", fault.KindOf(err))
	}
	_, err = query.Bind(filter.Parse("timestamp between 2026-01-01 and 2027-01-01"), query.Stats{SegmentSeconds: 60})
	if e := (*query.FilterError)(nil); errors.As(err, &e) || fault.KindOf(err) != fault.Invalid {
		t.Errorf("the error of too many segments is %v", err)
	}
	const want = "segments of 1m cut the period into as many as 525601 results, more than 10000; " +
		"the shortest that fits is 1h"
	if err.Error() != want {
		t.Errorf("got %q\nwant %q", err, want)
	}
}

func TestBindErrorPointersInJSON(t *testing.T) {
	_, err := query.Bind(filter.Parse(`{"AND":[
		{"field":"timestamp","op":"between","value":["2026-01-01","yesterday"]},
		{"field":"hots","op":"eq","value":1},
		{"field":"path","op":"gt","value":1},
		{"field":"tags","key":"a","op":"eq","value":"b"},
		{"field":"status","op":"in","value":[200,"ok"]},
		{"field":"headers","key":"(","op":"eq","value":"b"}
	]}`), query.Logs{})
	var e *query.FilterError
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	var pointers []string
	for _, one := range e.Errors {
		pointers = append(pointers, one.Pointer)
	}
	want := "/AND/0/value/1 /AND/1/field /AND/2/op /AND/3/key /AND/4/value/1 /AND/5/key"
	if got := strings.Join(pointers, " "); got != want {
		t.Errorf("pointers %s\nwant     %s", got, want)
	}
}

func TestWithBranches(t *testing.T) {
	f := filter.Parse(`timestamp between 2026-01-01 and 2026-01-02, status=404`)
	free, err := query.Bind(f, query.Logs{}, query.WithBranches(nil))
	if err != nil || len(free.Conditions) != 1 {
		t.Fatalf("no branches: %v, %v", free.Conditions, err)
	}
	bound, err := query.Bind(f, query.Logs{}, query.WithBranches([]string{"prod", "staging"}))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := bound.Conditions[1].String(), `branch in {"prod", "staging"}`; got != want {
		t.Errorf("the condition is %s, want %s", got, want)
	}
	if bound.Fingerprint() == free.Fingerprint() {
		t.Error("a restricted query has the fingerprint of the unrestricted one, so they would share cached answers")
	}
	again, err := query.Bind(bound.Filter, query.Logs{}, query.WithBranches([]string{"prod", "staging"}))
	if err != nil || again.Fingerprint() != bound.Fingerprint() {
		t.Errorf("binding the canonical filter again gives %s, %v", filter.Format(again.Filter), err)
	}
	if _, err := query.Bind(f, query.Logs{}, query.WithBranches([]string{"prod", "a\x00b"})); err == nil {
		t.Error("an invalid branch was dropped, and the restriction with it")
	}
}

func TestBindReportsFirstTwentyMistakes(t *testing.T) {
	text := strings.Repeat("hots=1, ", 500) + "status~(, timestamp between 2026-01-01 and 2026-01-02"
	_, err := query.Bind(filter.Parse(text), query.Logs{})
	var e *query.FilterError
	if !errors.As(err, &e) || len(e.Errors) != filter.MaxErrors {
		t.Fatalf("%v", err)
	}
	for i, one := range e.Errors {
		if one.Span.Offset != 8*i {
			t.Errorf("mistake %d is at offset %d", i, one.Span.Offset)
		}
	}
	if e.Fixed != "" {
		t.Errorf("the correction is %.100s, want none", e.Fixed)
	}
}

// TestBindErrorsOfUnreadText checks that Bind does not report a missing period when the parser did not read the whole
// text. Once, it did so for a filter of 1 MB with a period.
func TestBindErrorsOfUnreadText(t *testing.T) {
	const period = `timestamp between 2026-01-01 and 2026-01-02`
	const periodJSON = `{"field":"timestamp","op":"between","value":["2026-01-01","2026-01-02"]}`
	const statusJSON = `{"field":"status","op":"eq","value":1}`
	for _, test := range []struct {
		name string
		text string
		want []string
	}{
		{"too long", period + ", path=" + strings.Repeat("a", filter.MaxText), []string{"too_long"}},
		{"not UTF-8", period + ", path=\xff", []string{"invalid_utf8"}},
		{"too deep", strings.Repeat(`{"AND":[`, 40) + statusJSON + strings.Repeat("]}", 40), []string{"too_deep"}},
		{"NUL in a quoted value", period + ", path=\"/\x00\"", []string{"nul"}},
		{"NUL in a bare value", period + ", path=/\x00", []string{"nul"}},
		{"NUL in a key", period + ", headers[\"a\x00\"]=b", []string{"nul"}},
		{"NUL escaped in JSON", `[` + periodJSON + `,{"field":"path","op":"eq","value":"/\u0000"}]`, []string{"nul"}},
		{"NUL in two values", period + ", path=\"/\x00\", host=\"\x00\"", []string{"nul", "nul"}},
		{"readable without a period", "path=/", []string{"period_missing"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := query.Bind(filter.Parse(test.text), query.Logs{})
			var e *query.FilterError
			if !errors.As(err, &e) {
				t.Fatalf("%v", err)
			}
			var got []string
			for _, one := range e.Errors {
				got = append(got, one.Code)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("codes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBindFilterWithoutText binds filters that no parser made. Their mistakes have no positions.
func TestBindFilterWithoutText(t *testing.T) {
	value := func(texts ...string) (values []filter.Value) {
		for _, text := range texts {
			values = append(values, filter.Value{Kind: filter.Text, Text: text, Quoted: true})
		}
		return values
	}
	conditions := []filter.Condition{
		{Field: filter.Word{Text: "timestamp"}, Op: filter.Between, Values: value("2026-01-01", "2026-01-02")},
		{Field: filter.Word{Text: "path"}, Op: filter.Regex, Values: value("(")},
		{Field: filter.Word{Text: "path"}, Op: filter.Eq, Values: value("a", "b")},
		{Field: filter.Word{Text: "path"}, Op: filter.Eq},
		{Field: filter.Word{Text: "status"}, Op: filter.Between, Values: value("1")},
		{Field: filter.Word{Text: "path"}, Op: filter.Eq, Values: value("\xff")},
		{Field: filter.Word{Text: "cookies"}, Key: &filter.Key{Text: "["}, Op: filter.Eq, Values: value("a")},
		{Field: filter.Word{Text: "host"}, Op: filter.Eq, Values: value(strings.Repeat("long", 99) + "\x00")},
	}
	_, err := query.Bind(filter.Filter{Syntax: filter.QueryString, Conditions: conditions}, query.Logs{})
	want := strings.Join([]string{
		"malformed regular expression: unclosed (; the language is RE2",
		"operator eq takes one value, not 2",
		"operator eq takes one value, not 0",
		"operator between takes two values, not 1",
		"the text is not valid UTF-8",
		"malformed regular expression: missing closing ] [; the language is RE2",
		"a filter cannot contain the character NUL",
	}, "; ")
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	status := filter.Condition{Field: filter.Word{Text: "status"}, Op: filter.Eq, Values: value("404")}
	conditions = append(conditions[:1], status)
	if q, err := query.Bind(filter.Filter{Conditions: conditions}, query.Logs{}); err != nil || len(q.Conditions) != 1 {
		t.Errorf("%v, %v", q.Conditions, err)
	}
}

func TestSpellingsOfBooleans(t *testing.T) {
	const period = "timestamp between 2026-01-01 and 2026-01-02, "
	want := bindShape(t, period+"blocked is true", query.Logs{}).Fingerprint()
	for _, text := range []string{
		"blocked=true", "blocked = TRUE", `blocked="True"`, "blocked is TRUE", `blocked is "true"`, `blocked is "TRUE"`,
	} {
		if q := bindShape(t, period+text, query.Logs{}); q.Fingerprint() != want {
			t.Errorf("%s is %s", text, filter.Format(q.Filter))
		}
	}
	for _, rest := range []string{
		`"op":"is","value":true`, `"op":"is","value":"TRUE"`, `"op":"eq","value":"True"`, `"op":"eq","value":true`,
	} {
		text := `{"AND":[{"field":"timestamp","op":"between","value":["2026-01-01","2026-01-02"]},` +
			`{"field":"blocked",` + rest + `}]}`
		if q := bindShape(t, text, query.Logs{}); q.Fingerprint() != want {
			t.Errorf("%s is %s", rest, filter.Format(q.Filter))
		}
	}
}

func TestMistakesInPatterns(t *testing.T) {
	for pattern, want := range map[string]string{
		"a{2,1}": "malformed regular expression: the repeat {2,1} has its larger number first (write {1,2}); " +
			"the language is RE2",
		"a{1,1001}": "unsupported regular expression: more than 1000 repeats in total {1,1001}; the language is RE2",
		"(?P<n>a)(?P=n)": "unsupported regular expression: back-reference (?P=n) (write the pattern of the group again); " +
			"the language is RE2",
		`(a)\\1`: `unsupported regular expression: back-reference \1 (write the pattern of the group again); the language is RE2`,
	} {
		_, err := query.Bind(filter.Parse(`{"AND":[{"field":"timestamp","op":"between","value":["2026-01-01","2026-01-02"]},`+
			`{"field":"path","op":"regex","value":"`+pattern+`"}]}`), query.Logs{})
		var wrong *query.FilterError
		if !errors.As(err, &wrong) || len(wrong.Errors) != 1 || wrong.Errors[0].Message != want {
			t.Errorf("%s: %v, want %s", pattern, err, want)
		}
	}
}
