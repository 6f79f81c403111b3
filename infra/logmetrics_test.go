package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/report/runs"
)

// countedLines lists the messages of the log lines that a metric is read from. A metric that is missing here is read
// from lines with any message.
var countedLines = map[string][]string{
	"quarantined":    {"refused"},
	"overlapping":    {"overlapping"},
	"unchecked":      {"overlap not checked"},
	"damaged":        {"damaged object", "damaged object not rebuilt", "damaged object set aside"},
	"newer-schema":   {"object of a newer schema copied as it is"},
	"newest-age":     {"lake"},
	"behind":         {"lake"},
	"lost-logs":      {"reconciled"},
	"failed-reports": {"scheduled report"},
}

// TestLogMetricsMatchTheLog checks that the sources of the functions log the lines that the metrics are read from: with
// these messages, and with the attributes that the pattern and the value name.
func TestLogMetricsMatchTheLog(t *testing.T) {
	logged := loggedLines(t)
	compared := regexp.MustCompile(`\$\.(\w+) (?:=|>) (?:"([^"]*)"|\d+)`)
	for _, m := range allLogMetrics {
		var texts, attributes []string
		for _, c := range compared.FindAllStringSubmatch(m.pattern, -1) {
			if c[1] == "msg" {
				texts = append(texts, c[2])
			} else {
				attributes = append(attributes, c[1])
			}
		}
		if attribute, found := strings.CutPrefix(m.value, "$."); found {
			attributes = append(attributes, attribute)
		}
		if len(texts)+len(attributes) == 0 {
			t.Errorf("%s: the pattern %s compares nothing", m.name, m.pattern)
		}
		var messages []string
		missing := slices.Clone(attributes)
		for _, line := range logged {
			ofMetric := func(text string) bool { return matches(text, line.message) }
			if len(texts) == 0 || slices.ContainsFunc(texts, ofMetric) {
				messages = append(messages, line.message)
				missing = slices.DeleteFunc(missing, func(a string) bool { return slices.Contains(line.texts, a) })
			}
		}
		slices.Sort(messages)
		if diff := cmp.Diff(countedLines[m.name], slices.Compact(messages)); diff != "" && len(texts) > 0 {
			t.Errorf("%s: lines of the pattern %s (-want +logged):\n%s", m.name, m.pattern, diff)
		}
		if len(missing) > 0 {
			t.Errorf("%s: no line has the attributes %q", m.name, missing)
		}
	}
}

// TestFailedReportsAreCounted checks that the metric counts the state of runs that have failed.
func TestFailedReportsAreCounted(t *testing.T) {
	if want := `$.state = "` + string(runs.Failed) + `"`; !strings.Contains(failedReports.pattern, want) {
		t.Errorf("the pattern %s lacks %s", failedReports.pattern, want)
	}
}

// matches reports whether a text is that of a pattern. A * at the end of a pattern stands for any characters.
func matches(pattern, text string) bool {
	if prefix, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(text, prefix)
	}
	return text == pattern
}

// logLine is a line that a function of the sources may log.
type logLine struct {
	message string
	texts   []string // the literals of the function, among them the names of the line's attributes
}

// messageOf is the position of the message in the arguments of the methods of loggers.
var messageOf = map[string]int{
	"Debug": 0, "Info": 0, "Warn": 0, "Error": 0,
	"DebugContext": 1, "InfoContext": 1, "WarnContext": 1, "ErrorContext": 1, "Log": 2, "LogAttrs": 2,
}

// loggedLines returns the lines that the sources of the Lambda functions may log.
func loggedLines(t *testing.T) []logLine {
	t.Helper()
	var lines []logLine
	for _, root := range []string{"../functions", "../shared"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					lines = append(lines, linesOf(f)...)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return lines
}

// linesOf returns the lines that a function may log. Their messages are literals, or variables to which the function
// assigns literals.
func linesOf(f *ast.FuncDecl) []logLine {
	var messages, texts []string
	assigned := map[string][]string{} // by variable
	variables := map[string]bool{}    // that are messages
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if text, ok := literal(n); ok {
				texts = append(texts, text)
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if name, ok := left.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) {
					if text, ok := literal(n.Rhs[i]); ok {
						assigned[name.Name] = append(assigned[name.Name], text)
					}
				}
			}
		case *ast.CallExpr:
			method, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				break
			}
			i, logs := messageOf[method.Sel.Name]
			if !logs || len(n.Args) <= i {
				break
			}
			if name, ok := n.Args[i].(*ast.Ident); ok {
				variables[name.Name] = true
			} else if text, ok := literal(n.Args[i]); ok {
				messages = append(messages, text)
			}
		}
		return true
	})
	for name := range variables {
		messages = append(messages, assigned[name]...)
	}
	lines := make([]logLine, len(messages))
	for i, message := range messages {
		lines[i] = logLine{message, texts}
	}
	return lines
}

// literal returns the text of a literal string.
func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}
