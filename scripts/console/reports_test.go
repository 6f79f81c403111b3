package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
)

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

// stored checks that a report has some members.
func stored(config, name string, members map[string]any) step {
	return stepOf(func(b *tab) {
		var report map[string]any
		if err := json.Unmarshal([]byte(conf(b.t, b.s, http.MethodGet, fmt.Sprintf(reportBase, config)+"/"+name, "")), &report); err != nil {
			b.t.Fatal(err)
		}
		for member, want := range members {
			if diff := cmp.Diff(want, report[member]); diff != "" {
				b.t.Errorf("%s%s (-want +got):\n%s", b.where(), member, diff)
			}
		}
	}, "stored", config, name)
}

// TestReports walks through the screen of the scheduled reports. Each walk has a configuration of its own.
func TestReports(t *testing.T) {
	walk := walksAt(t, scheduled.address(t))
	const asks = "!dispatchEvent(new Event('beforeunload', {cancelable: true}))"

	walk("a report is created with a form",
		open("#/reports"), sees("Choose a configuration"), fill("#config", "new"), click(".configurations button", "Open"),
		sees("There are no reports yet"), fill("#report-name", "Daily Shop"), sees("Small letters"),
		fill("#report-name", "daily-shop"), click(".new-report button", "Create"), sees("Saving creates it"),
		holds("location.hash === '#/reports/new/daily-shop'", "has the report in its address"),
		fill("#report-title", "The shop, day by day"), fill("#report-filters", `host = "shop.example"`),
		fill("#report-period", "day"), lacks("#report-weekday"), fill("#report-at", "08:30"),
		fill("#report-tz", "Europe/Berlin"), fill("#report-compare", "same-weekday"),
		click(".receivers button", "Add a destination"), click(".receivers button", "Add mail"),
		fill("#receiver-1", "ops@example.com, boss@example.com"), fill("#report-max_bytes", "5000000"),
		click(".save-bar button", "Create the report"), sees("every day at 08:30 (Europe/Berlin)"), lacks(".save-bar"),
		stored("new", "daily-shop", map[string]any{
			"at": "08:30", "branches": nil, "by": "local", "compare": "same-weekday", "deliver": []any{
				map[string]any{"to": "archive"}, map[string]any{"mail": []any{"ops@example.com", "boss@example.com"}},
			}, "filters": `host="shop.example"`, "max_bytes": 5e6, "name": "daily-shop", "paused": false, "period": "day",
			"template": "traffic", "title": "The shop, day by day", "tz": "Europe/Berlin", "version": 1.0, "when": "always",
		}),
		click("button", "All reports"), count(".report-list tbody tr", 1), sees("none yet"))
	walk("what is not valid is shown at its field",
		allow("status of 422", "status of 400"), report("wrong", "weekly", weeklyShop), open("#/reports/wrong/weekly"),
		sees("every Monday at 07:00"), fill("#report-filters", `hots="shop.example"`),
		textHas("#report-filters-wrong", `unknown field "hots"`), fill("#report-filters", ""), fill("#report-at", "7 o'clock"),
		fill("#receiver-0", "boss@gmail.com"), click(".save-bar button", "Save"), sees("2 parts of the report are not valid"),
		textHas("#receiver-0-wrong", "example.com"), holds("$('#report-at').ariaInvalid === 'true'", "marks the time"),
		screenshot("report-wrong"), accessible("wrong report"))
	walk("an hourly report is sent only after attacks",
		report("hourly", "weekly", weeklyShop), open("#/reports/hourly/weekly"), sees("every Monday at 07:00"),
		fill("#report-period", "hour"), sees("Hourly reports are sent only after attacks"),
		holds("$('#report-when').value === 'attacks' && !$('#report-at')", "has no time of day"),
		click(".save-bar button", "Save"), sees("every hour (Europe/Berlin)"),
		stored("hourly", "weekly", map[string]any{"when": "attacks", "period": "hour"}))
	walk("two who save at once are joined",
		allow("status of 412"), report("both", "weekly", weeklyShop), open("#/reports/both/weekly"),
		sees("every Monday at 07:00"), fill("#report-title", "mine"), fill("#report-at", "09:00"),
		report("both", "weekly", strings.Replace(strings.Replace(weeklyShop, "The shop", "theirs", 1), ">=500", ">=400", 1)),
		click(".save-bar button", "Save"), sees("Somebody else saved first"), count(".choice", 1),
		holds("$('.merge .primary').disabled", "waits for the choice"), accessible("joined report"),
		click(".choice label", "Mine"), click("button", "Use the joined definition"), sees("2 unsaved changes"),
		click(".save-bar button", "Save"), lacks(".save-bar"),
		stored("both", "weekly", map[string]any{"title": "mine", "at": "09:00", "filters": "status>=400"}))
	walk("pause, resume and delete",
		report("pause", "weekly", weeklyShop), open("#/reports/pause/weekly"), click(".report-head button", "Pause"),
		exists(".report-head .paused"),
		stored("pause", "weekly", map[string]any{"paused": true, "title": "The shop"}),
		click(".report-head button", "Resume"), lacks(".report-head .paused"), click(".report-head button", "Delete"),
		sees("Its versions stay"), click("button", "Delete the report"), sees("There are no reports yet"))
	walk("restoring shows the difference first, also of a deleted report",
		report("old", "weekly", weeklyShop), report("old", "weekly", strings.Replace(weeklyShop, "The shop", "Another", 1)),
		open("#/reports/old/weekly?tab=versions"), click(".versions li:last-child button", "1"), sees("What restoring it changes"),
		holds("$$('.difference .side').map((e) => e.querySelector('code').textContent).join() === 'Another,The shop'", "has the difference"),
		accessible("version of a report"), click("button", "Restore version 1"), fieldIs("#report-title", "The shop"),
		click(".report-head button", "Delete"), click("button", "Delete the report"), sees("There are no reports yet"),
		open("#/reports/old/weekly?tab=versions"), click(".versions li:nth-child(2) button", "3"),
		click("button", "Restore version 3"), sees("every Monday at 07:00"))
	walk("unsaved changes survive a reload",
		allow("'beforeunload' confirmation"), report("kept", "weekly", weeklyShop), open("#/reports/kept/weekly"),
		sees("every Monday at 07:00"), fill("#report-title", "later"), sees("1 unsaved change"),
		evaluate("location.hash = '#/reports/kept'"), click(".report-list button", "weekly"), fieldIs("#report-title", "later"),
		click(".save-bar button", "Discard"), fieldIs("#report-title", "The shop"))
	walk("the preview is the report itself, with changes that are not saved",
		report("preview", "weekly", weeklyShop), open("#/reports/preview/weekly"), sees("every Monday at 07:00"),
		fill("#report-title", "What would be sent"), fill("#report-filters", ""), fill("#report-period", "day"),
		fill("#report-compare", "same-weekday"), click("[role=tab]", "Preview"), sees("With the unsaved changes"),
		fill("#about-from", "2026-01-01"), fill("#about-to", "2026-01-02"), click(".about button", "Preview"),
		textHas(".report-page", "What would be sent"), textHas(".report-page", "Requests"),
		textHas(".report-page", "compared with Thursday, 25 December 2025"),
		evaluate(keepFiles), click("button", "Save the page"),
		holds("window.files[0]?.text?.startsWith('<!doctype html>')", "saves the page"),
		is("window.files[0].name", "weekly-2026-01-01.html"), screenshot("report-preview"), accessible("preview"),
		click("[role=tab]", "Versions"), click("[role=tab]", "Preview"),
		holds("$('#about-from')?.value === '2026-01-01' && $('#about-to').value === '2026-01-02'", "has the period that was typed"),
		fill("#about-from", "nonsense"), sees("Not a time"))
	walk.run("a heavy preview waits until it is run, and its filter is in no address", func(t *testing.T, b *tab, s *served) {
		b.do(report("heavy", "weekly", weeklyShop), answers(heavy("report")), open("#/reports/heavy/weekly"), sees("every Monday at 07:00"),
			fill("#report-filters", `session!="secret-session"`), click("[role=tab]", "Preview"), fill("#about-from", "2026-01-01"),
			fill("#about-to", "2026-01-02"), click(".about button", "Preview"), textHas(".preview .held", "costs $1.50–$2.00"),
			asked("report", 0), accessible("heavy preview"), click(".preview button", "Run it"), textHas(".report-page", "Requests"))
		if s.count(func(one sent) bool { return strings.Contains(one.url, "secret-session") }) > 0 {
			t.Error("the filter is in an address")
		}
	})
	walk("what is typed while a report is saved stays",
		report("slow", "weekly", weeklyShop),
		holdsWrites(), open("#/reports/slow/weekly"), sees("every Monday at 07:00"), fill("#report-title", "first"), click(".save-bar button", "Save"),
		writes(), fill("#report-at", "09:30"), sees("2 unsaved changes"), letsWrite(),
		sees("1 unsaved change"),
		holds("$('#report-at').value === '09:30' && $('#report-title').value === 'first'", "has both texts"),
		click(".save-bar button", "Save"), sees("every Monday at 09:30"), lacks(".save-bar"),
		stored("slow", "weekly", map[string]any{"title": "first", "at": "09:30"}))
	walk.run("a report that is left while it is saved keeps what was typed since", func(t *testing.T, b *tab, s *served) {
		b.do(report("left", "weekly", weeklyShop))
		begun, end, done := make(chan struct{}, 2), make(chan struct{}), make(chan struct{})
		b.do(answers(func(c *call) bool {
			if c.r.Method != http.MethodPut {
				return false
			}
			begun <- struct{}{}
			<-end
			s.direct.ServeHTTP(c.w, c.r)
			close(done)
			return true
		}), open("#/reports/left/weekly"), sees("every Monday at 07:00"), fill("#report-title", "first"), click(".save-bar button", "Save"),
			receives(begun), fill("#report-at", "09:30"), click("nav a", "Status"), sees("What it allows"), closes(end),
			receives(done),
			holds("JSON.parse(sessionStorage['orrery.report.left.weekly']).base.title === 'first'", "keeps a draft of what was saved"),
			back(), sees("1 unsaved change"),
			holds("$('#report-at').value === '09:30' && $('#report-title').value === 'first'", "has both texts"))
	})
	walk("the page asks before it is left as long as a report is not saved, on every screen",
		report("guarded", "weekly", weeklyShop),
		open("#/reports/guarded/weekly"), sees("every Monday at 07:00"), holds("!("+asks+")", "does not ask without a change"),
		fill("#report-title", "mine"), sees("1 unsaved change"), click("nav a", "Status"), sees("What it allows"),
		holds(asks, "asks on another screen"), back(), click(".report-head button", "Delete"),
		click("button", "Delete the report"), sees("There are no reports yet"),
		holds("!("+asks+")", "does not ask when it is deleted"))
	walk.run("a run is requested, and ends", func(t *testing.T, b *tab, s *served) {
		b.do(report("runs", "weekly", strings.Replace(weeklyShop, `{"mail":["ops@example.com"]},`, "", 1)))
		var ended atomic.Bool
		b.do(answers(func(c *call) bool {
			if c.r.Method != http.MethodGet || !c.to("/weekly/runs") {
				return false
			}
			if ended.Load() {
				fmt.Fprint(c.w, failedRun)
				return true
			}
			answer := httptest.NewRecorder()
			s.direct.ServeHTTP(answer, c.r)
			fmt.Fprint(c.w, runState.ReplaceAllString(answer.Body.String(), `"state":"running"`)) // the run may have ended already
			return true
		}), open("#/reports/runs/weekly?tab=runs"), sees("There are no runs yet"), fill("#about-from", "2026-01-01"),
			fill("#about-to", "2026-01-02"), click(".about button", "Run now"), textHas(".runs .run-state", "is made"),
			sets(&ended, true), sees("the data is not there"), sees("made before its data was complete"), sees("mailbox is full"),
			accessible("runs"), screenshot("report-runs"), click("button", "Make it again"), sets(&ended, false),
			count(".runs tbody tr", 1))
	})
	walk("a server without reports says so",
		allow("status of 404"),
		answers(func(c *call) bool { return c.to("/reports") && c.notFound() }),
		open("#/reports/prod"), sees("This server schedules no reports"))
	walk("reports by keys",
		report("keys", "weekly", weeklyShop), open("#/reports/keys/weekly"), sees("every Monday at 07:00"),
		focus("#report-tab-form"), keys(kb.ArrowRight),
		holds("document.activeElement.id === 'report-tab-preview' && $('.preview')", "has the preview"), blur(), leads("gd", "#/?"),
		leads("gr", "#/reports/keys"), exists(".report-list"))
	walk("the reports are accessible, at all widths",
		report("wide", "weekly", weeklyShop),
		report("wide", "hourly-attacks", `{"period":"hour","when":"attacks","paused":true,"deliver":[{"to":"archive"}]}`),
		inThemes(func(shot func(name string) step) []step {
			return []step{
				open("#/reports/wide"), sees("Reports of wide"), shot("reports"), open("#/reports/wide/weekly"), sees("Template"),
				shot("reports-weekly"), open("#/reports/wide/weekly?tab=preview"), sees("Nothing is sent"), shot("reports-weekly-preview"),
			}
		}))
}

// TestReportNow walks through the report about what the dashboard shows, on a server without any settings.
func TestReportNow(t *testing.T) {
	walk := walksAt(t, site{records: "300", seed: "3"}.address(t))
	counted := everyPage("window.clicks = 0; addEventListener('click', (event) => { if (event.isTrusted) clicks++; }, true)")

	walk("a report in two clicks, scheduled in four",
		counted, open(""), sees("Requests over time"), press(".top button[title^='A report']"), exists(".report-page h2"),
		textHas(".report-page .said", "requests"), must("clicks <= 2", "the page needs more than two clicks"), shot("report-now"),
		press(".report-tools .primary"), fieldIs("#weekly-name", "weekly"), must("$('#weekly-mail').disabled", "mail can be written"),
		sees("Mail needs the section [mail] in orrery.toml"), sees("needs a section [destination.NAME]"),
		sees("The last 30 reports are kept"), shot("report-weekly"), press(".weekly [type=submit]"),
		sees("weekly is scheduled. It is next made on "), must("clicks <= 4", "the schedule needs more than four clicks"),
		stored("prod", "weekly", map[string]any{
			"period": "week", "weekday": "monday", "at": "07:00", "tz": "UTC", "filters": "", "deliver": []any{},
		}),
		click(".weekly a", "Open it under Reports"), sees("every Monday at 07:00"), addressHas("#/reports/prod/weekly"))
	walk("the report has the filter, the period and the name that are wanted",
		report("prod", "weekly-other", weeklyNowhere), open("#/?panel=report&f=status%3E%3D400&t="+demoDay),
		textHas(".report-page .facts", "status>=400"),
		textHas(".report-page > header", "1 January 2026"), click(".report-tools button", "Every Monday"),
		fill("#weekly-name", "weekly-other"), sees("There is a report with this name"),
		must("$('.weekly [type=submit]').disabled", "it can be replaced"),
		fill("#weekly-name", "errors"), click(".weekly [type=submit]", "Schedule"), sees("errors is scheduled"),
		stored("prod", "errors", map[string]any{"filters": "status>=400"}), evaluate(keepFiles),
		click(".report-tools button", "Save the page"),
		holds("window.files[0]?.text?.startsWith('<!doctype html>')", "saves the page"), is("window.files[0].name", "report-2026-01-01.html"),
		keys(kb.Escape), hashLacks("panel"), sees("Requests over time"))
	walk("a report is left for another screen, and its links lead to its requests",
		open("#/?panel=report&t="+demoDay), exists(".report-page .list a"), click(".report-page .list a", ""), hashHas("#/events"),
		sees(" shown"),
		back(), exists(".report-page"), click("nav a", "Status"), sees("What it allows"), hashLacks("panel"))
	walk("a heavy report waits until it is run",
		answers(heavy("report")), open("#/?panel=report&t="+demoDay), sees("This is a heavy question"), asked("report", 0),
		click(".trouble button", "Run it"), exists(".report-page"))
	walk("texts of requests are no markup, in both themes and at all widths",
		answers(func(c *call) bool { return c.question("report") && c.say(hostileReport(c.t)) }),
		inThemes(func(shot func(name string) step) []step {
			return []step{
				open("#/?panel=report&t=" + demoDay), textHas(".report-page", "<script>"), lacks(".report-page script, .report-page img"),
				must("$$('.report-page a').every((e) => e.getAttribute('href').startsWith('#/'))", "a link leads elsewhere"),
				shot("report-hostile"),
			}
		}))
	walk("a report that is kept is read, with the branches that it is about",
		report("prod", "read", weeklyNowhere), answers(func(c *call) bool {
			switch {
			case c.r.Method == http.MethodGet && c.to("/read/runs"):
				return c.say(`{"runs":[` + keptRun + `}]}`)
			case c.to("/read/runs/a"):
				return c.say(keptRun + `,"content":` + hostileReport(c.t) + `}`)
			}
			return false
		}), open("#/reports/prod/read?tab=runs"), textHas(".runs .run-state", "kept"), sees("about prod, shop"), sees("kept here"),
		shot("report-kept"), click(".runs button", "Read the report"), textHas(".report-page", "<script>"), lacks(".report-page script"),
		sees("about prod, shop"), shot("report-read"), click("button", "All runs"), exists(".runs"))
}

const weeklyNowhere = `{"period":"week"}`

const keptRun = `{"id":"a","report":"read","version":1,"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z",` +
	`"due":"2026-01-02T07:00:00Z","state":"kept","verdict":"attacked, held","incomplete":false,"partial":false,` +
	`"ended":"2026-01-02T07:01:00Z","deliveries":[],"branches":["prod","shop"],"kept":true`

// hostileReport returns a report whose texts try to be something else, in JSON.
func hostileReport(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", "report", "testdata", "hostile.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// runState is the state of a run, or of a delivery of it.
var runState = regexp.MustCompile(`"state":"[a-z]+"`)

const failedRun = `{"runs":[{"id":"a","report":"weekly","version":1,"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z",` +
	`"due":"2026-01-02T07:00:00Z","by":"","state":"failed","reason":"the data is not there","verdict":"attacked, held","incomplete":true,` +
	`"partial":true,"ended":"2026-01-02T07:01:00Z","deliveries":[{"to":"archive","state":"delivered","attempts":1,` +
	`"at":"2026-01-02T07:01:00Z"},{"mail":["ops@example.com"],"state":"failed","attempts":3,"at":null,"reason":"the mailbox is full"}]}]}`

// TestReportsWithKeys: a report is made with the key.
func TestReportsWithKeys(t *testing.T) {
	walk := walksAt(t, locked.address(t))
	walk("a report is made with the key, and saved as a page",
		allow("status of 401"), open("#/reports/prod/weekly?tab=preview"), sees("This server needs an API key"),
		fill("#key", "the-key-of-the-test"), click("button", "Use the key"), sees("Nothing is sent"), fill("#about-from", "2026-01-01"),
		fill("#about-to", "2026-01-02"), click(".about button", "Preview"),
		holds("$('.report-page')?.textContent.length > 1000", "has the report"), must("$$('.preview a').every((e) => e.getAttribute('href').startsWith('#/'))", "a link leads elsewhere"), evaluate(keepFiles),
		click("button", "Save the page"), holds("window.files.length === 1", "saves a file"),
		is("window.files[0].name", "weekly-2026-01-01.html"),
		holds("window.files[0].text?.startsWith('<!doctype html>')", "saves the page"))
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
