package wire

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/reports"
	"github.com/orrery/orrery/functions/internal/searching"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/permissions"
	"github.com/orrery/orrery/shared/report/delivery"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// reporter returns a function that makes scheduled reports, over the stores of this process.
func (w *world) reporter(f lambdas.Function, e function.Environment) *function.Function {
	w.t.Helper()
	stores := reports.Stores{Documents: w.filters, Runs: w.runs, Keys: exampleKeys{}}
	if w.is("-table-down") {
		stores = reports.Stores{
			Documents: document.Over(tabledynamo.New(w.table, e.Table)), Runs: runs.Over(tabledynamo.New(w.table, e.Table), nil),
			Keys: keys.Over(tabledynamo.New(w.table, e.Table)),
		}
	}
	if f.Name == "report-tick" {
		return reports.TickOver(f, e, w.log, w.table, stores, &w.sent, at)
	}
	settings, err := destination.ReadJSON(e.Reports)
	if err != nil {
		w.t.Fatal(err)
	}
	w.searching(e)
	states := constant(stateOf(records(w.t)))
	path := reports.Path{
		Search: w.service, States: states, Settings: settings,
		Deliver: delivery.Sender{Settings: settings, AWS: &w.delivered},
	}
	return reports.MakeOver(f, e, w.log, w.table, stores, path, searching.Checks(w.client, states, w.engine, ready, e, at), at)
}

// exampleKeys has the key of the events.
type exampleKeys struct{ keys.Store }

func (exampleKeys) Find(_ context.Context, id string) (keys.Key, error) {
	if id != keys.IDOf(keys.HashOf(exampleKey)) {
		return keys.Key{}, keys.NotFound(id)
	}
	return keys.Key{ID: id, Name: "example", Scopes: keys.Scopes()}, nil
}

func (k exampleKeys) List(ctx context.Context) ([]keys.Key, error) {
	one, err := k.Find(ctx, keys.IDOf(keys.HashOf(exampleKey)))
	return []keys.Key{one}, err
}

// sent is a queue that keeps what is sent.
type sent struct{ bodies []string }

func (s *sent) Send(_ context.Context, body string) error {
	s.bodies = append(s.bodies, body)
	return nil
}

func (s *sent) Waiting(context.Context) (int, error) { return len(s.bodies), nil }

// delivered is an AWS that keeps the names of objects.
type delivered struct {
	delivery.AWS
	objects []string
}

func (d *delivered) Put(_ context.Context, to destination.Bucket, files []runs.File) error {
	for _, f := range files {
		d.objects = append(d.objects, to.Name+"/"+to.Prefix+f.Name)
	}
	return nil
}

// TestScheduledReport sends a report through all functions: it is written, a run is requested and queued, and the message
// of report-tick is what report makes the report of.
func TestScheduledReport(t *testing.T) {
	const event = "report-delivered"
	w := newWorld(t, event)
	for _, earlier := range before[event] {
		w.send(earlier)
	}
	tick, _ := lambdas.Named("report-tick")
	answer, err := w.function(tick).Invoke(w.ctx, []byte(`{"detail-type":"Scheduled Event"}`))
	if err != nil || string(answer) != `{"runs":1}` || len(w.sent.bodies) != 1 {
		t.Fatalf("%s %v, sent %v", answer, err, w.sent.bodies)
	}
	text, err := os.ReadFile(filepath.Join(eventFolder, event+".json"))
	if err != nil || !strings.Contains(string(text), strings.Trim(strings.ReplaceAll(w.sent.bodies[0], `":"`, `\": \"`), `{"}`)) {
		t.Fatalf("the event of report differs from the message %s: %v\n%s", w.sent.bodies[0], err, text)
	}
	w.invoke(event)
	if len(w.delivered.objects) != 4 || !strings.HasPrefix(w.delivered.objects[0], "orrery-archive/reports/prod-daily-") {
		t.Errorf("delivered %v\n%s", w.delivered.objects, w.logs.String())
	}
	answer, err = w.function(tick).Invoke(w.ctx, []byte(`{}`))
	if err != nil || string(answer) != `{"runs":0}` {
		t.Errorf("after the delivery: %s %v", answer, err)
	}
}

// invoke sends an event of report, whose queries are answered.
func (w *world) invoke(event string) {
	w.t.Helper()
	payload, err := os.ReadFile(filepath.Join(eventFolder, event+".json"))
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := w.function(functionOf(w.t, event)).Invoke(w.ctx, payload)
	if err != nil || string(answer) != `{"batchItemFailures":[]}` {
		w.t.Fatalf("%s: %s %v\n%s", event, answer, err, w.logs.String())
	}
}

// TestReportUsesTheWorkgroupOfReports: its queries have the limit of reports, and use the grants for that workgroup.
func TestReportUsesTheWorkgroupOfReports(t *testing.T) {
	w := newWorld(t, "report-delivered")
	for _, earlier := range before["report-delivered"] {
		w.send(earlier)
	}
	w.invoke("report-delivered")
	started := 0
	for _, call := range w.iam.Calls()["report"] {
		if call.Action == "athena:StartQueryExecution" {
			started++
			if !strings.HasSuffix(call.Resource, "workgroup/orrery-reports") {
				t.Errorf("%s", call)
			}
		}
	}
	if started == 0 || !permissions.AsksAthena("report") {
		t.Error("report has started no query")
	}
	used := []string{"athena:StartQueryExecution", "athena:GetQueryExecution", "athena:GetQueryResults"}
	judged := func(a permissions.Atom) bool {
		return a.On == permissions.ReportsWorkgroup && slices.Contains(used, a.Action)
	}
	calls := permissions.Calls{"report": w.iam.Calls()["report"]}
	for _, mistake := range permissions.Review(w.iam.Names.Resources(), calls, judged) {
		t.Error(mistake)
	}
}

// TestReportWaitsLessThanItMayRun: questions end before the time of the function, so that a report is delivered without
// those that are late.
func TestReportWaitsLessThanItMayRun(t *testing.T) {
	timeout, err := time.ParseDuration(lambdas.ReportTimeout.Default)
	if err != nil || timeout >= lambdas.LongestReport-lambdas.ReportReserve || lambdas.LongestReport >= 10*time.Minute {
		t.Errorf("%v %v", timeout, err)
	}
}

// TestReportStopsQueriesOfACancelledRun: a function that is stopped also stops the queries of its report.
func TestReportStopsQueriesOfACancelledRun(t *testing.T) {
	w := newWorld(t, "report-cancelled")
	for _, earlier := range before["report-delivered"] {
		w.send(earlier)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.cancel = cancel
	payload, err := os.ReadFile(filepath.Join(eventFolder, "report-delivered.json"))
	if err != nil {
		t.Fatal(err)
	}
	f, _ := lambdas.Named("report")
	answer, err := w.function(f).Invoke(ctx, payload)
	if err != nil || !strings.Contains(string(answer), `"itemIdentifier":"m-1"`) {
		t.Errorf("%s %v", answer, err)
	}
	judged := func(a permissions.Atom) bool {
		return a.On == permissions.ReportsWorkgroup && a.Action == "athena:StopQueryExecution"
	}
	calls := permissions.Calls{f.Name: w.iam.Calls()[f.Name]}
	for _, mistake := range permissions.Review(w.iam.Names.Resources(), calls, judged) {
		t.Error(mistake)
	}
}

// TestDescriptionHasReports: not-found describes the routes that the functions of reports answer.
func TestDescriptionHasReports(t *testing.T) {
	f, err := NotFound(lookupIn(nil), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	const request = `{"httpMethod":"GET","path":"/openapi.json","requestContext":{"requestId":"1"}}`
	answer, err := f.Invoke(t.Context(), []byte(request))
	var response struct{ Body string }
	if err == nil {
		err = json.Unmarshal(answer, &response)
	}
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ Paths map[string]any }
	if err := json.Unmarshal([]byte(response.Body), &document); err != nil {
		t.Fatalf("%v: %.200s", err, answer)
	}
	for _, path := range []string{"/data/report", "/conf/{config}/reports/{report}", "/conf/{config}/reports/{report}/run"} {
		if document.Paths[path] == nil {
			t.Errorf("the description lacks %s", path)
		}
	}
}
