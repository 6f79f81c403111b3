package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/chromedp/chromedp"
	"github.com/evanw/esbuild/pkg/api"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

// TestPureModules runs the tests of the pure modules in the browser.
func TestPureModules(t *testing.T) {
	browser := chromium(t)
	script, err := bundle(folder, "pure/tests.ts", api.FormatIIFE)
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t, browser, "", 800, "light")
	b.run(chromedp.Evaluate(string(script)+";0", nil))
	type failure struct{ Test, Text string }
	report := value[struct {
		Tests    int
		Failures []failure
	}](b, "bundle.run()")
	if report.Tests < 20 {
		t.Errorf("only %d tests", report.Tests)
	}
	for _, f := range report.Failures {
		t.Errorf("%s: %s", f.Test, f.Text)
	}

	t.Run("conditions are split as the filter package splits them", func(t *testing.T) {
		texts := filterExamples(t)
		var want [][]string
		for _, text := range texts {
			want = append(want, conditionsOf(t, text))
		}
		sent, err := json.Marshal(texts)
		if err != nil {
			t.Fatal(err)
		}
		got := value[[][]string](b, fmt.Sprintf("bundle.conditions(%s)", sent))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("conditions (-filter +console):\n%s", diff)
		}
	})
	t.Run("mistakes are underlined where the filter package finds them", func(t *testing.T) {
		const period = "timestamp between 2026-01-01 and 2026-01-02, "
		type mistake struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Offset  int    `json:"offset"`
			Length  int    `json:"length"`
		}
		texts, _ := filters(t)
		var mistakes [][]mistake
		var want [][]string
		for _, text := range texts {
			found, underlined := []mistake{}, []string{}
			for _, p := range filter.ParseQueryString(period + text).Problems {
				found = append(found, mistake{p.Code, p.Message, p.Span.Offset, p.Span.Length})
				from, to := max(0, p.Span.Offset-len(period)), max(0, p.Span.End()-len(period))
				if from == to { // one character is underlined instead
					_, size := utf8.DecodeRuneInString(text[from:])
					if to += size; from == len(text) {
						_, size = utf8.DecodeLastRuneInString(text)
						from -= size
					}
				}
				underlined = append(underlined, text[from:to])
			}
			mistakes, want = append(mistakes, found), append(want, underlined)
		}
		sent, err := json.Marshal([]any{texts, period, mistakes})
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range value[[][]string](b, fmt.Sprintf("bundle.underlined(...%s)", sent)) {
			if diff := cmp.Diff(want[i], got); diff != "" {
				t.Errorf("%q (-filter +console):\n%s", texts[i], diff)
			}
		}
	})
	t.Run("tokens have the kinds that they have for the filter package", func(t *testing.T) {
		_, texts := filters(t)
		sent, err := json.Marshal(texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range value[[][]string](b, fmt.Sprintf("bundle.tokens(%s)", sent)) {
			if diff := cmp.Diff(kindsOf(texts[i]), got); diff != "" {
				t.Errorf("%s (-filter +console):\n%s", texts[i], diff)
			}
		}
	})
	t.Run("requests are explained as in package why", func(t *testing.T) {
		goldentest.Compare(t, explanations, explained(t, b))
	})
}

// explanations are records with what the modules of the console say about them. Package why says the same.
var explanations = filepath.Join("..", "..", "shared", "why", "testdata", "console.ndjson")

// explained returns the file of explanations with what the modules say now.
func explained(t *testing.T, b *tab) string {
	t.Helper()
	text, err := os.ReadFile(explanations)
	if err != nil {
		t.Fatal(err)
	}
	var records []json.RawMessage
	for line := range bytes.Lines(text) {
		var one struct{ Record json.RawMessage }
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		records = append(records, one.Record)
	}
	sent, err := json.Marshal([]any{records, catalog.Describe()})
	if err != nil {
		t.Fatal(err)
	}
	said := value[[]string](b, fmt.Sprintf("bundle.explained(...%s).map((one) => JSON.stringify(one))", sent))
	var lines strings.Builder
	for i, one := range said {
		fmt.Fprintf(&lines, "{\"record\":%s,\"console\":%s}\n", records[i], one)
	}
	return lines.String()
}

var examplePattern = regexp.MustCompile("(?s)```filter\n(.*?)```")

// filterExamples returns the query strings in the reference of the filter language.
func filterExamples(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", "filter", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var examples []string
	for _, m := range examplePattern.FindAllStringSubmatch(string(text), -1) {
		examples = append(examples, strings.TrimSpace(m[1]))
	}
	if len(examples) < 10 {
		t.Fatalf("only %d examples: the pattern no longer matches them", len(examples))
	}
	return examples
}

// conditionsOf returns the conditions of a query string as the filter package finds them.
func conditionsOf(t *testing.T, text string) []string {
	t.Helper()
	parsed := filter.ParseQueryString(text)
	if len(parsed.Problems) > 0 {
		t.Fatalf("%s: %v", text, parsed.Problems)
	}
	var conditions []string
	for _, c := range parsed.Conditions {
		conditions = append(conditions, text[c.Span.Offset:c.Span.End()])
	}
	return conditions
}

// filters returns query strings with mistakes, and query strings without: those in the reference of the filter language and in the
// tests of the filter package, the examples of the catalogue of fields, and the seeds of the fuzz tests.
func filters(t *testing.T) (mistaken, valid []string) {
	t.Helper()
	texts := filterExamples(t)
	for _, field := range catalog.Fields {
		texts = append(texts, field.Example)
	}
	folder := filepath.Join("..", "..", "shared", "filter")
	for _, pattern := range []string{"*_test.go", "testdata/fuzz/FuzzParse/*"} {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			texts = append(texts, literalsOf(t, path)...)
		}
	}
	slices.Sort(texts)
	for _, text := range slices.Compact(texts) {
		switch parsed := filter.Parse(text); {
		case parsed.Syntax != filter.QueryString || !utf8.ValidString(text): // which no page can send
		case len(parsed.Problems) > 0:
			mistaken = append(mistaken, text)
		case len(parsed.Conditions) > 0:
			valid = append(valid, text)
		}
	}
	if len(valid) < 100 || len(mistaken) < 100 {
		t.Fatalf("only %d filters, and %d with mistakes: they are no longer where they were", len(valid), len(mistaken))
	}
	return mistaken, valid
}

// literalsOf returns the string literals of a Go file, or of a seed of a fuzz test, whose lines are Go expressions.
func literalsOf(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	source := string(text)
	if seed, ok := strings.CutPrefix(source, "go test fuzz v1\n"); ok {
		source = "package seed\nvar _ = " + seed
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var literals []string
	ast.Inspect(file, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			literals = append(literals, text)
		}
		return true
	})
	return literals
}

// kindsOf returns the tokens of a filter, each with the kind by which the console colours it.
func kindsOf(text string) []string {
	parsed := filter.Parse(text)
	kindOf := func(found filter.Token) string {
		within := func(span filter.Span) bool {
			return found.Span.Offset <= span.Offset && span.End() <= found.Span.End()
		}
		for _, c := range parsed.Conditions {
			switch {
			case within(c.Field.Span):
				return "field"
			case c.Key != nil && within(c.Key.Span):
				return "key"
			case slices.ContainsFunc(c.Values, func(v filter.Value) bool { return within(v.Span) }):
				return "value"
			}
		}
		return string(found.Kind) // operator, mark or word
	}
	var kinds []string
	for _, found := range filter.Tokens(parsed) {
		if found.Span.Length > 0 {
			kinds = append(kinds, kindOf(found)+" "+text[found.Span.Offset:found.Span.End()])
		}
	}
	return kinds
}
