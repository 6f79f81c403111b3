package wire

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/shared/lambdas"
)

var update = flag.Bool("update", false, "update the responses of the events")

const (
	eventFolder    = "../../../events"
	responseSuffix = ".response.json"
)

// TestEvents sends every event of the folder events to its function and compares the response.
func TestEvents(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(eventFolder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	sent := map[string]int{}
	for _, file := range files {
		if strings.HasSuffix(file, responseSuffix) {
			if _, err := os.Stat(strings.TrimSuffix(file, responseSuffix) + ".json"); err != nil {
				t.Errorf("%s belongs to no event", file)
			}
			continue
		}
		event := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(event, func(t *testing.T) {
			f := functionOf(t, event)
			sent[f.Name]++
			payload, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, event)
			for _, earlier := range before[event] {
				w.send(earlier)
			}
			response, err := w.function(f).Invoke(w.ctx, payload)
			if err != nil {
				response = failed(t, err)
			}
			compare(t, strings.TrimSuffix(file, ".json")+responseSuffix, response)
			if want := logged[event]; !strings.Contains(w.logs.String(), want) {
				t.Errorf("the log lacks %s:\n%s", want, w.logs.String())
			}
		})
	}
	for _, f := range lambdas.All {
		if sent[f.Name] == 0 {
			t.Errorf("function %s has no event", f.Name)
		}
	}
}

// TestReadmeListsEveryEvent checks that README.md lists exactly the existing events, in the rows of their functions.
func TestReadmeListsEveryEvent(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(eventFolder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range lambdas.All {
		row := regexp.MustCompile("(?m)^\\| `" + f.Name + "` \\|.*$").FindString(string(readme))
		row = regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(row, "")
		var listed, existing []string
		for _, name := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(row, -1)[min(1, len(row)):] {
			listed = append(listed, f.Name+"-"+name[1])
		}
		files, err := filepath.Glob(filepath.Join(eventFolder, f.Name+"-*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			event := strings.TrimSuffix(filepath.Base(file), ".json")
			if !strings.HasSuffix(file, responseSuffix) && functionOf(t, event).Name == f.Name {
				existing = append(existing, event)
			}
		}
		slices.Sort(listed)
		slices.Sort(existing)
		if diff := cmp.Diff(existing, listed); diff != "" {
			t.Errorf("%s (-files +README.md):\n%s", f.Name, diff)
		}
	}
}

// before lists the events that are sent before an event.
var before = map[string][]string{
	"timeline-scanned":             {"timeline-scanned"}, // so that the footers are always in memory
	"query-status-running":         {"topx-asynchronous"},
	"query-status-finished":        {"topx-asynchronous"},
	"query-status-scans-too-much":  {"topx-asynchronous"},
	"query-status-cancelled":       {"topx-asynchronous"},
	"query-status-asked-cancelled": {"topx-asynchronous", "query-status-cancelled"},
	"planet-put-restored":          {"planet-put-replaced"},
	"filter-get-found":             {"filter-put-saved"},
	"filter-get-listed":            {"filter-put-saved"},
	"filter-put-deleted":           {"filter-put-saved"},
	"filter-put-restored":          {"filter-put-saved", "filter-put-deleted"},
	"filter-get-versions":          {"filter-put-saved", "filter-put-deleted"},
	"list-get-found":               {"list-put-written"},
	"list-get-listed":              {"list-put-written"},
	"list-put-deleted":             {"list-put-written"},
	"list-put-restored":            {"list-put-written", "list-put-deleted"},
	"list-get-versions":            {"list-put-written", "list-put-deleted"},
	"report-put-paused":            {"report-put-saved"},
	"report-put-deleted":           {"report-put-saved"},
	"report-put-restored":          {"report-put-saved", "report-put-deleted"},
	"report-put-run":               {"report-put-saved"},
	"report-put-run-in-the-future": {"report-put-saved"},
	"report-get-found":             {"report-put-saved"},
	"report-get-listed":            {"report-put-saved"},
	"report-get-versions":          {"report-put-saved", "report-put-deleted"},
	"report-get-runs":              {"report-put-saved", "report-put-run"},
	"report-tick-queued":           {"report-put-saved", "report-put-run"},
	"report-delivered":             {"report-put-saved", "report-put-run"},
	"ingest-duplicate":             {"ingest-imported"},
	"compact-merged":               {"ingest-batch"},
	"compact-merged-before":        {"ingest-batch", "compact-merged"},
	"reconcile-lost":               {"ingest-imported"},
}

// logged lists the texts that the log must contain after an event, where the response does not show them.
var logged = map[string]string{
	"ingest-duplicate":             `"format":"orrery","records":0,"known":3`,
	"ingest-one-of-two-poisoned":   `"msg":"refused"`,
	"ingest-cut-short":             `"msg":"refused"`,
	"ingest-lines-quarantined":     `"records":3,"known":0,"rejected":1`,
	"ingest-not-from-the-bucket":   `"msg":"invalid message"`,
	"ingest-table-down":            `"msg":"not imported"`,
	"fields-table-down":            `"msg":"failed"`,
	"older-topx":                   `"request_id":"5f0c2d1e-0000-4000-8000-000000000180","method":"GET","route":"topx"`,
	"older-table-down":             `"msg":"failed"`,
	"stats-table-down":             `"msg":"failed"`,
	"status-table-down":            `"msg":"failed"`,
	"stats-still-running":          `"level":"WARN","msg":"still running"`,
	"effect-still-running":         `"level":"WARN","msg":"still running"`,
	"whatif-still-running":         `"level":"WARN","msg":"still running"`,
	"incidents-still-running":      `"level":"WARN","msg":"still running"`,
	"report-now-still-running":     `"level":"WARN","msg":"still running"`,
	"stats-damaged":                `"msg":"damaged object"`,
	"compact-table-down":           `"msg":"not compacted"`,
	"reconcile-table-down":         `"msg":"not reconciled"`,
	"reconcile-scheduled":          `"msg":"reconciled","listed":5,"arrived":0,"recent":5,"lost":0`,
	"reconcile-lost":               `"msg":"log sent again","key":"raw/2026/01/01/edge 2.ndjson"`,
	"timeline-scans-too-much":      `"status":422`,
	"planet-get-table-down":        `"msg":"failed"`,
	"planet-put-table-down":        `"msg":"failed"`,
	"planet-versions-table-down":   `"msg":"failed"`,
	"filter-get-table-down":        `"msg":"failed"`,
	"filter-put-table-down":        `"msg":"failed"`,
	"list-get-table-down":          `"msg":"failed"`,
	"list-put-table-down":          `"msg":"failed"`,
	"query-status-table-down":      `"msg":"failed"`,
	"report-get-table-down":        `"msg":"failed"`,
	"report-put-table-down":        `"msg":"failed"`,
	"report-tick-table-down":       `"msg":"scheduled reports not queued"`,
	"report-delivered":             `"state":"delivered"`,
	"report-unknown-run":           `"msg":"run not continued"`,
	"report-not-a-message":         `"msg":"run not continued"`,
	"report-table-down":            `"msg":"run not continued"`,
	"parse-table-down":             `"msg":"failed"`,
	"query-status-asked-cancelled": `"status":404`,
	"compact-merged":               `"msg":"compacted"`,
	"compact-merged-before":        `"msg":"lake","newest_age_s":56643,"behind_s":0}`,
}

// send sends an event of the folder to its function in this world.
func (w *world) send(event string) {
	w.t.Helper()
	payload, err := os.ReadFile(filepath.Join(eventFolder, event+".json"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.preparing = true
	response, err := w.function(functionOf(w.t, event)).Invoke(w.ctx, payload)
	w.preparing = false
	if err != nil {
		w.t.Fatal(err)
	}
	var answer struct{ StatusCode int }
	if err := json.Unmarshal(response, &answer); err != nil || answer.StatusCode >= 400 {
		w.t.Fatalf("%s: %s %v\n%s", event, response, err, w.logs.String())
	}
	if err := w.settle(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// failed returns Lambda's response for a function that fails, without the type, which is a Go type.
func failed(t *testing.T, err error) []byte {
	t.Helper()
	response, err := json.Marshal(map[string]string{"errorMessage": err.Error()})
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// TestFinishedQueryHasTheSameAnswer checks that query-status returns the same answer for an asynchronous query as a
// request that waits for it.
func TestFinishedQueryHasTheSameAnswer(t *testing.T) {
	for _, event := range []string{
		"topx-found", "stats-found", "timeline-found", "facets-found", "histogram-found", "diff-found",
		"logs-found",
	} {
		w := newWorld(t, event)
		var request map[string]any
		read(t, event+".json", &request)
		headers, ok := request["multiValueHeaders"].(map[string]any)
		if !ok {
			t.Fatalf("%s has no headers", event)
		}
		headers["Prefer"] = []string{"respond-async"}
		payload, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		started, err := w.function(functionOf(t, event)).Invoke(w.ctx, payload)
		if err != nil || !strings.Contains(string(started), `"statusCode":202`) {
			t.Fatalf("%s: %s %v", event, started, err)
		}
		if err := w.settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		status, err := os.ReadFile(filepath.Join(eventFolder, "query-status-finished.json"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.function(functionOf(t, "query-status-finished")).Invoke(w.ctx, status)
		if err != nil {
			t.Fatal(err)
		}
		type answer struct {
			StatusCode int
			Body       string
		}
		var want, by answer
		read(t, event+responseSuffix, &want)
		if err := json.Unmarshal(got, &by); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, by); diff != "" {
			t.Errorf("%s (-waited for +by ID):\n%s", event, diff)
		}
	}
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(eventFolder, name))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDoctorExaminesEveryFunction runs the doctor of every function in a deployment without keys and data.
func TestDoctorExaminesEveryFunction(t *testing.T) {
	for _, f := range lambdas.All {
		w := newWorld(t, f.Name)
		answer, err := w.function(f).Invoke(w.ctx, []byte(`{"doctor":true}`))
		var report doctor.Report
		if err == nil {
			err = json.Unmarshal(answer, &report)
		}
		if err != nil || report.Function != f.Name || len(report.Checks) == 0 || report.Checks[0].Check != "variables" {
			t.Errorf("%s: %s %v", f.Name, answer, err)
		}
	}
}

// functionOf returns the function of an event, by its name <function>-<case>.
func functionOf(t *testing.T, event string) lambdas.Function {
	t.Helper()
	var found lambdas.Function
	for _, f := range lambdas.All {
		if strings.HasPrefix(event, f.Name+"-") && len(f.Name) > len(found.Name) {
			found = f
		}
	}
	if found.Name == "" {
		t.Fatalf("no function has the event %s", event)
	}
	return found
}

func compare(t *testing.T, file string, response []byte) {
	t.Helper()
	var indented bytes.Buffer
	if err := json.Indent(&indented, response, "", "  "); err != nil {
		t.Fatalf("%s: %v", response, err)
	}
	indented.WriteByte('\n')
	if *update {
		if err := os.WriteFile(file, indented.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), indented.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRunbooks checks that the sections named by alarms are complete, and that the files named by the runbooks and the
// README exist.
func TestRunbooks(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(eventFolder, "RUNBOOKS.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(text), "\n## ")[1:]
	for _, section := range sections {
		name, body, _ := strings.Cut(section, "\n")
		if !strings.Contains(body, "**Symptoms.**") || !strings.Contains(body, "**Verify.**") {
			t.Errorf("the section %s is not complete", name)
		}
	}
	if len(sections) < 9 {
		t.Errorf("there are %d sections", len(sections))
	}
	readme, err := os.ReadFile(filepath.Join(eventFolder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`[a-z-]+\.json`).FindAllString(string(text)+string(readme), -1) {
		if strings.HasPrefix(name, "-") || name == "response.json" {
			continue // after <function> or <case>
		}
		if _, err := os.Stat(filepath.Join(eventFolder, name)); err != nil {
			t.Error(err)
		}
	}
}
