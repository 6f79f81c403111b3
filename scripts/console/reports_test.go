package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// serveReports starts the command with a generated day, a folder to which reports are written, and a mail server that is
// never reached.
func serveReports(t *testing.T, args ...string) *served {
	t.Helper()
	program, data := generated(t, "300", "3")
	configureReports(t, data)
	return start(t, program, data, args...)
}

// configureReports lets reports be sent from a data folder.
func configureReports(t *testing.T, data string) {
	t.Helper()
	settings := `[mail]
server = "127.0.0.1:9"
from = "Orrery <orrery@example.com>"
domains = ["example.com"]

[destination.archive]
folder = "archive"
`
	if err := os.WriteFile(filepath.Join(data, "orrery.toml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
}

const reportBase = "/api/v4.0/conf/%s/reports"

// newReport schedules a report of a configuration of its own.
func newReport(t *testing.T, s *served, config, name, body string) {
	t.Helper()
	conf(t, s, http.MethodPut, fmt.Sprintf(reportBase, config)+"/"+name, body)
}

const weeklyShop = `{"title":"The shop","filters":"status>=500","period":"week","tz":"Europe/Berlin",` +
	`"deliver":[{"mail":["ops@example.com"]},{"to":"archive"}]}`

// TestReports walks through the screen of the scheduled reports. Each walk has a configuration of its own.
func TestReports(t *testing.T) {
	browser := chromium(t)
	server := serveReports(t)
	walk := walker(t, browser, server.address)
	stored := func(t *testing.T, s *served, config, name string) map[string]any {
		t.Helper()
		var report map[string]any
		if err := json.Unmarshal([]byte(conf(t, s, http.MethodGet, fmt.Sprintf(reportBase, config)+"/"+name, "")), &report); err != nil {
			t.Fatal(err)
		}
		return report
	}

	walk("a report is created with a form", func(t *testing.T, b *tab, s *served) {
		b.open("#/reports")
		b.sees("Choose a configuration")
		b.fill("#config", "new")
		b.click(".configurations button", "Open")
		b.sees("There are no reports yet")
		b.fill("#report-name", "Daily Shop")
		b.sees("Small letters")
		b.fill("#report-name", "daily-shop")
		b.click(".new-report button", "Create")
		b.sees("Saving creates it")
		b.holds("location.hash === '#/reports/new/daily-shop'", "has the report in its address")
		b.fill("#report-title", "The shop, day by day")
		b.fill("#report-filters", `host = "shop.example"`)
		b.fill("#report-period", "day")
		b.holds("!document.querySelector('#report-weekday')", "asks for no weekday")
		b.fill("#report-at", "08:30")
		b.fill("#report-tz", "Europe/Berlin")
		b.fill("#report-compare", "same-weekday")
		b.click(".receivers button", "Add a destination")
		b.click(".receivers button", "Add mail")
		b.fill("#receiver-1", "ops@example.com, boss@example.com")
		b.fill("#report-max_bytes", "5000000")
		b.click(".save-bar button", "Create the report")
		b.sees("every day at 08:30 (Europe/Berlin)")
		b.holds("!document.querySelector('.save-bar')", "has nothing left to save")
		got := stored(t, s, "new", "daily-shop")
		delete(got, "written")
		delete(got, "etag")
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		want := `{"at":"08:30","branches":null,"by":"local","compare":"same-weekday","deliver":[{"to":"archive"},` +
			`{"mail":["ops@example.com","boss@example.com"]}],"filters":"host=\"shop.example\"","max_bytes":5000000,"name":"daily-shop",` +
			`"paused":false,"period":"day","template":"traffic","title":"The shop, day by day","tz":"Europe/Berlin","version":1,"when":"always"}`
		if string(text) != want {
			t.Errorf("the report is %s\nwant %s", text, want)
		}
		b.click("button", "All reports")
		b.holds("document.querySelectorAll('.report-list tbody tr').length === 1", "lists the report")
		b.sees("none yet")
	})
	walk("what is not valid is shown at its field", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 422", "status of 400"}
		newReport(t, s, "wrong", "weekly", weeklyShop)
		b.open("#/reports/wrong/weekly")
		b.sees("every Monday at 07:00")
		b.fill("#report-filters", `hots="shop.example"`)
		b.holds(`document.querySelector('#report-filters-wrong')?.textContent.includes('unknown field "hots"')`, "has the mistake in the filter")
		b.fill("#report-filters", "")
		b.fill("#report-at", "7 o'clock")
		b.fill("#receiver-0", "boss@gmail.com")
		b.click(".save-bar button", "Save")
		b.sees("2 parts of the report are not valid")
		b.holds("document.querySelector('#receiver-0-wrong').textContent.includes('example.com')", "names the domains that are allowed")
		b.holds("document.querySelector('#report-at').ariaInvalid === 'true'", "marks the time")
		b.screenshot("report-wrong")
		b.accessible("wrong report")
	})
	walk("an hourly report is sent only after attacks", func(t *testing.T, b *tab, s *served) {
		newReport(t, s, "hourly", "weekly", weeklyShop)
		b.open("#/reports/hourly/weekly")
		b.sees("every Monday at 07:00")
		b.fill("#report-period", "hour")
		b.sees("Hourly reports are sent only after attacks")
		b.holds("document.querySelector('#report-when').value === 'attacks' && !document.querySelector('#report-at')", "has no time of day")
		b.click(".save-bar button", "Save")
		b.sees("every hour (Europe/Berlin)")
		if got := stored(t, s, "hourly", "weekly"); got["when"] != "attacks" || got["period"] != "hour" {
			t.Errorf("the report is %v", got)
		}
	})
	walk("two who save at once are joined", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 412"}
		newReport(t, s, "both", "weekly", weeklyShop)
		b.open("#/reports/both/weekly")
		b.sees("every Monday at 07:00")
		b.fill("#report-title", "mine")
		b.fill("#report-at", "09:00")
		newReport(t, s, "both", "weekly", strings.Replace(strings.Replace(weeklyShop, "The shop", "theirs", 1), ">=500", ">=400", 1))
		b.click(".save-bar button", "Save")
		b.sees("Somebody else saved first")
		b.holds("document.querySelectorAll('.choice').length === 1", "asks only about what both changed")
		b.holds("document.querySelector('.merge .primary').disabled", "waits for the choice")
		b.accessible("joined report")
		b.click(".choice label", "Mine")
		b.click("button", "Use the joined definition")
		b.sees("2 changes are not saved")
		b.click(".save-bar button", "Save")
		b.holds("!document.querySelector('.save-bar')", "has nothing left to save")
		if got := stored(t, s, "both", "weekly"); got["title"] != "mine" || got["at"] != "09:00" || got["filters"] != "status>=400" {
			t.Errorf("the report is %v", got)
		}
	})
	walk("pause, resume and delete", func(t *testing.T, b *tab, s *served) {
		newReport(t, s, "pause", "weekly", weeklyShop)
		b.open("#/reports/pause/weekly")
		b.click(".report-head button", "Pause")
		b.holds("document.querySelector('.report-head .paused')", "is paused")
		if got := stored(t, s, "pause", "weekly"); got["paused"] != true || got["title"] != "The shop" {
			t.Errorf("the report is %v", got)
		}
		b.click(".report-head button", "Resume")
		b.holds("!document.querySelector('.report-head .paused')", "is not paused")
		b.click(".report-head button", "Delete")
		b.sees("Its versions stay")
		b.click("button", "Delete the report")
		b.sees("There are no reports yet")
	})
	walk("restoring shows the difference first, also of a deleted report", func(t *testing.T, b *tab, s *served) {
		newReport(t, s, "old", "weekly", weeklyShop)
		newReport(t, s, "old", "weekly", strings.Replace(weeklyShop, "The shop", "Another", 1))
		b.open("#/reports/old/weekly?tab=versions")
		b.click(".versions li:last-child button", "1")
		b.sees("What restoring it changes")
		b.holds("[...document.querySelectorAll('.difference .side')].map((e) => e.querySelector('code').textContent).join() === 'Another,The shop'",
			"has the difference")
		b.accessible("version of a report")
		b.click("button", "Restore version 1")
		b.holds("document.querySelector('#report-title')?.value === 'The shop'", "is restored")
		b.click(".report-head button", "Delete")
		b.click("button", "Delete the report")
		b.sees("There are no reports yet")
		b.open("#/reports/old/weekly?tab=versions")
		b.click(".versions li:nth-child(2) button", "3")
		b.click("button", "Restore version 3")
		b.sees("every Monday at 07:00")
	})
	walk("unsaved changes survive a reload", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"'beforeunload' confirmation"}
		newReport(t, s, "kept", "weekly", weeklyShop)
		b.open("#/reports/kept/weekly")
		b.sees("every Monday at 07:00")
		b.fill("#report-title", "later")
		b.sees("1 change is not saved")
		b.run(chromedp.Evaluate("location.hash = '#/reports/kept'", nil))
		b.click(".report-list button", "weekly")
		b.holds("document.querySelector('#report-title').value === 'later'", "has the change")
		b.click(".save-bar button", "Discard")
		b.holds("document.querySelector('#report-title').value === 'The shop'", "has the saved title again")
	})
	walk("the preview is the report itself, with changes that are not saved", func(t *testing.T, b *tab, s *served) {
		newReport(t, s, "preview", "weekly", weeklyShop)
		b.open("#/reports/preview/weekly")
		b.sees("every Monday at 07:00")
		b.fill("#report-title", "What would be sent")
		b.fill("#report-filters", "")
		b.fill("#report-period", "day")
		b.fill("#report-compare", "same-weekday")
		b.click("[role=tab]", "Preview")
		b.sees("With the changes that are not saved")
		b.fill("#about-from", "2026-01-01")
		b.fill("#about-to", "2026-01-02")
		b.click(".about button", "Preview")
		b.holds("document.querySelector('.report-text')?.textContent.includes('What would be sent')", "has the report")
		b.holds("document.querySelector('.report-text').textContent.includes('Requests')", "has figures")
		b.holds("document.querySelector('.report-text').textContent.replace(/\\s+/g, ' ').includes('run --compare same-weekday')",
			"compares as the report does")
		b.run(chromedp.Evaluate(keepFiles, nil))
		b.click("button", "Save the page")
		b.holds("window.files[0]?.text?.startsWith('<!doctype html>')", "saves the page")
		if name := value[string](b, "window.files[0].name"); name != "weekly-2026-01-01.html" {
			t.Errorf("the file is %s", name)
		}
		b.screenshot("report-preview")
		b.accessible("preview")
		b.click("[role=tab]", "Versions")
		b.click("[role=tab]", "Preview")
		b.holds("document.querySelector('#about-from')?.value === '2026-01-01' && document.querySelector('#about-to').value === '2026-01-02'",
			"has the period that was typed")
		b.fill("#about-from", "nonsense")
		b.sees("Not a time")
	})
	walk("a heavy preview waits until it is run, and its filter is in no address", func(t *testing.T, b *tab, s *served) {
		newReport(t, s, "heavy", "weekly", weeklyShop)
		var made atomic.Int32
		var mu sync.Mutex
		var addresses []string
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			mu.Lock()
			addresses = append(addresses, r.URL.String())
			mu.Unlock()
			if !strings.HasSuffix(r.URL.Path, "/data/report") {
				return false
			}
			body := bodyOf(t, r)
			if body["dry_run"] != true {
				made.Add(1)
				return false
			}
			return changed(t, s, w, r, body, func(meta map[string]any) {
				meta["estimate"].(map[string]any)["cost_usd"] = map[string]any{"low": 1.5, "high": 2}
			})
		})
		b.open("#/reports/heavy/weekly")
		b.sees("every Monday at 07:00")
		b.fill("#report-filters", `session!="secret-session"`)
		b.click("[role=tab]", "Preview")
		b.fill("#about-from", "2026-01-01")
		b.fill("#about-to", "2026-01-02")
		b.click(".about button", "Preview")
		b.holds("document.querySelector('.preview .held')?.textContent.includes('costs $1.50–$2.00')", "has the price")
		if n := made.Load(); n != 0 {
			t.Errorf("%d reports were made", n)
		}
		b.accessible("heavy preview")
		b.click(".preview button", "Run it")
		b.holds("document.querySelector('.report-text')?.textContent.includes('Requests')", "has the report")
		mu.Lock()
		defer mu.Unlock()
		if i := slices.IndexFunc(addresses, func(a string) bool { return strings.Contains(a, "secret-session") }); i >= 0 {
			t.Errorf("the server was asked for %s", addresses[i])
		}
	})
	walk("what is typed while a report is saved stays", func(t *testing.T, b *tab, s *served) {
		newReport(t, s, "slow", "weekly", weeklyShop)
		begun, end := make(chan struct{}, 2), make(chan struct{})
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut {
				readAll(t, r)
				begun <- struct{}{}
				<-end
			}
			return false
		})
		b.open("#/reports/slow/weekly")
		b.sees("every Monday at 07:00")
		b.fill("#report-title", "first")
		b.click(".save-bar button", "Save")
		<-begun
		b.fill("#report-at", "09:30")
		b.sees("2 changes are not saved")
		close(end)
		b.sees("1 change is not saved")
		b.holds("document.querySelector('#report-at').value === '09:30' && document.querySelector('#report-title').value === 'first'",
			"has both texts")
		b.click(".save-bar button", "Save")
		b.sees("every Monday at 09:30")
		b.holds("!document.querySelector('.save-bar')", "has nothing left to save")
		if got := stored(t, s, "slow", "weekly"); got["title"] != "first" || got["at"] != "09:30" {
			t.Errorf("the report is %v", got)
		}
	})
	walk("a report that is left while it is saved keeps what was typed since", func(t *testing.T, b *tab, s *served) {
		newReport(t, s, "left", "weekly", weeklyShop)
		begun, end, done := make(chan struct{}, 2), make(chan struct{}), make(chan struct{})
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPut {
				return false
			}
			readAll(t, r)
			begun <- struct{}{}
			<-end
			s.direct.ServeHTTP(w, r)
			close(done)
			return true
		})
		b.open("#/reports/left/weekly")
		b.sees("every Monday at 07:00")
		b.fill("#report-title", "first")
		b.click(".save-bar button", "Save")
		<-begun
		b.fill("#report-at", "09:30")
		b.click("nav a", "Status")
		b.sees("What it allows")
		close(end)
		<-done
		b.holds("JSON.parse(sessionStorage['orrery.report.left.weekly']).base.title === 'first'", "keeps a draft of what was saved")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.sees("1 change is not saved")
		b.holds("document.querySelector('#report-at').value === '09:30' && document.querySelector('#report-title').value === 'first'",
			"has both texts")
	})
	walk("the page asks before it is left as long as a report is not saved, on every screen", func(t *testing.T, b *tab, s *served) {
		newReport(t, s, "guarded", "weekly", weeklyShop)
		const asks = "!dispatchEvent(new Event('beforeunload', {cancelable: true}))"
		b.open("#/reports/guarded/weekly")
		b.sees("every Monday at 07:00")
		b.holds("!("+asks+")", "does not ask without a change")
		b.fill("#report-title", "mine")
		b.sees("1 change is not saved")
		b.click("nav a", "Status")
		b.sees("What it allows")
		b.holds(asks, "asks on another screen")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.click(".report-head button", "Delete")
		b.click("button", "Delete the report")
		b.sees("There are no reports yet")
		b.holds("!("+asks+")", "does not ask when it is deleted")
	})
	walk("a run is requested, and ends", func(t *testing.T, b *tab, s *served) {
		newReport(t, s, "runs", "weekly", strings.Replace(weeklyShop, `{"mail":["ops@example.com"]},`, "", 1))
		var ended atomic.Bool
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/weekly/runs") {
				return false
			}
			if ended.Load() {
				fmt.Fprint(w, failedRun)
				return true
			}
			answer := httptest.NewRecorder()
			s.direct.ServeHTTP(answer, r)
			fmt.Fprint(w, runState.ReplaceAllString(answer.Body.String(), `"state":"running"`)) // the run may have ended already
			return true
		})
		b.open("#/reports/runs/weekly?tab=runs")
		b.sees("There are no runs yet")
		b.fill("#about-from", "2026-01-01")
		b.fill("#about-to", "2026-01-02")
		b.click(".about button", "Run now")
		b.holds("document.querySelector('.runs .run-state')?.textContent.includes('is made')", "has the run")
		ended.Store(true)
		b.sees("the data is not there")
		b.sees("made before its data was complete")
		b.sees("mailbox is full")
		b.accessible("runs")
		b.screenshot("report-runs")
		b.click("button", "Make it again")
		ended.Store(false)
		b.holds("document.querySelectorAll('.runs tbody tr').length === 1", "has one run of the period")
	})
	walk("a server without reports says so", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 404"}
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/reports") {
				return false
			}
			http.NotFound(w, r)
			return true
		})
		b.open("#/reports/prod")
		b.sees("This server schedules no reports")
	})
	walk("reports by keys", func(t *testing.T, b *tab, s *served) {
		newReport(t, s, "keys", "weekly", weeklyShop)
		b.open("#/reports/keys/weekly")
		b.sees("every Monday at 07:00")
		b.run(chromedp.Focus("#report-tab-form"))
		b.keys(kb.ArrowRight)
		b.holds("document.activeElement.id === 'report-tab-preview' && document.querySelector('.preview')", "has the preview")
		b.run(chromedp.Evaluate("document.activeElement.blur()", nil))
		b.leads("gd", "#/?")
		b.leads("gr", "#/reports/keys")
		b.holds("document.querySelector('.report-list')", "has the reports of the configuration")
	})
	t.Run("the reports are accessible, at all widths", func(t *testing.T) {
		newReport(t, server, "wide", "weekly", weeklyShop)
		newReport(t, server, "wide", "hourly-attacks", `{"period":"hour","when":"attacks","paused":true,"deliver":[{"to":"archive"}]}`)
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{360, 768, 1280} {
				b := newTab(t, browser, server.url, width, scheme)
				for name, sees := range map[string]string{"": "Reports of wide", "/weekly": "Template", "/weekly?tab=preview": "Nothing is sent"} {
					b.open("#/reports/wide" + name)
					b.sees(sees)
					shot := "reports" + strings.NewReplacer("/", "-", "?tab=", "-").Replace(name)
					b.screenshot(fmt.Sprintf("%s-%s-%d", shot, scheme, width))
					b.accessible(shot)
					if value[bool](b, "document.documentElement.scrollWidth > innerWidth") {
						t.Errorf("%s is wider than the window of %d", shot, width)
					}
				}
				b.check()
			}
		}
	})
}

// runState is the state of a run, or of a delivery of it.
var runState = regexp.MustCompile(`"state":"[a-z]+"`)

const failedRun = `{"runs":[{"id":"a","report":"weekly","version":1,"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z",` +
	`"due":"2026-01-02T07:00:00Z","by":"","state":"failed","reason":"the data is not there","verdict":"attacked, held","incomplete":true,` +
	`"partial":true,"ended":"2026-01-02T07:01:00Z","deliveries":[{"to":"archive","state":"delivered","attempts":1,` +
	`"at":"2026-01-02T07:01:00Z"},{"mail":["ops@example.com"],"state":"failed","attempts":3,"at":null,"reason":"the mailbox is full"}]}]}`

// TestReportsWithKeys: a report is made with the key.
func TestReportsWithKeys(t *testing.T) {
	browser := chromium(t)
	s := serveReports(t, "--api-key", "the-key-of-the-test")
	b := newTab(t, browser, s.url, 1280, "light")
	b.allowed = []string{"status of 401"}
	b.open("#/reports/prod/weekly?tab=preview")
	b.sees("This server needs an API key")
	b.fill("#key", "the-key-of-the-test")
	b.click("button", "Use the key")
	b.sees("Nothing is sent")
	b.fill("#about-from", "2026-01-01")
	b.fill("#about-to", "2026-01-02")
	b.click(".about button", "Preview")
	b.holds("document.querySelector('.report-text')?.textContent.length > 1000", "has the report")
	b.holds("!document.querySelector('.preview a')", "has no link")
	b.run(chromedp.Evaluate(keepFiles, nil))
	b.click("button", "Save the page")
	b.holds("window.files.length === 1", "saves a file")
	if name := value[string](b, "window.files[0].name"); name != "weekly-2026-01-01.html" {
		t.Errorf("the file is %s", name)
	}
	b.holds("window.files[0].text?.startsWith('<!doctype html>')", "saves the page")
	b.check()
}

// keepFiles keeps what the page lets the browser save, in place of saving it.
const keepFiles = `{
	window.files = [];
	const create = URL.createObjectURL;
	let last;
	URL.createObjectURL = (blob) => { last = blob; return create.call(URL, blob); };
	HTMLAnchorElement.prototype.click = function () {
		const file = { name: this.download };
		window.files.push(file);
		last.text().then((text) => { file.text = text; });
	};
}`
