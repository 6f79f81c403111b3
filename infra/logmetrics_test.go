package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/queue"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/report/runs"
)

// countedLines lists the messages of the log lines that a metric is read from. A metric that is missing here is read
// from lines with any message.
var countedLines = map[string][]string{
	"rejected":       {"quarantined"},
	"imported":       {"imported", "imported in part"},
	"refused":        {"refused"},
	"overlapping":    {"overlapping"},
	"unchecked":      {"overlap not checked"},
	"damaged":        {"damaged object", "damaged object not rebuilt", "damaged object set aside"},
	"newer-schema":   {"object of a newer schema copied as it is"},
	"newest-age":     {"lake"},
	"behind":         {"lake"},
	"lost-logs":      {"reconciled"},
	"failed-reports": {"scheduled report"},
	"still-running":  {"still running"},
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

// TestImportsAreCountedOnce checks that each import of a raw log, and each of its lines, is counted once by the metrics
// about it. They read the lines that the handler of the queue really logs.
func TestImportsAreCountedOnce(t *testing.T) {
	rejected := map[record.Code]int64{"bad_json": 3}
	const lines, note = "quarantine/lines/source.ndjson", "quarantine/whole/raw/a.log.ndjson"
	refusal := fault.New(fault.Invalid, "the gzip file is cut off")
	for _, test := range []struct {
		name   string
		report ingest.Report
		err    error
		want   map[string]float64 // by metric
	}{
		{"an import", ingest.Report{Records: 7}, nil, map[string]float64{"imported": 7}},
		{
			"rejected lines", ingest.Report{Records: 7, Rejected: rejected, Quarantine: lines}, nil,
			map[string]float64{"imported": 7, "rejected": 3},
		},
		{"only rejected lines", ingest.Report{Rejected: rejected, Quarantine: note}, nil, map[string]float64{"rejected": 3}},
		{
			"rejected lines of a part", ingest.Report{Records: 7, Rejected: rejected, Quarantine: lines}, cloud.ErrUnfinished,
			map[string]float64{"imported": 7, "rejected": 3},
		},
		{"a refused log", ingest.Report{}, refusal, map[string]float64{"refused": 1}},
		{
			"a refused log with rejected lines", ingest.Report{Rejected: rejected}, refusal,
			map[string]float64{"refused": 1, "rejected": 3},
		},
		{"a failed import, which is repeated", ingest.Report{Rejected: rejected}, errors.New("the table is down"), nil},
		{
			"a copy", ingest.Report{Records: 7, Judged: 60, Seen: 50, SeenIn: "other", Sampled: true}, nil,
			map[string]float64{"imported": 7, "overlapping": 1},
		},
		{
			"no check for copies", ingest.Report{Records: 7, Unchecked: "throttled"}, nil,
			map[string]float64{"imported": 7, "unchecked": 1},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			counted := map[string]float64{}
			log := handled(t, "raw/a.log", test.report, test.err)
			for _, line := range log {
				for _, m := range []logMetric{rejectedLines, importedRecords, refusedLogs, overlappingLogs, uncheckedLogs} {
					if value, ok := m.measure(t, line); ok && value != 0 {
						counted[m.name] += value
					}
				}
			}
			if diff := cmp.Diff(test.want, counted, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +counted):\n%s\n%v", diff, log)
			}
		})
	}
}

// line is a line of a log of JSON.
type line map[string]any

// linesIn parses a log.
func linesIn(t *testing.T, log string) (all []line) {
	t.Helper()
	for text := range strings.Lines(log) {
		var parsed line
		if err := json.Unmarshal([]byte(text), &parsed); err != nil {
			t.Fatal(err)
		}
		all = append(all, parsed)
	}
	return all
}

// handled returns the lines that the handler of the queue logs about the import of an object with that outcome.
func handled(t *testing.T, key string, report ingest.Report, err error) []line {
	t.Helper()
	var log bytes.Buffer
	handler := queue.New(queue.Config{
		Importer: importOf{report, err}, Messages: noMessages{}, Bucket: "logs",
		Log: slog.New(slog.NewJSONHandler(&log, nil)), Now: func() time.Time { return time.Unix(0, 0) },
		Random: func(time.Duration) time.Duration { return 0 },
	})
	const put = `{"Records":[{"eventName":"ObjectCreated:Put","s3":{"bucket":{"name":"logs"},"object":{"key":%q}}}]}`
	body := fmt.Sprintf(put, key)
	batch := events.SQSEvent{Records: []events.SQSMessage{{MessageId: "m", Body: body}}}
	if _, err := handler.Handle(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	return linesIn(t, log.String())
}

// importOf is an importer with one outcome.
type importOf struct {
	report ingest.Report
	err    error
}

func (i importOf) Import(context.Context, rawlog.Log) (ingest.Report, error) { return i.report, i.err }
func (i importOf) Resend(context.Context) error                              { return nil }

// noMessages is a queue that takes messages and has none.
type noMessages struct{}

func (noMessages) Send(context.Context, string, time.Time) error     { return nil }
func (noMessages) Hide(context.Context, string, time.Duration) error { return nil }

// measure returns the value that a metric reads from a line, if the line matches its pattern and has the value.
func (m logMetric) measure(t *testing.T, of line) (float64, bool) {
	t.Helper()
	if !m.counts(t, of) {
		return 0, false
	}
	if attribute, found := strings.CutPrefix(m.value, "$."); found {
		value, ok := of[attribute].(float64)
		return value, ok
	}
	value, err := strconv.ParseFloat(m.value, 64)
	if err != nil {
		t.Fatal(err)
	}
	return value, true
}

// counts reports whether the pattern of a metric matches a line. With other operators, patterns are expressions of Go.
func (m logMetric) counts(t *testing.T, line line) bool {
	t.Helper()
	text := strings.NewReplacer("$.", "", " = ", " == ").Replace(strings.Trim(m.pattern, "{ }"))
	pattern, err := parser.ParseExpr(text)
	if err != nil {
		t.Fatalf("%s: %v", m.name, err)
	}
	var matched func(ast.Expr) bool
	matched = func(e ast.Expr) bool {
		if inner, ok := e.(*ast.ParenExpr); ok {
			return matched(inner.X)
		}
		both, ok := e.(*ast.BinaryExpr)
		if !ok {
			t.Fatalf("%s: the pattern has %T", m.name, e)
		}
		switch both.Op {
		case token.LAND:
			return matched(both.X) && matched(both.Y)
		case token.LOR:
			return matched(both.X) || matched(both.Y)
		}
		value := line[both.X.(*ast.Ident).Name]
		limit := both.Y.(*ast.BasicLit)
		if number, ok := value.(float64); ok && both.Op == token.GTR {
			least, err := strconv.ParseFloat(limit.Value, 64)
			return err == nil && number > least
		}
		wanted, isText := literal(limit)
		got, ok := value.(string)
		return ok && isText && both.Op == token.EQL && matches(wanted, got)
	}
	return matched(pattern)
}

// TestFailedReportsAreCounted checks that the metric counts the state of runs that have failed.
func TestFailedReportsAreCounted(t *testing.T) {
	if want := `$.state = "` + string(runs.Failed) + `"`; !strings.Contains(failedReports.pattern, want) {
		t.Errorf("the pattern %s lacks %s", failedReports.pattern, want)
	}
}

// matches reports whether a text matches a pattern. A * in a pattern stands for any characters.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1:] {
		_, after, found := strings.Cut(rest, part)
		rest, ok = after, ok && found
	}
	return ok && (rest == "" || strings.HasSuffix(pattern, "*"))
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
