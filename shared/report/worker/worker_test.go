package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net"
	"net/mail"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/asking"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/delivery"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/runs/runssqlite"
	"github.com/orrery/orrery/shared/report/worker"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// world is a runner over real stores, with a clock, answers and destinations of its own.
type world struct {
	t         *testing.T
	now       time.Time
	complete  time.Time // zero: until now
	documents *document.Items
	runs      runs.Store
	blocked   int64             // blocked requests of each answer
	failing   error             // of every question
	missing   string            // the route of questions that fail
	keys      map[string]string // why keys cannot be used
	bytes     string            // estimated bytes of a question, in JSON
	scanned   int               // bytes that an answer has read
	unrounded string            // both before they were rounded up, in JSON
	dry       error             // of dry runs of diffs
	refuse    map[string]error  // by destination
	log       bytes.Buffer

	fault *crash

	mutex sync.Mutex
	asked []string // branches and key of each report
	count int      // of the questions that were answered
	taken []taken
}

// taken is a delivery that a destination took.
type taken struct {
	to    string
	files []runs.File
}

// monday is 2026-11-16, 07:00.
var monday = time.Date(2026, 11, 16, 7, 0, 0, 0, time.UTC)

func newWorld(t *testing.T) *world {
	t.Helper()
	store, err := runssqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return &world{
		t: t, now: monday.Add(-time.Hour), documents: document.Over(&tabletest.Memory{}), runs: store,
		keys: map[string]string{}, refuse: map[string]error{}, bytes: `{"low":1,"high":10}`, unrounded: "null",
	}
}

// runner returns a new runner, as after a restart.
func (w *world) runner() *worker.Runner {
	store := w.runs
	var docs worker.Documents = w.documents
	if w.fault != nil {
		docs = crashingDocuments{w.documents, w.fault}
		if _, steps := store.(*runssqlite.Store); steps { // the writes of others are steps
			store = crashingRuns{store, w.fault}
		}
	}
	r := worker.New(worker.Config{
		Documents: docs, Runs: store, Deliver: w, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
		Settings: destination.Settings{
			Mail: &destination.Mail{From: "Orrery <orrery@example.com>", Domains: []string{"example.com"}}, Delay: time.Hour, Link: "https://orrery.example",
		},
		Now: func() time.Time { return w.now },
		Ask: func(branches []string, key string) asking.Source {
			w.mutex.Lock()
			defer w.mutex.Unlock()
			w.asked = append(w.asked, fmt.Sprint(branches, " ", key))
			return answers{w}
		},
		Complete: func(context.Context) (time.Time, error) {
			if w.complete.IsZero() {
				return w.now, nil
			}
			return w.complete, nil
		},
		Key: func(_ context.Context, id string) (string, error) { return w.keys[id], nil },
	})
	r.Pause = func(context.Context, time.Duration) error { return nil }
	return r
}

// answers answers every question with one segment, and the one for incidents with an attack if many requests are blocked.
type answers struct{ w *world }

func (a answers) Ask(_ context.Context, route string, params map[string]string) ([]byte, error) {
	if a.w.failing != nil {
		return nil, a.w.failing
	}
	if params["dry_run"] == "true" {
		if route == "diff" && a.w.dry != nil {
			return nil, a.w.dry
		}
		return []byte(`{"data":{"results":[]},"meta":{"estimate":{"bytes":` + a.w.bytes + `}},` +
			`"unrounded":` + a.w.unrounded + `}`), nil
	}
	if route == a.w.missing {
		return nil, errors.New("it failed")
	}
	a.w.mutex.Lock()
	defer a.w.mutex.Unlock()
	a.w.count++
	if route == "incidents" {
		results := ""
		if a.w.blocked >= 100 {
			results = `{"id":"1","kind":"flood","target":"shop.example","begin":"2026-11-15T00:00:00Z","end":"2026-11-15T00:10:00Z",` +
				`"held":{"state":"held"}}`
		}
		return fmt.Appendf(nil, `{"data":{"results":[%s]},"meta":{"bytes_scanned":%d},"unrounded":%s}`,
			results, a.w.scanned, a.w.unrounded), nil
	}
	return fmt.Appendf(nil, `{"data":{"results":[{"time_period":%d,"num_of_requests":1000,"num_of_blocked_requests":%d}]},`+
		`"meta":{"bytes_scanned":%d},"unrounded":%s}`,
		monday.AddDate(0, 0, -1).Unix(), a.w.blocked, a.w.scanned, a.w.unrounded), nil
}

// Deliver implements worker.Deliverer.
func (w *world) Deliver(ctx context.Context, to definition.Destination, files []runs.File) (string, error) {
	if err := w.fault.before("deliver"); err != nil {
		return "", err
	}
	if err := w.refuse[to.String()]; err != nil {
		return "", err
	}
	w.mutex.Lock()
	w.taken = append(w.taken, taken{to.String(), files})
	slices.SortStableFunc(w.taken, func(a, b taken) int { return strings.Compare(a.to, b.to) }) // they are concurrent
	w.mutex.Unlock()
	return "", w.fault.delivered(to.String())
}

// daily returns a daily report to a folder and to a mailbox.
func daily(change ...func(*definition.Stored)) definition.Stored {
	s := definition.Stored{
		Definition: definition.Definition{
			Period: "day", At: "07:00", TZ: "UTC", Template: "traffic", Compare: "previous", When: "always",
			Deliver: []definition.Destination{{To: "archive"}, {Mail: []string{"ops@example.com"}}},
		},
		Branches: []string{"shop"}, Key: "5a0d3c71f2e9",
	}
	for _, one := range change {
		one(&s)
	}
	return s
}

func (w *world) put(name string, s definition.Stored) {
	w.t.Helper()
	change := document.Change{Text: s.Text(), By: "console", At: w.now}
	if _, err := document.Put(w.t.Context(), w.documents, definition.DocumentOf("prod", name), change); err != nil {
		w.t.Fatal(err)
	}
}

// damage writes a version of a report that cannot be read.
func (w *world) damage(name string) {
	w.t.Helper()
	change := document.Change{Text: "{", By: "x", At: w.now}
	if _, err := document.Put(w.t.Context(), w.documents, definition.DocumentOf("prod", name), change); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) tick() {
	w.t.Helper()
	if err := w.runner().Tick(w.t.Context()); err != nil {
		w.t.Error(err)
	}
}

// states returns the states of the runs of a report, newest first.
func (w *world) states(name string) string {
	var list []string
	for _, r := range w.list(name) {
		list = append(list, string(r.State))
	}
	return strings.Join(list, " ")
}

func (w *world) list(name string) []runs.Run {
	w.t.Helper()
	list, err := w.runs.List(w.t.Context(), "prod", name, 200)
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// receivers returns who took reports.
func (w *world) receivers() string {
	var list []string
	for _, one := range w.taken {
		list = append(list, one.to)
	}
	return strings.Join(list, " ")
}

func TestReportIsDelivered(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.tick()
	if got := w.states("r"); got != "" {
		t.Errorf("before it is due: %s", got)
	}
	w.now = monday
	w.tick()
	w.tick()
	w.now = monday.Add(time.Hour)
	w.tick()
	list := w.list("r")
	if len(list) != 1 || list[0].State != runs.Delivered || list[0].Incomplete || list[0].Partial || list[0].Verdict == "" {
		t.Fatalf("%+v", list)
	}
	if got := w.receivers(); got != "archive ops@example.com" {
		t.Errorf("%s", got)
	}
	if !slices.Equal(w.asked, []string{"[shop] 5a0d3c71f2e9"}) {
		t.Errorf("asked for %v", w.asked)
	}
	var names []string
	for _, f := range w.taken[0].files {
		names = append(names, strings.Replace(f.Name, list[0].ID[:8], "ID", 1))
	}
	want := "prod-r-20261115T0000Z-ID.csv prod-r-20261115T0000Z-ID.html prod-r-20261115T0000Z-ID.json prod-r-20261115T0000Z-ID.txt"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s", got)
	}
	m, err := mail.ReadMessage(bytes.NewReader(w.taken[1].files[0].Content))
	if err != nil || m.Header.Get("X-Orrery-Run") != list[0].ID || m.Header.Get("To") != "<ops@example.com>" {
		t.Errorf("%v %v", m.Header, err)
	}
	if date, err := m.Header.Date(); err != nil || !date.Equal(monday) {
		t.Errorf("%v %v", date, err)
	}
	if files, err := w.runs.Files(t.Context(), list[0].ID); len(files) > 0 || err != nil {
		t.Errorf("%d files are left, %v", len(files), err)
	}
}

// TestReportWithoutDestinations: a report without a destination is kept for readers, and one with some is as well.
func TestReportWithoutDestinations(t *testing.T) {
	w := newWorld(t)
	w.blocked = 1
	w.put("r", daily(only()))
	w.put("sent", daily())
	w.now = monday.Add(time.Minute)
	w.tick()
	for name, state := range map[string]runs.State{"r": runs.Kept, "sent": runs.Delivered} {
		list := w.list(name)
		if len(list) != 1 || list[0].State != state || !list[0].HasReport || list[0].Verdict == "" || list[0].Ended.IsZero() {
			t.Fatalf("%s: %+v", name, list)
		}
		content, err := w.runs.Report(t.Context(), list[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		text, err := runs.Unpacked(content)
		if err != nil {
			t.Fatal(err)
		}
		var document report.Document
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		if s := document.Run.Scheduled; s == nil || s.ID != list[0].ID || string(document.Report.Verdict.State) != list[0].Verdict {
			t.Errorf("%s: %s", name, text)
		}
	}
	w.tick()
	if list := w.list("r"); len(list) != 1 {
		t.Errorf("it is made again: %+v", list)
	}
}

// TestTakeOverOfAKeptReport: a report that was requested after its period was complete is not made again when it is due.
func TestTakeOverOfAKeptReport(t *testing.T) {
	w := newWorld(t)
	s := daily(only())
	w.put("r", s)
	run := runs.New("prod", "r", 1, s, monday.Add(-31*time.Hour), monday.Add(-7*time.Hour), monday)
	run.By, run.State, run.HasReport = "console", runs.Kept, true
	if err := w.runs.Create(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	w.now = monday.Add(time.Minute)
	w.tick()
	if list := w.list("r"); len(list) != 1 || list[0].By != "" || list[0].State != runs.Kept || list[0].Attempts != 0 {
		t.Errorf("%+v", list)
	}
}

// TestCommandOfAComparison: the command that a report prints asks for its own comparison.
func TestCommandOfAComparison(t *testing.T) {
	for compare, want := range map[string]string{
		"previous": "orrery report run 'timestamp", "same-weekday": "orrery report run --compare same-weekday 'timestamp",
		"none": "orrery report run --compare none 'timestamp",
	} {
		w := newWorld(t)
		w.put("r", daily(func(s *definition.Stored) { s.Compare = compare }))
		w.now = monday
		w.tick()
		page := html.UnescapeString(string(w.taken[0].files[1].Content))
		if !strings.Contains(page, want) {
			t.Errorf("%s: the page does not have %s", compare, want)
		}
	}
}

// TestMissedReports: after a pause of the server, the latest report is made, and the others are listed.
func TestMissedReports(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.now = monday.AddDate(0, 0, 3).Add(time.Minute)
	w.tick()
	if got := w.states("r"); got != "delivered missed missed missed" {
		t.Error(got)
	}
	if got := w.list("r")[1].Reason; got != "it was not made before a later one was due" {
		t.Error(got)
	}
	if got := w.list("r")[0].From; !got.Equal(monday.AddDate(0, 0, 2).Add(-7 * time.Hour)) {
		t.Errorf("the latest is about %s", got)
	}
	w.now = w.now.AddDate(0, 0, 1)
	w.tick()
	if got := w.states("r"); got != "delivered delivered missed missed missed" {
		t.Error(got)
	}
}

// TestEditsGiveNoTime: a report that is written again and again, as by a program that deploys definitions, waits for
// its data no longer than others.
func TestEditsGiveNoTime(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.complete = monday.Add(-7 * time.Hour)
	for hours := range 7 {
		w.now = monday.Add(time.Duration(hours) * time.Hour)
		w.put("r", daily(func(s *definition.Stored) { s.Title = fmt.Sprint("Version ", hours) }))
		w.tick()
	}
	if got := w.states("r"); got != "delivered" {
		t.Errorf("after six hours: %s", got)
	}
}

// TestMadeUpReportsHaveTheirTime: a report that is made up, because no server was running when it was due, or that is
// resumed, waits for data and repeats its deliveries as long as any other.
func TestMadeUpReportsHaveTheirTime(t *testing.T) {
	weekly := daily(func(s *definition.Stored) { s.Period, s.Weekday = "week", "monday" })
	paused := weekly
	paused.Paused = true
	end, late := monday.Add(-7*time.Hour), monday.AddDate(0, 0, 3)
	resumed := func(w *world) {
		w.now, w.complete = monday, end
		w.tick()
		w.now = monday.Add(time.Minute)
		w.put("r", paused)
		w.tick()
		w.now = late.Add(-time.Minute)
		w.put("r", weekly)
	}
	for _, test := range []struct {
		rule  string
		begin func(w *world) // leaves the run queued, or to be queued, three days after it was due
	}{
		{"the server was off", func(*world) {}},
		{"the report was paused", resumed},
		{"the report was paused, and is changed after it is resumed", func(w *world) {
			resumed(w)
			w.put("r", weekly)
			w.now = late
			w.put("r", weekly)
		}},
		{"the report was paused, and versions after that are damaged", func(w *world) {
			resumed(w)
			w.damage("r")
			w.damage("r")
			w.put("r", weekly)
		}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := newWorld(t)
			w.put("r", weekly)
			test.begin(w)
			w.now, w.complete = late, end
			w.tick()
			if got := w.states("r"); got != "queued" {
				t.Fatalf("data is being imported: %s", got)
			}
			w.now, w.complete = late.Add(time.Hour), time.Time{}
			w.refuse["archive"] = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
			w.tick()
			if r := w.list("r")[0]; r.Incomplete || r.State != runs.Rendered || r.Deliveries[0].State != runs.Waiting {
				t.Fatalf("%+v", r)
			}
			w.now = late.Add(2 * time.Hour)
			clear(w.refuse)
			w.tick()
			if got := w.states("r") + " " + w.receivers(); got != "delivered archive ops@example.com" {
				t.Fatal(got)
			}
			m, err := mail.ReadMessage(bytes.NewReader(w.taken[1].files[0].Content))
			if err != nil {
				t.Fatal(err)
			}
			if date, err := m.Header.Date(); err != nil || !date.Equal(late.Add(time.Hour)) {
				t.Errorf("the mail is of %s, %v", date, err)
			}
		})
	}
}

// TestDeliveriesAfterAPauseOfTheServer: a server that was off during the time of a delivery tries it some more times.
func TestDeliveriesAfterAPauseOfTheServer(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily(only(definition.Destination{To: "archive"})))
	w.now = monday
	w.refuse["archive"] = errors.New("down")
	w.tick()
	for attempt := 2; attempt <= 5; attempt++ {
		w.now = w.now.AddDate(0, 0, 3)
		w.tick()
		d := w.list("r")[len(w.list("r"))-1].Deliveries[0]
		if d.Attempts != attempt || (d.State == runs.Refused) != (attempt == 5) {
			t.Errorf("after attempt %d: %+v", attempt, d)
		}
	}
}

// TestRunsOfEarlierVersions: a run that does not say when it was queued counts from the time at which it was due.
func TestRunsOfEarlierVersions(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	end := monday.Add(-7 * time.Hour)
	old := runs.New("prod", "r", 1, daily(), end.AddDate(0, 0, -1), end, monday)
	if err := w.runs.Create(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	w.now, w.complete = monday.Add(6*time.Hour-time.Second), end
	w.tick()
	if got := w.states("r"); got != "queued" {
		t.Error(got)
	}
	w.now = monday.Add(6 * time.Hour)
	w.tick()
	if r := w.list("r")[0]; r.State != runs.Delivered || !r.Incomplete {
		t.Errorf("%+v", r)
	}
}

func TestWaitingForData(t *testing.T) {
	for _, test := range []struct {
		rule              string
		complete          time.Duration // after the end of the period
		after             time.Duration // after the report was due
		state, incomplete string
	}{
		{"complete data", time.Hour, 0, "delivered", "false"},
		{"data that may still arrive", 59 * time.Minute, 5*time.Hour + 59*time.Minute, "queued", "false"},
		{"after six hours it goes out marked", 59 * time.Minute, 6 * time.Hour, "delivered", "true"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := newWorld(t)
			w.put("r", daily())
			w.complete, w.now = monday.Add(-7*time.Hour+test.complete), monday
			w.tick()
			w.now = monday.Add(test.after)
			w.tick()
			r := w.list("r")[0]
			if string(r.State) != test.state || fmt.Sprint(r.Incomplete) != test.incomplete ||
				r.State == runs.Queued && r.Revision > 1 {
				t.Errorf("%+v", r)
			}
			for _, one := range w.taken {
				marked := bytes.Contains(one.files[len(one.files)-1].Content, []byte("late logs"))
				if marked != r.Incomplete {
					t.Errorf("%s is marked: %v", one.to, marked)
				}
			}
		})
	}
}

// TestRequestedBeforeItIsDue: a report that was requested before the data of its period was complete is made again when
// it is due.
func TestRequestedBeforeItIsDue(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	end := monday.Add(-7 * time.Hour)
	w.now, w.complete = end.Add(time.Minute), end.Add(-time.Hour)
	requested := runs.New("prod", "r", 1, daily(), end.AddDate(0, 0, -1), end, w.now)
	requested.By = "console"
	if err := w.runs.Create(t.Context(), requested); err != nil {
		t.Fatal(err)
	}
	w.tick()
	if list := w.list("r"); len(list) != 1 || list[0].State != runs.Delivered || !list[0].Incomplete {
		t.Fatalf("%+v", list)
	}
	w.now, w.complete = monday, time.Time{}
	w.tick()
	w.tick()
	list := w.list("r")
	if len(list) != 1 || list[0].State != runs.Delivered || list[0].Incomplete || list[0].By != "" || !list[0].Due.Equal(monday) {
		t.Errorf("%+v", list)
	}
	if len(w.taken) != 4 {
		t.Errorf("%d deliveries, want two to each destination", len(w.taken))
	}
}

// TestUnknownCompleteness: if it is not known how far the data is complete, the delay passes.
func TestUnknownCompleteness(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily(func(s *definition.Stored) { s.At = "00:00" }))
	r := w.runner()
	r.Complete = func(context.Context) (time.Time, error) { return time.Time{}, nil }
	for _, step := range []struct {
		now  time.Time
		want string
	}{{monday.Add(17 * time.Hour), "queued"}, {monday.Add(18 * time.Hour), "delivered"}} {
		w.now = step.now
		if err := r.Tick(t.Context()); err != nil || w.states("r") != step.want {
			t.Errorf("%s: %s, %v", step.now, w.states("r"), err)
		}
	}
}

func TestKeysThatCannotBeUsed(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.put("other", daily(func(s *definition.Stored) { s.Key = "another" }))
	w.keys["5a0d3c71f2e9"] = "the key 5a0d3c71f2e9 was revoked"
	w.now = monday
	w.tick()
	if w.states("r") != "" || w.states("other") != "delivered" {
		t.Errorf("%s, %s", w.states("r"), w.states("other"))
	}
	v, err := document.Current(t.Context(), w.documents, definition.DocumentOf("prod", "r"))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := definition.Read(v.Text)
	if err != nil || !stored.Paused || !strings.Contains(stored.Reason, "was revoked") || v.By != "orrery" || v.Number != 2 {
		t.Errorf("%+v %+v %v", v.Info, stored, err)
	}
	if !strings.Contains(w.log.String(), "scheduled report paused") {
		t.Errorf("the log does not have it: %s", &w.log)
	}
	w.tick() // pauses it once
	if v, err := w.documents.Newest(t.Context(), definition.DocumentOf("prod", "r")); err != nil || v.Number != 2 {
		t.Errorf("%+v %v", v.Info, err)
	}
}

// remove deletes the report r.
func (w *world) remove() {
	w.t.Helper()
	id := definition.DocumentOf("prod", "r")
	if err := document.Delete(w.t.Context(), w.documents, id, document.Change{By: "x", At: w.now}); err != nil {
		w.t.Fatal(err)
	}
}

func TestDeliveriesAreRepeated(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.now = monday
	w.refuse["ops@example.com"] = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	w.tick()
	w.tick()
	r := w.list("r")[0]
	if r.State != runs.Rendered || w.receivers() != "archive" ||
		r.Deliveries[1].Reason != "the destination cannot be reached: connection refused" ||
		r.Deliveries[1].Attempts != 1 {
		t.Fatalf("%s %+v", w.receivers(), r)
	}
	delete(w.refuse, "ops@example.com")
	w.now = monday.Add(time.Minute)
	w.tick()
	if r := w.list("r")[0]; r.State != runs.Delivered || w.receivers() != "archive ops@example.com" {
		t.Errorf("%s %+v", w.receivers(), r)
	}
}

// TestFirstRepetition: a delivery that took some seconds to fail is repeated by the tick a minute after the one
// before, and not earlier.
func TestFirstRepetition(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily(only(definition.Destination{To: "archive"})))
	r := w.runner()
	r.Deliver = answering(func(context.Context, definition.Destination) (string, error) {
		w.now = w.now.Add(5 * time.Second)
		return "", errors.New("it failed")
	})
	for _, tick := range []struct {
		at       time.Duration
		attempts int
	}{{0, 1}, {30 * time.Second, 1}, {time.Minute, 2}, {2 * time.Minute, 2}, {6 * time.Minute, 3}} {
		w.now = monday.Add(tick.at)
		if err := r.Tick(t.Context()); err != nil {
			t.Error(err)
		}
		if got := w.list("r")[0].Deliveries[0].Attempts; got != tick.attempts {
			t.Errorf("after %s: %d attempts, want %d", tick.at, got, tick.attempts)
		}
	}
}

func TestDeliveriesThatFail(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.now = monday
	w.refuse["ops@example.com"] = fmt.Errorf("%w: 550 no such user", delivery.ErrRefused)
	w.tick()
	if r := w.list("r")[0]; r.State != runs.Delivered || r.Deliveries[1].State != runs.Refused {
		t.Errorf("one destination refuses: %+v", r)
	}
	if !strings.Contains(w.log.String(), `state=delivered reason="" refused=1`) { // the alarm counts it
		t.Errorf("the log does not have the destination that refuses: %s", &w.log)
	}
	w.refuse["archive"] = errors.New("no space left")
	w.now = monday.AddDate(0, 0, 1)
	for range 24 * 4 {
		w.tick()
		w.now = w.now.Add(20 * time.Minute)
	}
	if r := w.list("r")[1]; r.State != runs.Failed || r.Deliveries[0].State != runs.Refused || r.Deliveries[0].Attempts < 20 {
		t.Errorf("after more than a day: %+v", r)
	}
	if text := w.log.String(); strings.Count(text, `state=failed reason="no destination took it" refused=2`) != 1 {
		t.Errorf("the log: %.2000s", text)
	}
}

func TestReportsThatCannotBeMade(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.now, w.failing = monday, fault.New(fault.Unavailable, "the engine is down")
	w.tick()
	if r := w.list("r")[0]; r.State != runs.Queued || r.Reason != "the engine is down" || r.Attempts != 1 {
		t.Errorf("%+v", r)
	}
	for range 10 {
		w.now = w.now.Add(time.Hour)
		w.tick()
	}
	if r := w.list("r")[0]; r.State != runs.Failed || r.Attempts != 5 || len(w.taken) > 0 {
		t.Errorf("%+v", r)
	}
}

func TestCausesOfFailuresAreNotShown(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.now, w.failing = monday, errors.New("dial tcp 10.0.0.7: refused")
	w.tick()
	if r := w.list("r")[0]; strings.Contains(r.Reason, "10.0.0.7") || r.Reason == "" {
		t.Errorf("%+v", r)
	}
}

func TestMaxBytes(t *testing.T) {
	day := report.Period{FromMs: monday.AddDate(0, 0, -1).UnixMilli(), ToMs: monday.UnixMilli() - 1}
	setting := report.Setting{Template: report.Traffic, Period: day, Previous: &day, Zone: time.UTC}
	all := 10 * int64(len(setting.Questions()))
	const step = 10_000_000
	rounded, little := `{"low":10000000,"high":10000000}`, `{"low":10,"high":10}`
	for _, test := range []struct {
		rule, bytes string
		scanned     int
		unrounded   string
		most        int64
		want        runs.State
	}{
		{"a report that reads as much as it may", `{"low":1,"high":10}`, 10, "null", all, runs.Delivered},
		{"a report that would read more", `{"low":1,"high":10}`, 10, "null", all - 1, runs.Failed},
		{"a report without estimates that has read as much as it may", "null", 10, "null", all, runs.Delivered},
		{"a report without estimates that has read more", "null", 10, "null", all - 1, runs.Failed},
		{"a report of a key whose bytes are rounded up", rounded, step, little, step, runs.Delivered},
		{"a report of such a key that would read more", rounded, step, little, step - 1, runs.Failed},
		{"a report of such a key without estimates", "null", step, little, step, runs.Delivered},
		{"a report of such a key without estimates that has read more", "null", step, little, step - 1, runs.Failed},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := newWorld(t)
			w.put("r", daily(func(s *definition.Stored) { s.MaxBytes = test.most }))
			w.now, w.bytes, w.scanned, w.unrounded = monday, test.bytes, test.scanned, test.unrounded
			w.tick()
			if r := w.list("r")[0]; r.State != test.want || r.State == runs.Failed && !strings.Contains(r.Reason, "max_bytes is") {
				t.Errorf("%+v", r)
			}
		})
	}
	t.Run("a dry run that fails for the moment is repeated with the report", func(t *testing.T) {
		w := newWorld(t)
		w.put("r", daily(func(s *definition.Stored) { s.MaxBytes = all }))
		w.now, w.dry = monday, fault.New(fault.Unavailable, "the bucket cannot be listed")
		w.tick()
		if r := w.list("r")[0]; r.State != runs.Queued || r.Reason != "the bucket cannot be listed" || w.count > 0 {
			t.Errorf("%d questions, %+v", w.count, r)
		}
		w.now, w.dry = monday.Add(time.Minute), nil
		w.tick()
		if r := w.list("r")[0]; r.State != runs.Delivered || r.Partial {
			t.Errorf("%+v", r)
		}
	})
	t.Run("a question that always fails is a missing part", func(t *testing.T) {
		w := newWorld(t)
		w.put("r", daily(func(s *definition.Stored) { s.MaxBytes = all }))
		w.now, w.missing, w.dry = monday, "diff", fault.New(fault.EngineLimit, "the query has too many conditions")
		w.tick()
		if r := w.list("r")[0]; r.State != runs.Delivered || !r.Partial {
			t.Errorf("%+v", r)
		}
	})
	t.Run("without estimates no further question is asked", func(t *testing.T) {
		w := newWorld(t)
		w.put("r", daily(func(s *definition.Stored) { s.MaxBytes = 15 }))
		w.now, w.bytes, w.scanned = monday, `null`, 10
		w.tick()
		r := w.list("r")[0]
		if r.State != runs.Failed || !strings.Contains(r.Reason, "its queries have read") || w.count > 5 {
			t.Errorf("%d questions, %+v", w.count, r)
		}
	})
}

// TestAttacks: an hourly report is sent each hour while an attack lasts, and once when it has ended.
func TestAttacks(t *testing.T) {
	for _, test := range []struct{ rule, hours, want string }{
		{"each hour of an attack, and once when it has ended", "0 0 500 600 0 0 700", "- - sent sent ended - sent"},
		{"an attack of which parts are missing", "500? 0 0", "sent ended -"},
		{"an hour of which is not known whether there was an attack", "0? 0", "sent -"},
		{"an attack that ended in an hour of which that is not known", "500 0? 0 0", "sent sent ended -"},
		{"an attack that had ended before", "500 0 0? 0", "sent ended sent -"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := newWorld(t)
			w.put("r", hourly())
			var got []string
			for i, hour := range strings.Fields(test.hours) {
				blocked, missing := strings.CutSuffix(hour, "?")
				w.missing = ""
				if missing {
					w.missing = "facets"
				}
				var err error
				if w.blocked, err = strconv.ParseInt(blocked, 10, 64); err != nil {
					t.Fatal(err)
				}
				w.now = monday.Add(time.Duration(i)*time.Hour + time.Minute)
				w.complete = w.now.Add(time.Hour)
				got = append(got, w.sent(w.tick))
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("%s\n%s", text, w.states("r"))
			}
		})
	}
}

// TestEndOfAnAttack: the end of an attack is reported if there was one in the latest hour with the same questions whose
// report somebody received.
func TestEndOfAnAttack(t *testing.T) {
	edited := func(change func(*definition.Stored)) func(w *world) {
		return func(w *world) {
			s := hourly()
			change(&s)
			w.put("r", s)
		}
	}
	for _, test := range []struct {
		rule    string
		between func(w *world) // an hour of an attack and a quiet hour
		want    string
	}{
		{"an hour of which nobody got the report", func(w *world) {
			w.blocked, w.refuse["archive"] = 600, fmt.Errorf("%w: no such folder", delivery.ErrRefused)
			w.tick()
			clear(w.refuse)
			if got := w.states("r"); got != "failed delivered" {
				t.Error(got)
			}
		}, "ended"},
		{"another title and destination", edited(func(s *definition.Stored) {
			s.Title, s.Deliver = "Attacks", []definition.Destination{{To: "chat"}}
		}), "ended"},
		{"another filter", edited(func(s *definition.Stored) { s.Filters = `host="blog.example"` }), "-"},
		{"another template", edited(func(s *definition.Stored) { s.Template = "attack" }), "-"},
		{"other branches", edited(func(s *definition.Stored) { s.Branches = []string{"blog"} }), "-"},
		{"another report of the same name", func(w *world) {
			w.remove()
			w.put("r", hourly())
		}, "-"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := newWorld(t)
			w.put("r", hourly())
			at := func(hour int) {
				w.now = monday.Add(time.Duration(hour)*time.Hour + time.Minute)
				w.complete = w.now.Add(time.Hour)
			}
			at(0)
			w.blocked = 500
			if got := w.sent(w.tick); got != "sent" {
				t.Fatalf("during the attack: %s", got)
			}
			at(1)
			test.between(w)
			at(2)
			w.blocked = 0
			if got := w.sent(w.tick); got != test.want {
				t.Errorf("after it: %s, want %s\n%s", got, test.want, w.states("r"))
			}
		})
	}
}

// hourly returns an hourly report about attacks.
func hourly() definition.Stored {
	return daily(func(s *definition.Stored) {
		s.Period, s.At, s.When, s.Compare = "hour", "", "attacks", "none"
		s.Deliver = []definition.Destination{{To: "archive"}}
	})
}

// sent calls a function and returns what was sent meanwhile: a report, that an attack has ended, or nothing.
func (w *world) sent(during func()) string {
	before := len(w.taken)
	during()
	if len(w.taken) == before {
		return "-"
	}
	for _, f := range w.taken[before].files {
		if bytes.Contains(f.Content, []byte("the attack has ended")) {
			return "ended"
		}
	}
	return "sent"
}

// TestHoursInTheirOrder: an hourly report waits for the earlier one, whose verdict decides what it says.
func TestHoursInTheirOrder(t *testing.T) {
	w := newWorld(t)
	w.put("r", hourly())
	w.now, w.complete = monday.Add(time.Minute), monday.Add(time.Hour)
	w.failing = errors.New("the engine is down")
	if err := w.runner().Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.now, w.complete = monday.Add(time.Hour+time.Minute), monday.Add(2*time.Hour)
	w.failing, w.blocked = nil, 500
	r := w.runner()
	ids, err := r.Queue(t.Context())
	if err != nil || len(ids) != 2 {
		t.Fatalf("%v %v", ids, err)
	}
	if err := r.Advance(t.Context(), ids[1]); err != nil || w.states("r") != "queued queued" {
		t.Errorf("the later one first: %s %v", w.states("r"), err)
	}
	for _, id := range ids {
		if err := r.Advance(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	if w.states("r") != "delivered delivered" {
		t.Error(w.states("r"))
	}
}

// TestKeyOfTheNewestVersion: a report that was written again with another key does not depend on the first one.
func TestKeyOfTheNewestVersion(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.now, w.complete = monday, monday.Add(-7*time.Hour)
	w.tick()
	w.now = monday.Add(10 * time.Minute)
	w.put("r", daily(func(s *definition.Stored) { s.Key = "another" }))
	w.keys = map[string]string{daily().Key: "the key was revoked"}
	w.tick()
	if w.states("r") != "queued" {
		t.Fatal(w.states("r"))
	}
	w.now, w.complete = monday.Add(time.Hour), monday.Add(time.Hour)
	w.tick()
	if w.states("r") != "delivered" {
		t.Error(w.states("r"))
	}
}

// TestTwoWorkers: a second worker does nothing while the first one is at a run.
func TestTwoWorkers(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.now = monday
	second := w.runner()
	first := w.runner()
	asks := 0
	ask := first.Ask
	first.Ask = func(branches []string, key string) asking.Source {
		asks++
		if err := second.Tick(t.Context()); err != nil {
			t.Error(err)
		}
		return ask(branches, key)
	}
	if err := first.Tick(t.Context()); err != nil {
		t.Error(err)
	}
	if asks != 1 || len(w.asked) != 1 || w.receivers() != "archive ops@example.com" || w.states("r") != "delivered" {
		t.Errorf("%d, %v, %s, %s", asks, w.asked, w.receivers(), w.states("r"))
	}
}

// TestTicksAtTheSameTime: several runners give each destination each report once.
func TestTicksAtTheSameTime(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.now = monday
	delivered := make(chan string, 100)
	done := make(chan error)
	for range 4 {
		r := w.runner()
		r.Ask = func([]string, string) asking.Source { return answers{w} }
		r.Log = slog.New(slog.DiscardHandler)
		r.Deliver = deliverer(func(to definition.Destination) { delivered <- to.String() })
		go func() { done <- r.Tick(t.Context()) }()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	w.tick()
	close(delivered)
	var got []string
	for to := range delivered {
		got = append(got, to)
	}
	slices.Sort(got)
	if text := strings.Join(got, " "); text != "archive ops@example.com" {
		t.Error(text)
	}
}

type deliverer func(definition.Destination)

func (d deliverer) Deliver(_ context.Context, to definition.Destination, _ []runs.File) (string, error) {
	d(to)
	return "", nil
}

// answering answers to deliveries.
type answering func(ctx context.Context, to definition.Destination) (note string, err error)

func (d answering) Deliver(ctx context.Context, to definition.Destination, _ []runs.File) (string, error) {
	return d(ctx, to)
}

// crash ends a runner at one of its steps: nothing that it does later has an effect.
type crash struct {
	mutex     sync.Mutex
	at, steps int
	applied   bool // the step at which it ends has its effect
	dead      bool
	last      string

	unrecorded map[string]bool // destinations that took the report, and no record says so
}

var errCrash = errors.New("the process was killed")

func (c *crash) before(step string) error {
	if c == nil {
		return nil
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.dead {
		return errCrash
	}
	c.steps++
	if c.last = step; c.steps == c.at {
		if !c.applied {
			c.dead = true
			return errCrash
		}
	}
	return nil
}

// after is called when a step has had its effect.
func (c *crash) after() error {
	if c == nil {
		return nil
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.dead || c.steps >= c.at && c.applied {
		c.dead = true
		return errCrash
	}
	return nil
}

// kill ends the process now.
func (c *crash) kill() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.dead = true
}

// delivered is called when a destination has taken the report.
func (c *crash) delivered(to string) error {
	if c == nil {
		return nil
	}
	c.mutex.Lock()
	c.unrecorded[to] = true
	c.mutex.Unlock()
	return c.after()
}

// recorded is called when a run is stored.
func (c *crash) recorded(r runs.Run) {
	if c == nil {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, d := range r.Deliveries {
		if d.State == runs.Sent {
			delete(c.unrecorded, d.Destination.String())
		}
	}
}

type crashingRuns struct {
	runs.Store
	*crash
}

func (c crashingRuns) Create(ctx context.Context, r runs.Run) error {
	if err := c.before("create"); err != nil {
		return err
	}
	return errors.Join(c.Store.Create(ctx, r), c.after())
}

func (c crashingRuns) Update(ctx context.Context, r runs.Run, files ...runs.File) error {
	if err := c.before("update to " + string(r.State)); err != nil {
		return err
	}
	err := c.Store.Update(ctx, r, files...)
	if err == nil {
		c.recorded(r)
	}
	return errors.Join(err, c.after())
}

func (c crashingRuns) Unfinished(ctx context.Context) ([]runs.Run, error) {
	if err := c.before("list"); err != nil {
		return nil, err
	}
	return c.Store.Unfinished(ctx)
}

type crashingDocuments struct {
	*document.Items
	*crash
}

func (c crashingDocuments) Append(ctx context.Context, id document.ID, v document.Version) error {
	if err := c.before("append"); err != nil {
		return err
	}
	return errors.Join(c.Items.Append(ctx, id, v), c.after())
}

// TestCrashes kills the runner before and after each of its steps, and starts another one. Each destination gets the
// report at least once. It gets it twice only if the runner was killed between the delivery and its record, with the
// same id.
func TestCrashes(t *testing.T) {
	t.Run("of a server with a file", func(t *testing.T) { testCrashes(t, newWorld, 16) })
	t.Run("of a function with a table and a bucket", func(t *testing.T) {
		testCrashes(t, func(t *testing.T) *world {
			w := newWorld(t)
			w.runs = tableRuns(func() *crash { return w.fault })
			return w
		}, 30)
	})
}

func testCrashes(t *testing.T, open func(t *testing.T) *world, least int) {
	kills := 0
	for at := 1; ; at++ {
		last := false
		for _, applied := range []bool{false, true} {
			w := open(t)
			w.put("r", daily())
			w.now = monday
			w.fault = &crash{at: at, applied: applied, unrecorded: map[string]bool{}}
			err := w.runner().Tick(t.Context())
			if w.fault.steps < at {
				last = true
				break
			}
			rule := fmt.Sprintf("killed before step %d, %s", at, w.fault.last)
			if applied {
				rule = fmt.Sprintf("killed after step %d, %s", at, w.fault.last)
			}
			t.Run(rule, func(t *testing.T) {
				done := applied && w.states("r") == "delivered"                     // nothing was left to do
				if !errors.Is(err, errCrash) && !done && w.fault.last != "delete" { // the bucket has a rule that deletes them, too
					t.Fatalf("the runner went on: %v; the run is %s", err, w.states("r"))
				}
				kills++
				doubled := w.fault.unrecorded
				w.fault = nil
				for range 4 {
					w.now = w.now.Add(5 * time.Minute)
					w.tick()
				}
				if got := w.states("r"); got != "delivered" {
					t.Errorf("the states are %s", got)
				}
				times, ids := map[string]int{}, map[string]bool{}
				for _, one := range w.taken {
					times[one.to]++
					ids[idOf(t, one)] = true
				}
				for _, to := range []string{"archive", "ops@example.com"} {
					want := 1
					if doubled[to] {
						want = 2
					}
					if times[to] != want {
						t.Errorf("%d deliveries to %s, want %d", times[to], to, want)
					}
				}
				if len(ids) != 1 {
					t.Errorf("ids %v", ids)
				}
			})
		}
		if last {
			break
		}
	}
	if kills < least {
		t.Errorf("only %d kills", kills)
	}
}

// idOf returns the beginning of the id of the run of a report.
func idOf(t *testing.T, one taken) string {
	t.Helper()
	if name := one.files[0].Name; name != delivery.MailName {
		return strings.TrimSuffix(name[strings.LastIndexByte(name, '-')+1:], ".csv")
	}
	m, err := mail.ReadMessage(bytes.NewReader(one.files[0].Content))
	if err != nil {
		t.Fatal(err)
	}
	return m.Header.Get("X-Orrery-Run")[:8]
}

func TestDamagedDefinitionDoesNotStopOthers(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.damage("a")
	w.now = monday
	if err := w.runner().Tick(t.Context()); err == nil || !strings.Contains(err.Error(), "report a of configuration prod") {
		t.Errorf("%v", err)
	}
	if got := w.states("r"); got != "delivered" {
		t.Error(got)
	}
}

func TestLoop(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.now = monday
	ctx, cancel := context.WithCancel(t.Context())
	ticks, ended := make(chan time.Time), make(chan struct{})
	go func() { w.runner().Loop(ctx, ticks); close(ended) }()
	ticks <- monday
	ticks <- monday // the tick before has ended
	cancel()
	<-ended
	if got := w.states("r"); got != "delivered" {
		t.Error(got)
	}
}

// TestStoppedServer: a delivery that succeeded while the server stopped is recorded, and ends the run if it was the
// last.
func TestStoppedServer(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily(func(s *definition.Stored) { s.Deliver = s.Deliver[:1] }))
	w.now = monday
	ctx, cancel := context.WithCancel(t.Context())
	r := w.runner()
	r.Deliver = deliverer(func(definition.Destination) { cancel() })
	if err := r.Tick(ctx); err != nil {
		t.Error(err)
	}
	if r := w.list("r")[0]; r.State != runs.Delivered || r.Deliveries[0].State != runs.Sent {
		t.Errorf("%+v", r)
	}
}
