package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// historyAtOnce opens the lists of filters and chooses the history as soon as they are drawn, before the effects of drawing ran.
const historyAtOnce = `new MutationObserver((_, observer) => {
	const history = [...document.querySelectorAll('.filters-of button')].find((e) => e.textContent === 'History');
	if (!history) return;
	observer.disconnect();
	history.click();
}).observe(document.querySelector('.bar'), {childList: true, subtree: true});
document.querySelector('[aria-label="Saved filters and history"]').click()`

// TestFilterBar walks through saved filters, the history, and the conditions below the text.
func TestFilterBar(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	choose := func(config string) step {
		return evaluate(fmt.Sprintf("localStorage.setItem('orrery.config', %q)", config))
	}

	walk("a filter is saved, used by its name, and deleted",
		allow("status of 400"), // half a filter is checked on a slow machine
		open(`#/events?f=blocked+is+true,+country="Germany"&t=`+demoDay), sees("shown"), choose("bar"),
		click(".bar button", "Saved filters"), sees("has no saved filters"), fill("#filters-name", "German Blocks"),
		sees("Small letters"), fill("#filters-name", "german-blocks"), click(".saving button", "Save"),
		textHas(".found li", "@german-blocks"), click(".filters-of button", "Close"), click(".bar button", "Clear the filter"),
		focus("#filter"), keys("@ger"), textBegins(".completions [role=option]", "@german-blocks"), keys(kb.Tab),
		filterIs(`blocked is true, country="Germany"`), fill("#filter", "@german-blocks, method=GET"), click(".run", "Run"),
		filterIs(`blocked is true, country="Germany", method=GET`), keepNotices(), fill("#filter", "@nobody"), click(".run", "Run"),
		holds("window.notices.includes('There is no saved filter nobody.')", "says so"), click(".bar button", "Saved filters"),
		click(".filters-of button", "Delete @german-blocks"), sees("has no saved filters"),
		click(".filters-of button", "Undo the deletion of @german-blocks"), textHas(".found li", "@german-blocks"),
		holds("!$$('.filters-of button').some((e) => e.textContent.startsWith('Undo'))", "has nothing to undo"))
	const names = ".completions [role=option]"
	walk("the server is asked once for the saved filters while a name is typed",
		savedFilter("typed", "german-blocks", "host=german-blocks"), savedFilter("typed", "great", "host=great"),
		savedFilter("typed", "other", "host=other"), forgetCalls(), allow("status of 400"), // half a filter is checked on a slow machine
		open("#/events?t="+demoDay), sees("200 of "), choose("typed"), focus("#filter"), keys("@"), count(names, 3), keys("g"),
		count(names, 2), keys("e"), count(names, 1),
		calls(1, func(one sent) bool { return one.method == http.MethodGet && strings.HasSuffix(one.path, "/filters") }))
	walk.run("a filter that is typed on is not replaced by the one that was run before", func(t *testing.T, b *tab, s *served) {
		b.do(savedFilter("late", "one", "blocked is true"))
		asked, held := make(chan struct{}, 8), make(chan struct{})
		b.do(answers(func(c *call) bool {
			if c.r.Method == http.MethodGet && c.to("/filters") {
				asked <- struct{}{}
				c.wait(held)
			}
			return false
		}), open("#/events?t="+demoDay), sees("200 of "), choose("late"), evaluate("$('#filter').blur()"),
			fill("#filter", "@one"), click(".run", "Run"), receives(asked), fill("#filter", "status=404"), closes(held),
			click(".run", "Run"),
			holds("location.hash.includes('404') && $('#filter').value === 'status=404'", "runs what was typed last"))
	})
	walk("a filter in the JSON form that the server cannot read now does not run, and why is said",
		allow("status of 503"), answers(func(c *call) bool { return c.to("/data/timeline/parse") && c.busy(0) }), open("#/events?t="+demoDay), sees("200 of "), keepNotices(), fill("#filter", `[{"field":"status","op":"eq","value":404}]`),
		click(".run", "Run"), notices("try again later"), addressLacks("404"))
	const enters = "$('#filter').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', isComposing: %t, bubbles: true, cancelable: true}))"
	walk("enter that ends a word of an input method does not run the filter",
		open("#/events?t="+demoDay), sees("200 of "), fill("#filter", `country="日本"`),
		must(fmt.Sprintf(enters, true)+" && !location.hash.includes('country')", "the filter ran in the middle of a word"),
		evaluate(fmt.Sprintf(enters, false)), hashHas("country"))
	walk.run("an option is taken by a click, and a finger that moves over the options takes none", func(t *testing.T, b *tab, s *served) {
		b.do(allow("status of 400"), // half a filter is checked
			open("#/events?t="+demoDay), sees("200 of "), focus("#filter"))
		const listed = "document.querySelectorAll('[role=option]').length === 12"
		unchanged := func(after string) {
			t.Helper()
			if !value[bool](b, listed+" && document.querySelector('#filter').value === '' && document.activeElement.id === 'filter'") {
				t.Errorf("the list, the filter or the focus changed after %s", after)
			}
		}
		b.do(chord(" ", "Space", input.ModifierCtrl), holds(listed, "offers twelve fields"))
		x, y := b.middle("#completion-3")
		left := value[float64](b, "document.querySelector('#completions').getBoundingClientRect().x")
		b.run(chromedp.MouseClickXY(left+3, y))
		unchanged("a click beside the options")
		name := value[string](b, "document.querySelector('#completion-3 code').textContent")
		b.run(chromedp.MouseClickXY(x, y))
		b.do(holds(fmt.Sprintf("$('#filter').value.startsWith(%q) && document.activeElement.id === 'filter'", name), "has the field"),
			fill("#filter", ""), chord(" ", "Space", input.ModifierCtrl), holds(listed, "offers the fields again"))
		x, y = b.middle("#completion-3")
		b.run(input.DispatchTouchEvent(input.TouchStart, []*input.TouchPoint{{X: x, Y: y}}))
		for _, moved := range []float64{20, 40, 60} {
			b.run(input.DispatchTouchEvent(input.TouchMove, []*input.TouchPoint{{X: x, Y: y - moved}}))
		}
		b.run(input.DispatchTouchEvent(input.TouchEnd, []*input.TouchPoint{}))
		unchanged("a finger moved over it")
	})
	walk("a filter is completed from the first field to the last sign, by keys",
		allow("status of 400"), // half a filter is checked
		open("#/?t="+demoDay), sees("Requests over time"), moreThan(10, "#split option"),
		focus("#filter"), chord(" ", "Space", input.ModifierCtrl),
		textBegins("[role=option]", "status"),
		count("[role=option]", 12), text("[role=option] small", "integer: status>=500"),
		holds("$('#filter').getAttribute('aria-activedescendant') === null", "chooses none"), accessible("completion"),
		screenshot("completion"), keys(kb.ArrowUp),
		holds("$('#filter').getAttribute('aria-activedescendant') === 'completion-11'", "chooses the last one"),
		keys(kb.Escape), lacks("[role=option]"), keys("path cont"),
		textBegins("[role=option]", "contains"),
		enter(),
		filterIs(`path ~"(?i)"`),
		keys("LOGI"), holds("$('[role=option]')?.innerText.includes('login')", "offers values that contain it"),
		holds("$('#filter').getAttribute('aria-activedescendant') === null", "leaves the pattern as it is"), keys(kb.ArrowDown),
		enter(),
		holds(`$('#filter').value.startsWith('path ~"(?i)/') && $('#filter').value.endsWith('"')`, "takes the value as a pattern"),
		textBegins("[role=option]", ","),
		keys(kb.ArrowDown), enter(), holds(`$('#filter').value.endsWith('", ')`, "goes on"),
		textBegins("[role=option]", "status"),
		keys("path_parts["),
		textBegins("[role=option]", "part1"),
		keys(kb.ArrowDown), enter(), holds(`$('#filter').value.endsWith(', path_parts["part1"]')`, "takes the key"))
	walk("filters that name sensitive fields are forgotten with the tab",
		open("#/status"), sees("What it allows"),
		evaluate(`localStorage.setItem('orrery.filters', JSON.stringify([{filter: 'session="of-old"', at: 1, requests: 1}]))`),
		follow(`#/events?f=session="abc"&t=`+demoDay), reload(), sees("No requests in this period match the filter"),
		follow("#/events?f=status>%3D400&t="+demoDay), sees("shown"),
		holds("localStorage.getItem('orrery.filters')?.includes('status>=400')", "keeps the filter that is not sensitive"),
		mustNot("JSON.stringify(localStorage).includes('session')", "the browser keeps a filter about sessions"),
		click(".bar button", "Clear the filter"), focus("#filter"), keys(kb.ArrowUp),
		holds(`$$('.found code').map((e) => e.textContent).join() === 'status>=400,session="abc",session="of-old"'`, "has all of them in the history"))
	walk("a filter that somebody else changed is not replaced",
		allow("status of 412"), open(`#/events?f=blocked+is+true&t=`+demoDay), sees("shown"),
		savedFilter("changed", "one", "status=404"), choose("changed"),
		click(".bar button", "Saved filters"), count(".found li", 1), savedFilter("changed", "one", "status=405"),
		fill("#filters-name", "one"), click(".filters-of button", "Replace"), sees("has changed since"),
		textHas(".found li", "status=405"), click(".filters-of button", "Replace"), textHas(".found li", "blocked is true"))
	remembered := func(n int) step {
		return holds(fmt.Sprintf("[localStorage, sessionStorage].flatMap((kept) => JSON.parse(kept.getItem('orrery.filters') ?? '[]')).length === %d",
			n), "remembers the filter")
	}
	walk("what was asked is found again",
		open("#/status"), sees("What it allows"),
		follow("#/?f=blocked+is+true&t="+demoDay), remembered(1), follow("#/?f=country+%3D+Germany&t="+demoDay), remembered(2),
		follow("#/?f=status>%3D400&t="+demoDay), remembered(3),
		click(".bar button", "Clear the filter"), focus("#filter"), keys(kb.ArrowUp), count(".found li", 3),
		text(".found code", "status>=400"),
		holds(`/^[0-9,]+ requests, \d+ (s|min) ago$/.test($('.found small').textContent)`, "has the number of requests"),
		keys("gmny"), count(".found li", 1), accessible("history"), screenshot("history"), enter(),
		filterIs(`country="Germany"`), hashHas("Germany"),
		holds(`JSON.parse(localStorage.getItem('orrery.filters'))[0].filter === 'country="Germany"'`, "has remembered it again"),
		evaluate(historyAtOnce), click(".filters-of label", "Forget them"),
		holds("localStorage.getItem('orrery.filters') === null && sessionStorage.getItem('orrery.filters') !== null", "keeps them in the tab"),
		click(".filters-of button", "Forget all"), sees("No filter was asked yet"),
		holds("sessionStorage.getItem('orrery.filters') === null", "has forgotten them"), keys(kb.Escape),
		holds("!$('.filters-of') && document.activeElement.id === 'filter'", "is back in the bar"))
	walk("conditions are turned around and taken out one by one",
		open(`#/?f=blocked+is+true,+country+in+(Germany,+France),+status>%3D400&t=`+demoDay), count(".chips li", 4),
		click(".chips button", "Turn around: country in Germany, France"),
		filterIs("blocked is true, country not in (Germany, France), status>=400"), count(".chips li", 4),
		click(".chips button", "Take out: status ≥ 400"), filterIs("blocked is true, country not in (Germany, France)"),
		count(".chips li", 3), back(), holds("$('#filter').value.endsWith('status>=400')", "is back"), count(".chips li", 4),
		click(".chips button", "as JSON"), holds("JSON.parse($('#filter').value)[0].op === 'is'", "has the JSON form"),
		click(".run", "Run"), filterBegins("blocked is true"))
	walk("an OR about one field becomes a list",
		allow("status of 400"), open(`#/?f=status%3D403+or+status%3D471&t=`+demoDay), sees("OR is not part of this API"),
		click(".mistakes button", "Make it a list"), filterIs("status in (403, 471)"), click(".run", "Run"),
		sees("Requests over time"))
	walk("a search in the rows becomes a condition",
		open("#/events?t="+demoDay), sees("200 of "), exists("#quick-find"), keys("q"), focused("#quick-find"),
		fill("#quick-find", "german"), sees("of the 200 that are loaded"), text(".quick-find code", `country~"(?i)german"`),
		holds("$$('.event .cell.country').every((e) => e.textContent.includes('Germany'))", "has only these rows"), enter(),
		holds(`$('#filter').value === 'country~"(?i)german"' && $('#quick-find').value === ''`, "asks for all events"))
	found := func(text string) step {
		return together(fieldIs("#quick-find", text), sees("of the 200 that are loaded"))
	}
	const heldPauses = `{
		const { setTimeout } = window;
		const held = [];
		window.setTimeout = (run, ms, ...rest) => (ms === 500 ? held.push(run) : setTimeout(run, ms, ...rest));
		window.rest = () => held.splice(0).forEach((run) => run());
		const replace = history.replaceState.bind(history);
		window.replaced = 0;
		history.replaceState = (...given) => {
			replaced++;
			replace(...given);
		};
	}`
	walk("what is searched in the rows reaches the address after a pause, and is not lost before",
		everyPage(heldPauses), open("#/events?t="+demoDay), sees("200 of "), exists("#quick-find"), focus("#quick-find"),
		evaluate("replaced = 0"), keys("german"), found("german"), is("replaced", 0), reload(), found("german"), focus("#quick-find"),
		keys(kb.End+"y"), found("germany"), evaluate("rest()"), hashHas("find=germany"), keys(kb.Backspace), found("german"), enter(),
		filterIs(`country~"(?i)german"`), back(), found("german"))
	walk("what is searched in the rows is not lost if the pause ends when a reload has begun",
		everyPage(heldPauses), open("#/events?t="+demoDay), sees("200 of "), exists("#quick-find"), focus("#quick-find"),
		note("before", "location.hash"), keys("german"), found("german"), evaluate("rest()"), hashHas("find=german"),
		evaluate("history.replaceState(history.state, '', seen.before)"), // the reload has the address from before
		reload(), found("german"), hashHas("find=german"))
	walk("the dashboard on paper",
		open("#/?f=blocked+is+true&t="+demoDay), sees("Requests over time"),
		holds("$$('.list tbody tr').length > 20 && $('.plot canvas')", "has its answers"),
		does(emulation.SetEmulatedMedia().WithMedia("print")), evaluate("dispatchEvent(new Event('beforeprint'))"),
		holds("document.documentElement.dataset.theme === 'light'", "is light"),
		holds(`getComputedStyle($('.top')).display === 'none' &&
			getComputedStyle($('.run')).display === 'none' &&
			$('#filter').getBoundingClientRect().height > 0 &&
			$('#period').getBoundingClientRect().height > 0`, "has the question without the controls"), screenshot("print"),
		evaluate("dispatchEvent(new Event('afterprint'))"),
		holds("document.documentElement.dataset.theme === 'auto'", "is as before"))
	walk("the lists are accessible, at all widths",
		savedFilter("wide", "server-errors", "status>=500"), inThemes(func(shot func(name string) step) []step {
			return []step{
				open(`#/events?f=blocked+is+true,+country+in+(Germany,+France),+status>%3D400&t=` + demoDay), count(".chips li", 4),
				choose("wide"), shot("chips"), click(".bar button", "Saved filters"), exists(".found li"), shot("saved"), keys(kb.Escape),
				fill("#filter", ""), chord(" ", "Space", input.ModifierCtrl), count("[role=option]", 12), shot("completion"),
			}
		}))
}

// TestExport walks through the export of all matching events.
func TestExport(t *testing.T) {
	walk := walksAt(t, site{records: "6000", seed: "3"}.address(t))
	// all returns what the API has, in one piece or in pages.
	all := func(t *testing.T, s *served, format, fields string) string {
		t.Helper()
		var content strings.Builder
		cursor := ""
		for page := 0; ; page++ {
			path := "/api/v4.0/data/logs?limit=2500&format=" + format + fields + cursor +
				"&filters=timestamp+between+2026-01-01+00:00:00+and+2026-01-02+00:00:00"
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			text, next := fetched(t, request)
			if _, rest, ok := strings.Cut(text, "\r\n"); ok && format == "csv" && page > 0 {
				text = rest
			}
			content.WriteString(text)
			if next == "" {
				return content.String()
			}
			cursor = "&cursor=" + next
		}
	}
	const fields = "&fields=timestamp,method,status"
	columns := "#/events?cols=timestamp,method,status&t=" + demoDay

	walk.run("all events as csv, in memory", func(t *testing.T, b *tab, s *served) {
		b.do(open(columns), sees("200 of "),
			evaluate("delete window.showSaveFilePicker; window.showSaveFilePicker = undefined"), evaluate(keepFiles),
			click(".over-rows button", "Export"), sees("6,000 events in 3 questions"), sees("The export reads"),
			accessible("export"), screenshot("export"), click(".export button", "Export"), sees("Done: 6,000"),
			holds("window.files.length === 1 && window.files[0].text", "has saved one file"),
			is("window.files[0].name", "orrery-logs-20260101T0000-20260102T0000.csv"))
		if got, want := value[string](b, "window.files[0].text"), all(t, s, "csv", fields); got != want {
			t.Errorf("the file has %d bytes, the API has %d", len(got), len(want))
		}
	})
	walk.run("all members as ndjson, to a file as they come; after a failure it goes on", func(t *testing.T, b *tab, s *served) {
		b.do(allow("status of 500"))
		var pages int
		b.do(answers(func(c *call) bool {
			if !c.to("/data/logs") {
				return false
			}
			if c.body["format"] != "ndjson" {
				return false
			}
			if pages++; pages != 2 {
				return false
			}
			return c.fail()
		}), open(columns), sees("200 of "), evaluate(`window.written = []; window.fileClosed = false;
			window.showSaveFilePicker = async ({ suggestedName }) => ({ createWritable: async () => ({
				write: async (content) => { window.suggested = suggestedName; window.written.push(new TextDecoder().decode(content)); },
				close: async () => {
					if (window.written.length === 3 && !window.full) { window.full = true; throw new Error('the disk is full'); }
					window.fileClosed = true;
				}, abort: async () => undefined }) })`),
			click(".over-rows button", "Export"), click(".export label", "NDJSON"), click(".export label", "all members"),
			holds("!$('.export .primary').disabled", "has the price"), click(".export button", "Export"),
			sees("Failed after 2,500"), sees("something went wrong on our side"), click(".export button", "Go on"),
			sees("Failed after 6,000"), sees("the disk is full"), click(".export button", "Go on"), sees("Done: 6,000"),
			holds("window.fileClosed && window.written.length === 3", "has written each page once"))
		if got, want := value[string](b, "window.written.join('')"), all(t, s, "ndjson", ""); got != want {
			t.Errorf("the file has %d bytes, the API has %d", len(got), len(want))
		}
	})
	walk.run("all events as one list of json", func(t *testing.T, b *tab, s *served) {
		b.do(open(columns), sees("200 of "),
			evaluate("delete window.showSaveFilePicker; window.showSaveFilePicker = undefined"), evaluate(keepFiles),
			click(".over-rows button", "Export"), click(".export label", "JSON, a list"),
			holds("!$('.export .primary').disabled", "has the price"), click(".export button", "Export"), sees("Done: 6,000"),
			holds("window.files.length === 1 && window.files[0].text", "has saved one file"),
			is("window.files[0].name", "orrery-logs-20260101T0000-20260102T0000.json"))
		var records []json.RawMessage
		if err := json.Unmarshal([]byte(value[string](b, "window.files[0].text")), &records); err != nil {
			t.Fatal(err)
		}
		var lines strings.Builder
		for _, record := range records {
			lines.Write(append(record, '\n'))
		}
		if want := all(t, s, "ndjson", fields); lines.String() != want {
			t.Errorf("the file has %d records with %d bytes, the API has %d bytes", len(records), lines.Len(), len(want))
		}
	})
	walk.run("a heavy export says so before it begins", func(t *testing.T, b *tab, s *served) {
		var heavy atomic.Bool
		var pages atomic.Int32
		b.do(answers(func(c *call) bool {
			if c.body["format"] != nil {
				pages.Add(1)
			}
			return heavy.Load() && c.weighs(costly)
		}), open(columns), sees("200 of "), evaluate("window.showSaveFilePicker = undefined; "+keepFiles), sets(&heavy, true),
			click(".over-rows button", "Export"), sees("costs $4.50–$6.00"), // of three pages
			sees("This is a heavy export"), accessible("heavy export"), counts(&pages, 0), click(".export button", "Export"),
			sees("Done: 6,000"))
	})
	walk.run("an export is cancelled", func(t *testing.T, b *tab, s *served) {
		held := make(chan struct{})
		b.do(answers(func(c *call) bool {
			if c.to("/data/logs") {
				if c.body["format"] != nil && c.body["cursor"] != nil {
					c.wait(held)
				}
			}
			return false
		}))
		defer close(held)
		b.do(open(columns), sees("200 of "), evaluate(`window.aborted = false;
			window.showSaveFilePicker = async () => ({ createWritable: async () => ({
				write: async () => undefined, close: async () => undefined, abort: async () => { window.aborted = true; } }) })`),
			click(".over-rows button", "Export"), holds("!$('.export .primary').disabled", "has the price"),
			click(".export button", "Export"), sees("2,500 of 6,000"), click(".export button", "Cancel"),
			sees("Cancelled after 2,500"), holds("window.aborted", "removes what was written"), click(".export button", "Close"),
			lacks("dialog"))
	})
}

// fetched returns the body of a response, and the cursor of the next page.
func fetched(t *testing.T, request *http.Request) (text, next string) {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s", request.URL, response.Status, body)
	}
	return string(body), response.Header.Get("X-Orrery-Next")
}
