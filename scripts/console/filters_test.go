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
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)
	save := func(t *testing.T, s *served, config, name, filter string) {
		t.Helper()
		conf(t, s, http.MethodPut, "/api/v4.0/conf/"+config+"/filters/"+name, fmt.Sprintf(`{"filters":%q}`, filter))
	}
	const choose = `localStorage.setItem('orrery.config', %q)`

	walk("a filter is saved, used by its name, and deleted", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 400"} // half a filter is checked on a slow machine
		b.open(`#/events?f=blocked+is+true,+country="Germany"&t=` + demoDay)
		b.sees("shown")
		b.run(chromedp.Evaluate(fmt.Sprintf(choose, "bar"), nil))
		b.click(".bar button", "Saved filters")
		b.sees("has no saved filters")
		b.fill("#filters-name", "German Blocks")
		b.sees("Small letters")
		b.fill("#filters-name", "german-blocks")
		b.click(".saving button", "Save")
		b.holds("document.querySelector('.found li')?.textContent.includes('@german-blocks')", "lists the filter")
		b.click(".filters-of button", "Close")
		b.click(".bar button", "Clear the filter")
		b.run(chromedp.Focus("#filter"))
		b.keys("@ger")
		b.holds("document.querySelector('.completions [role=option]')?.textContent.startsWith('@german-blocks')", "offers the name")
		b.keys(kb.Tab)
		b.holds(`document.querySelector('#filter').value === 'blocked is true, country="Germany"'`, "has the conditions")
		b.fill("#filter", "@german-blocks, method=GET")
		b.click(".run", "Run")
		b.holds(`document.querySelector('#filter').value === 'blocked is true, country="Germany", method=GET'`, "replaces the name")
		b.keepNotices()
		b.fill("#filter", "@nobody")
		b.click(".run", "Run")
		b.holds("window.notices.includes('There is no saved filter nobody.')", "says so")
		b.click(".bar button", "Saved filters")
		b.click(".filters-of button", "Delete @german-blocks")
		b.sees("has no saved filters")
		b.click(".filters-of button", "Undo the deletion of @german-blocks")
		b.holds("document.querySelector('.found li')?.textContent.includes('@german-blocks')", "lists the filter again")
		b.holds("![...document.querySelectorAll('.filters-of button')].some((e) => e.textContent.startsWith('Undo'))", "has nothing to undo")
	})
	walk("the server is asked once for the saved filters while a name is typed", func(t *testing.T, b *tab, s *served) {
		for _, name := range []string{"german-blocks", "great", "other"} {
			save(t, s, "typed", name, "host="+name)
		}
		var asked atomic.Int32
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/filters") {
				asked.Add(1)
			}
			return false
		})
		b.allowed = []string{"status of 400"} // half a filter is checked on a slow machine
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.run(chromedp.Evaluate(fmt.Sprintf(choose, "typed"), nil), chromedp.Focus("#filter"))
		for i, key := range []string{"@", "g", "e"} { // each leaves one name less
			b.keys(key)
			b.holds(fmt.Sprintf("document.querySelectorAll('.completions [role=option]').length === %d", 3-i), "offers the names")
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("the server was asked %d times", n)
		}
	})
	walk("a filter that is typed on is not replaced by the one that was run before", func(t *testing.T, b *tab, s *served) {
		save(t, s, "late", "one", "blocked is true")
		asked, held := make(chan struct{}, 8), make(chan struct{})
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/filters") {
				asked <- struct{}{}
				select {
				case <-held:
				case <-r.Context().Done(): // the page no longer wants the answer
				}
			}
			return false
		})
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.run(chromedp.Evaluate(fmt.Sprintf(choose, "late"), nil))
		b.run(chromedp.Evaluate("document.querySelector('#filter').blur()", nil))
		b.fill("#filter", "@one")
		b.click(".run", "Run")
		<-asked
		b.fill("#filter", "status=404")
		close(held)
		b.click(".run", "Run")
		b.holds("location.hash.includes('404') && document.querySelector('#filter').value === 'status=404'", "runs what was typed last")
	})
	walk("a filter in the JSON form that the server cannot read now does not run, and why is said", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 503"}
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/data/timeline/parse") {
				return false
			}
			w.Header().Set("Retry-After", "0")
			return refuse(w, http.StatusServiceUnavailable, "the parser is away")
		})
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.keepNotices()
		b.fill("#filter", `[{"field":"status","op":"eq","value":404}]`)
		b.click(".run", "Run")
		b.holds("window.notices.includes('the parser is away')", "says why")
		if strings.Contains(b.fragment(), "404") {
			t.Errorf("the filter ran: %s", b.fragment())
		}
	})
	walk("enter that ends a word of an input method does not run the filter", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.fill("#filter", `country="日本"`)
		const enter = `document.querySelector('#filter').dispatchEvent(
			new KeyboardEvent('keydown', {key: 'Enter', isComposing: %t, bubbles: true, cancelable: true}))`
		if !value[bool](b, fmt.Sprintf(enter, true)) || value[bool](b, "location.hash.includes('country')") {
			t.Error("the filter ran in the middle of a word")
		}
		b.run(chromedp.Evaluate(fmt.Sprintf(enter, false), nil))
		b.holds("location.hash.includes('country')", "runs the filter with the next one")
	})
	walk("an option is taken by a click, and a finger that moves over the options takes none", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 400"} // half a filter is checked
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.run(chromedp.Focus("#filter"))
		const listed = "document.querySelectorAll('[role=option]').length === 12"
		unchanged := func(after string) {
			t.Helper()
			if !value[bool](b, listed+" && document.querySelector('#filter').value === '' && document.activeElement.id === 'filter'") {
				t.Errorf("the list, the filter or the focus changed after %s", after)
			}
		}
		b.chord(" ", "Space", input.ModifierCtrl)
		b.holds(listed, "offers twelve fields")
		x, y := b.middle("#completion-3")
		left := value[float64](b, "document.querySelector('#completions').getBoundingClientRect().x")
		b.run(chromedp.MouseClickXY(left+3, y))
		unchanged("a click beside the options")
		name := value[string](b, "document.querySelector('#completion-3 code').textContent")
		b.run(chromedp.MouseClickXY(x, y))
		b.holds(fmt.Sprintf("document.querySelector('#filter').value.startsWith(%q) && document.activeElement.id === 'filter'", name),
			"has the field")
		b.fill("#filter", "")
		b.chord(" ", "Space", input.ModifierCtrl)
		b.holds(listed, "offers the fields again")
		x, y = b.middle("#completion-3")
		b.run(input.DispatchTouchEvent(input.TouchStart, []*input.TouchPoint{{X: x, Y: y}}))
		for _, moved := range []float64{20, 40, 60} {
			b.run(input.DispatchTouchEvent(input.TouchMove, []*input.TouchPoint{{X: x, Y: y - moved}}))
		}
		b.run(input.DispatchTouchEvent(input.TouchEnd, []*input.TouchPoint{}))
		unchanged("a finger moved over it")
	})
	walk("a filter is completed from the first field to the last sign, by keys", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 400"} // half a filter is checked
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		b.holds("document.querySelectorAll('#split option').length > 10", "has the catalogue of fields")
		first := func(text string) {
			t.Helper()
			b.holds(fmt.Sprintf("document.querySelector('[role=option]')?.innerText.startsWith(%q)", text), "offers "+text)
		}
		is := func(text string) {
			t.Helper()
			b.holds(fmt.Sprintf("document.querySelector('#filter').value === %q", text), "has "+text)
		}
		b.run(chromedp.Focus("#filter"))
		b.chord(" ", "Space", input.ModifierCtrl)
		first("status")
		b.holds("document.querySelectorAll('[role=option]').length === 12", "offers twelve fields")
		b.holds("document.querySelector('[role=option] small').textContent === 'integer: status>=500'", "has the type and an example")
		b.holds("document.querySelector('#filter').getAttribute('aria-activedescendant') === null", "chooses none")
		b.accessible("completion")
		b.screenshot("completion")
		b.keys(kb.ArrowUp)
		b.holds("document.querySelector('#filter').getAttribute('aria-activedescendant') === 'completion-11'", "chooses the last one")
		b.keys(kb.Escape)
		b.holds("!document.querySelector('[role=option]')", "offers nothing")
		b.keys("path cont")
		first("contains")
		b.enter()
		is(`path ~"(?i)"`)
		b.keys("LOGI")
		b.holds("document.querySelector('[role=option]')?.innerText.includes('login')", "offers values that contain it")
		b.holds("document.querySelector('#filter').getAttribute('aria-activedescendant') === null", "leaves the pattern as it is")
		b.keys(kb.ArrowDown)
		b.enter()
		b.holds(`document.querySelector('#filter').value.startsWith('path ~"(?i)/') && document.querySelector('#filter').value.endsWith('"')`,
			"takes the value as a pattern")
		first(",")
		b.keys(kb.ArrowDown)
		b.enter()
		b.holds(`document.querySelector('#filter').value.endsWith('", ')`, "goes on")
		first("status")
		b.keys("path_parts[")
		first("part1")
		b.keys(kb.ArrowDown)
		b.enter()
		b.holds(`document.querySelector('#filter').value.endsWith(', path_parts["part1"]')`, "takes the key")
	})
	walk("filters that name sensitive fields are forgotten with the tab", func(t *testing.T, b *tab, s *served) {
		b.open("#/status")
		b.sees("What it allows")
		b.run(chromedp.Evaluate(`localStorage.setItem('orrery.filters', JSON.stringify([{filter: 'session="of-old"', at: 1, requests: 1}]))`, nil))
		b.follow(`#/events?f=session="abc"&t=` + demoDay)
		b.run(chromedp.Reload())
		b.sees("No requests in this period match the filter")
		b.follow("#/events?f=status>%3D400&t=" + demoDay)
		b.sees("shown")
		b.holds("localStorage.getItem('orrery.filters')?.includes('status>=400')", "keeps the filter that is not sensitive")
		if kept := value[string](b, "JSON.stringify(localStorage)"); strings.Contains(kept, "session") {
			t.Errorf("the browser keeps %s", kept)
		}
		b.click(".bar button", "Clear the filter")
		b.run(chromedp.Focus("#filter"))
		b.keys(kb.ArrowUp)
		b.holds("[...document.querySelectorAll('.found code')].map((e) => e.textContent).join() === 'status>=400,session=\"abc\",session=\"of-old\"'",
			"has all of them in the history")
	})
	walk("a filter that somebody else changed is not replaced", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 412"}
		b.open(`#/events?f=blocked+is+true&t=` + demoDay)
		b.sees("shown")
		save(t, s, "changed", "one", "status=404")
		b.run(chromedp.Evaluate(fmt.Sprintf(choose, "changed"), nil))
		b.click(".bar button", "Saved filters")
		b.holds("document.querySelectorAll('.found li').length === 1", "lists the filter")
		save(t, s, "changed", "one", "status=405")
		b.fill("#filters-name", "one")
		b.click(".filters-of button", "Replace")
		b.sees("has changed since")
		b.holds("document.querySelector('.found li').textContent.includes('status=405')", "has the newer filter")
		b.click(".filters-of button", "Replace")
		b.holds("document.querySelector('.found li').textContent.includes('blocked is true')", "replaces it then")
	})
	walk("what was asked is found again", func(t *testing.T, b *tab, s *served) {
		b.open("#/status")
		b.sees("What it allows")
		for i, filter := range []string{`blocked+is+true`, `country+%3D+Germany`, `status>%3D400`} {
			b.follow("#/?f=" + filter + "&t=" + demoDay)
			b.holds(fmt.Sprintf("[localStorage, sessionStorage].flatMap((kept) => JSON.parse(kept.getItem('orrery.filters') ?? '[]')).length === %d",
				i+1), "remembers "+filter)
		}
		b.click(".bar button", "Clear the filter")
		b.run(chromedp.Focus("#filter"))
		b.keys(kb.ArrowUp)
		b.holds("document.querySelectorAll('.found li').length === 3", "has the history")
		b.holds(`document.querySelector('.found code').textContent === 'status>=400'`, "has the newest first")
		b.holds(`/^[0-9,]+ requests, \d+ (s|min) ago$/.test(document.querySelector('.found small').textContent)`, "has the number of requests")
		b.keys("gmny")
		b.holds("document.querySelectorAll('.found li').length === 1", "has the one with these letters")
		b.accessible("history")
		b.screenshot("history")
		b.enter()
		b.holds(`document.querySelector('#filter').value === 'country="Germany"'`, "has the filter")
		b.holds("location.hash.includes('Germany')", "has run it")
		b.holds(`JSON.parse(localStorage.getItem('orrery.filters'))[0].filter === 'country="Germany"'`, "has remembered it again")
		b.run(chromedp.Evaluate(historyAtOnce, nil))
		b.click(".filters-of label", "Forget them")
		b.holds("localStorage.getItem('orrery.filters') === null && sessionStorage.getItem('orrery.filters') !== null", "keeps them in the tab")
		b.click(".filters-of button", "Forget all")
		b.sees("No filter was asked yet")
		b.holds("sessionStorage.getItem('orrery.filters') === null", "has forgotten them")
		b.keys(kb.Escape)
		b.holds("!document.querySelector('.filters-of') && document.activeElement.id === 'filter'", "is back in the bar")
	})
	walk("conditions are turned around and taken out one by one", func(t *testing.T, b *tab, s *served) {
		b.open(`#/?f=blocked+is+true,+country+in+(Germany,+France),+status>%3D400&t=` + demoDay)
		b.holds("document.querySelectorAll('.chips li').length === 4", "has the conditions")
		b.click(".chips button", "Turn around: country in Germany, France")
		b.holds("document.querySelector('#filter').value === 'blocked is true, country not in (Germany, France), status>=400'", "is turned around")
		b.holds("document.querySelectorAll('.chips li').length === 4", "has the conditions again")
		b.click(".chips button", "Take out: status ≥ 400")
		b.holds("document.querySelector('#filter').value === 'blocked is true, country not in (Germany, France)'", "is taken out")
		b.holds("document.querySelectorAll('.chips li').length === 3", "has one less")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.holds("document.querySelector('#filter').value.endsWith('status>=400')", "is back")
		b.holds("document.querySelectorAll('.chips li').length === 4", "has all conditions")
		b.click(".chips button", "as JSON")
		b.holds(`JSON.parse(document.querySelector('#filter').value)[0].op === 'is'`, "has the JSON form")
		b.click(".run", "Run")
		b.holds(`document.querySelector('#filter').value.startsWith('blocked is true')`, "has the query string again")
	})
	walk("an OR about one field becomes a list", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 400"}
		b.open(`#/?f=status%3D403+or+status%3D471&t=` + demoDay)
		b.sees("OR is not part of this API")
		b.click(".mistakes button", "Make it a list")
		b.holds("document.querySelector('#filter').value === 'status in (403, 471)'", "has the list")
		b.click(".run", "Run")
		b.sees("Requests over time")
	})
	walk("a search in the rows becomes a condition", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.holds("document.querySelector('#quick-find')", "has the field")
		b.keys("q")
		b.holds("document.activeElement.id === 'quick-find'", "is in the field")
		b.fill("#quick-find", "german")
		b.sees("of the 200 that are loaded")
		b.holds(`document.querySelector('.quick-find code')?.textContent === 'country~"(?i)german"'`, "has the condition")
		b.holds("[...document.querySelectorAll('.event .cell.country')].every((e) => e.textContent.includes('Germany'))", "has only these rows")
		b.enter()
		b.holds(`document.querySelector('#filter').value === 'country~"(?i)german"' && document.querySelector('#quick-find').value === ''`,
			"asks for all events")
	})
	walk("what is searched in the rows reaches the address after a pause, and is not lost before", func(t *testing.T, b *tab, s *served) {
		b.everyPage(`{
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
		}`)
		found := func(text string) {
			t.Helper()
			b.holds(fmt.Sprintf("document.querySelector('#quick-find')?.value === %q", text), "has the text")
			b.sees("of the 200 that are loaded")
		}
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.holds("document.querySelector('#quick-find')", "has the field")
		b.run(chromedp.Focus("#quick-find"))
		b.evaluate("replaced = 0")
		b.keys("german")
		found("german")
		if n := value[int](b, "replaced"); n != 0 {
			t.Errorf("the address was changed %d times", n)
		}
		b.run(chromedp.Reload())
		found("german")
		b.run(chromedp.Focus("#quick-find"))
		b.keys(kb.End + "y")
		found("germany")
		b.evaluate("rest()")
		b.holds("location.hash.includes('find=germany')", "has the text in its address")
		b.keys(kb.Backspace)
		found("german")
		b.enter()
		b.holds(`document.querySelector('#filter').value === 'country~"(?i)german"'`, "asks for all events")
		b.evaluate("history.back()")
		found("german")
	})
	walk("the dashboard on paper", func(t *testing.T, b *tab, s *served) {
		b.open("#/?f=blocked+is+true&t=" + demoDay)
		b.sees("Requests over time")
		b.holds("document.querySelectorAll('.list tbody tr').length > 20 && document.querySelector('.plot canvas')", "has its answers")
		b.run(emulation.SetEmulatedMedia().WithMedia("print"), chromedp.Evaluate("dispatchEvent(new Event('beforeprint'))", nil))
		b.holds("document.documentElement.dataset.theme === 'light'", "is light")
		b.holds(`getComputedStyle(document.querySelector('.top')).display === 'none' &&
			getComputedStyle(document.querySelector('.run')).display === 'none' &&
			document.querySelector('#filter').getBoundingClientRect().height > 0 &&
			document.querySelector('#period').getBoundingClientRect().height > 0`, "has the question without the controls")
		b.screenshot("print")
		b.run(chromedp.Evaluate("dispatchEvent(new Event('afterprint'))", nil))
		b.holds("document.documentElement.dataset.theme === 'auto'", "is as before")
	})
	walk("the lists are accessible, at all widths", func(t *testing.T, b *tab, s *served) {
		save(t, s, "wide", "server-errors", "status>=500")
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{360, 768, 1280} {
				b := newTab(t, browser, s.url, width, scheme)
				b.open(`#/events?f=blocked+is+true,+country+in+(Germany,+France),+status>%3D400&t=` + demoDay)
				b.holds("document.querySelectorAll('.chips li').length === 4", "has the conditions")
				b.run(chromedp.Evaluate(fmt.Sprintf(choose, "wide"), nil))
				for _, panel := range []string{"chips", "saved", "completion"} {
					if panel == "completion" {
						b.keys(kb.Escape)
						b.fill("#filter", "")
						b.chord(" ", "Space", input.ModifierCtrl)
						b.holds("document.querySelectorAll('[role=option]').length === 12", "offers fields")
					}
					if panel == "saved" {
						b.click(".bar button", "Saved filters")
						b.holds("document.querySelector('.found li')", "has the filter")
					}
					b.screenshot(fmt.Sprintf("%s-%s-%d", panel, scheme, width))
					b.accessible(panel)
					if value[bool](b, "document.documentElement.scrollWidth > innerWidth") {
						t.Errorf("%s is wider than the window of %d", panel, width)
					}
				}
				b.check()
			}
		}
	})
}

// TestExport walks through the export of all matching events.
func TestExport(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "6000").address)
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

	walk("all events as csv, in memory", func(t *testing.T, b *tab, s *served) {
		b.open(columns)
		b.sees("200 of ")
		b.run(chromedp.Evaluate("delete window.showSaveFilePicker; window.showSaveFilePicker = undefined", nil), chromedp.Evaluate(keepFiles, nil))
		b.click(".over-rows button", "Export")
		b.sees("6,000 events in 3 questions")
		b.sees("The export reads")
		b.accessible("export")
		b.screenshot("export")
		b.click(".export button", "Export")
		b.sees("Done: 6,000")
		b.holds("window.files.length === 1 && window.files[0].text", "has saved one file")
		if name := value[string](b, "window.files[0].name"); name != "orrery-logs-20260101T0000-20260102T0000.csv" {
			t.Errorf("the file is %s", name)
		}
		if got, want := value[string](b, "window.files[0].text"), all(t, s, "csv", fields); got != want {
			t.Errorf("the file has %d bytes, the API has %d", len(got), len(want))
		}
	})
	walk("all members as ndjson, to a file as they come; after a failure it goes on", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 500"}
		var pages int
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/data/logs") {
				return false
			}
			if body := bodyOf(t, r); body["format"] != "ndjson" {
				return false
			}
			if pages++; pages != 2 {
				return false
			}
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"code":500,"message":"something went wrong on our side"}`)
			return true
		})
		b.open(columns)
		b.sees("200 of ")
		b.run(chromedp.Evaluate(`window.written = []; window.fileClosed = false;
			window.showSaveFilePicker = async ({ suggestedName }) => ({ createWritable: async () => ({
				write: async (content) => { window.suggested = suggestedName; window.written.push(new TextDecoder().decode(content)); },
				close: async () => { window.fileClosed = true; }, abort: async () => undefined }) })`, nil))
		b.click(".over-rows button", "Export")
		b.click(".export label", "NDJSON")
		b.click(".export label", "all members")
		b.holds("!document.querySelector('.export .primary').disabled", "has the price")
		b.click(".export button", "Export")
		b.sees("Failed after 2,500")
		b.sees("something went wrong on our side")
		b.click(".export button", "Go on")
		b.sees("Done: 6,000")
		b.holds("window.fileClosed && window.written.length === 3", "has written each page")
		if got, want := value[string](b, "window.written.join('')"), all(t, s, "ndjson", ""); got != want {
			t.Errorf("the file has %d bytes, the API has %d", len(got), len(want))
		}
	})
	walk("all events as one list of json", func(t *testing.T, b *tab, s *served) {
		b.open(columns)
		b.sees("200 of ")
		b.run(chromedp.Evaluate("delete window.showSaveFilePicker; window.showSaveFilePicker = undefined", nil), chromedp.Evaluate(keepFiles, nil))
		b.click(".over-rows button", "Export")
		b.click(".export label", "JSON, a list")
		b.holds("!document.querySelector('.export .primary').disabled", "has the price")
		b.click(".export button", "Export")
		b.sees("Done: 6,000")
		b.holds("window.files.length === 1 && window.files[0].text", "has saved one file")
		if name := value[string](b, "window.files[0].name"); name != "orrery-logs-20260101T0000-20260102T0000.json" {
			t.Errorf("the file is %s", name)
		}
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
	walk("a heavy export says so before it begins", func(t *testing.T, b *tab, s *served) {
		var heavy atomic.Bool
		var pages atomic.Int32
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			body := bodyOf(t, r)
			if body["format"] != nil {
				pages.Add(1)
			}
			return heavy.Load() && body["dry_run"] == true && changed(t, s, w, r, body, costly)
		})
		b.open(columns)
		b.sees("200 of ")
		b.evaluate("window.showSaveFilePicker = undefined; " + keepFiles)
		heavy.Store(true)
		b.click(".over-rows button", "Export")
		b.sees("costs $4.50–$6.00") // of three pages
		b.sees("This is a heavy export")
		b.accessible("heavy export")
		if n := pages.Load(); n != 0 {
			t.Errorf("%d pages were asked for by themselves", n)
		}
		b.click(".export button", "Export")
		b.sees("Done: 6,000")
	})
	walk("an export is cancelled", func(t *testing.T, b *tab, s *served) {
		held := make(chan struct{})
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/data/logs") {
				if body := bodyOf(t, r); body["format"] != nil && body["cursor"] != nil {
					select {
					case <-held:
					case <-r.Context().Done():
					}
				}
			}
			return false
		})
		defer close(held)
		b.open(columns)
		b.sees("200 of ")
		b.run(chromedp.Evaluate(`window.aborted = false;
			window.showSaveFilePicker = async () => ({ createWritable: async () => ({
				write: async () => undefined, close: async () => undefined, abort: async () => { window.aborted = true; } }) })`, nil))
		b.click(".over-rows button", "Export")
		b.holds("!document.querySelector('.export .primary').disabled", "has the price")
		b.click(".export button", "Export")
		b.sees("2,500 of 6,000")
		b.click(".export button", "Cancel")
		b.sees("Cancelled after 2,500")
		b.holds("window.aborted", "removes what was written")
		b.click(".export button", "Close")
		b.holds("!document.querySelector('dialog')", "is closed")
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
