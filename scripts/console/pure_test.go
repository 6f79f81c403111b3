package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/evanw/esbuild/pkg/api"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/filter"
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
