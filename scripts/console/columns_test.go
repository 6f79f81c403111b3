package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// headings are the columns of the events in their order, by commas.
const headings = "[...document.querySelectorAll('.rows .head > span')].map((e) => e.textContent).join()"

const usualHeadings = "Time,Result,Method,Status,Address,Country,Host and path,Reason"

// TestColumns walks through the choice of columns of the events.
func TestColumns(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)
	openWith := func(b *tab, columns int) {
		b.t.Helper()
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.click(".chooser:not(.tools) summary", "")
		b.holds(fmt.Sprintf("document.querySelectorAll('.columns ol li').length === %d", columns), "has the chooser")
	}
	open := func(b *tab) {
		b.t.Helper()
		openWith(b, 8)
	}

	walk("a column is moved by buttons and keys, without asking again", func(t *testing.T, b *tab, s *served) {
		var asked atomic.Int32
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/data/logs") {
				asked.Add(1)
			}
			return false
		})
		open(b)
		b.keepNotices()
		before := asked.Load()
		b.click(".columns button", "Move Status to the left")
		b.holds(headings+" === 'Time,Result,Status,Method,Address,Country,Host and path,Reason'", "has moved the status")
		b.holds("document.activeElement.ariaLabel === 'Move Status to the left'", "keeps the focus on the button")
		b.keys(kb.Shift + kb.Tab)
		b.run(chromedp.Evaluate("[...document.querySelectorAll('.columns input')][2].focus()", nil))
		b.run(chromedp.KeyEvent(kb.ArrowDown, chromedp.KeyModifiers(1))) // Alt
		b.holds(headings+" === "+fmt.Sprintf("%q", usualHeadings), "has moved it back")
		b.holds("document.activeElement.closest('li').dataset.column === 'status'", "keeps the focus on the column")
		b.holds("window.notices.includes('Status is column 4 of 8')", "announces the place")
		b.click(".columns button", "Move Reason to the left")
		b.holds("location.hash.includes('cols=')", "has the columns in its address")
		if n := asked.Load(); n != before {
			t.Errorf("the events were asked for %d times more", n-before)
		}
		b.keys(kb.Escape)
		b.holds("!document.querySelector('.columns') && document.activeElement.tagName === 'SUMMARY'", "closes the chooser")
	})
	walk("a column is dragged", func(t *testing.T, b *tab, s *served) {
		open(b)
		b.box("document.querySelectorAll('.columns .grip')[4]")
		box := value[[]float64](b, "[0, 4].flatMap((i) => (({x, y, width, height}) => [x + width / 2, y + height / 2])"+
			"(document.querySelectorAll('.columns .grip')[i].getBoundingClientRect()))")
		b.drag(box[0], box[1], box[2], box[3]+6)
		b.holds(headings+" === 'Result,Method,Status,Address,Time,Country,Host and path,Reason'", "has moved the time")
	})
	walk("any field is a column, and the export has it", func(t *testing.T, b *tab, s *served) {
		open(b)
		b.fill(".columns select", "protocol")
		b.holds("document.querySelector('.columns select').value === 'protocol'", "has chosen the field")
		if got := value[string](b, headings); got != usualHeadings {
			t.Errorf("the columns are %s before the field is added", got)
		}
		b.click(".columns form button", "Add")
		b.holds(headings+" === '"+usualHeadings+",protocol'", "has the field")
		b.holds("document.querySelector('.event .cell.protocol').textContent.startsWith('HTTP/')", "has its values")
		b.holds("document.querySelector('.columns')", "keeps the chooser open")
		b.click(".columns label", "Country")
		b.holds("!"+headings+".includes('Country')", "has no countries")
		b.keys(kb.Escape)
		b.click(".over-rows button", "Export")
		b.holds("document.querySelector('.export')?.innerText.includes('protocol')", "exports the columns that are shown")
	})
	walk("the browser keeps the columns, and a shared link names them", func(t *testing.T, b *tab, s *served) {
		open(b)
		b.click(".columns label", "Reason")
		b.holds("!"+headings+".includes('Reason')", "has no reasons")
		b.follow("#/events?t=" + demoDay)
		b.run(chromedp.Reload())
		b.sees("200 of ")
		if got := value[string](b, headings); got != strings.TrimSuffix(usualHeadings, ",Reason") {
			t.Errorf("the columns are %s", got)
		}
		b.run(chromedp.Evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text; }`, nil))
		b.keys("y")
		b.holds("window.copied?.includes('cols=timestamp,result,method,status,ip,country,target')", "has the columns in the link")
		b.click(".chooser:not(.tools) summary", "")
		b.click(".columns button", "Usual columns")
		b.holds(headings+" === "+fmt.Sprintf("%q", usualHeadings), "has the usual columns")
		b.run(chromedp.Reload())
		b.sees("200 of ")
		b.holds(headings+" === "+fmt.Sprintf("%q", usualHeadings)+" && localStorage.length === 0", "has forgotten the others")
	})
	walk("Back undoes a change of the columns, also of those that the browser keeps", func(t *testing.T, b *tab, s *served) {
		without := fmt.Sprintf("%s === %q", headings, strings.TrimSuffix(usualHeadings, ",Reason"))
		usual := fmt.Sprintf("%s === %q", headings, usualHeadings)
		const kept = "localStorage.getItem('orrery.columns')"
		open(b)
		b.click(".columns label", "Reason")
		b.holds(without+" && "+kept+" !== null", "has no reasons")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.holds(usual+" && "+kept+" === null", "has the reasons again")
		b.run(chromedp.Evaluate("history.forward()", nil))
		b.holds(without+" && "+kept+" !== null", "has no reasons again")
		b.follow("#/events?t=" + demoDay)
		b.run(chromedp.Reload())
		b.holds(without, "has kept that")
		b.click(".chooser:not(.tools) summary", "")
		b.click(".columns button", "Usual columns")
		b.holds(usual+" && "+kept+" === null", "has the usual columns")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.holds(without+" && "+kept+" !== null", "has the columns before")
	})
	walk("the focus stays on a column that is hidden or shown", func(t *testing.T, b *tab, s *served) {
		open(b)
		focused := func(list, column string) {
			t.Helper()
			b.holds(fmt.Sprintf("document.activeElement.matches('.columns %s [data-column=%s] input')", list, column), "has the focus on "+column)
		}
		b.keepNotices()
		b.run(chromedp.Focus(".columns ol [data-column=country] input"))
		b.keys(" ")
		focused("ul", "country")
		b.holds("window.notices.includes('Country is not shown')", "says so")
		b.keys(" ")
		focused("ol", "country")
	})
	walk("the chooser is within the window of a phone", func(t *testing.T, b *tab, s *served) {
		phone := newTab(t, browser, s.url, 360, "light")
		openWith(phone, 5)
		phone.holds("((box) => box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight)"+
			"(document.querySelector('.columns').getBoundingClientRect())", "has all of the chooser in view")
		phone.screenshot("columns-360")
		phone.accessible("chooser")
		phone.check()
	})
	walk("the cards of a phone have the columns that are chosen", func(t *testing.T, b *tab, s *served) {
		phone := newTab(t, browser, s.url, 360, "light")
		openWith(phone, 5)
		const card = "[...document.querySelector('.event').querySelectorAll('.cell')].filter((e) => e.checkVisibility())" +
			".map((e) => e.classList[1]).join()"
		phone.holds(card+" === 'timestamp,result,status,method,target'", "has the usual columns of a card")
		phone.click(".columns label", "Status")
		phone.click(".columns label", "Country")
		phone.holds(card+" === 'timestamp,result,method,target,country'", "has the columns")
		phone.fill(".columns select", "protocol")
		phone.click(".columns form button", "Add")
		phone.holds("/protocol.*HTTP/s.test(document.querySelector('.event').innerText)", "names a field that is no usual column")
		phone.keys(kb.Escape)
		phone.holds("((rows) => rows[0].getBoundingClientRect().bottom <= rows[1].getBoundingClientRect().top + 1)"+
			"(document.querySelectorAll('.event'))", "has cards that do not overlap")
		phone.accessible("cards")
		phone.screenshot("cards-360")
		if value[bool](phone, "document.documentElement.scrollWidth > innerWidth") {
			t.Error("the cards are wider than the window")
		}
		phone.check()
	})
	walk("the menu of a row leads to the requests around it and to those like it", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?f=blocked+is+true&t=" + demoDay)
		b.sees("200 of ")
		address := value[string](b, "document.querySelector('.event .cell.ip').textContent.replace(/[+−]/g, '').trim()")
		b.run(chromedp.Focus(".rows"))
		b.keys("m")
		b.holds("document.activeElement.textContent.includes('5 minutes around')", "opens the menu on a time, which has no value")
		b.accessible("menu of a row")
		b.click("[role=menuitem]", "Same address")
		b.holds(fmt.Sprintf("document.querySelector('#filter').value === 'ip=\"%s\"'", address), "has the requests of the address")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.holds("document.querySelector('#filter').value === 'blocked is true'", "is back")
		b.run(chromedp.Focus(".rows"))
		b.keys(kb.ArrowRight + "m")
		b.holds("document.querySelector('.menu').innerText.includes('Only') && document.querySelector('.menu').innerText.includes('Same path')",
			"has the value and the row")
		b.click("[role=menuitem]", "5 minutes around")
		b.holds("document.querySelector('#filter').value === '' && /t=2026-01-01T/.test(location.hash)", "has the minutes around")
	})
	walk("the menu of a row asks for what the list does not have", func(t *testing.T, b *tab, s *served) {
		session := firstRecord(t, s, `blocked is true, session~".", query~"=....."`)["session"]
		first := `#/events?cols=timestamp,status&f=blocked+is+true,+session~".",+query~"%3D....."&t=` + demoDay
		b.open(first)
		b.sees("shown")
		b.run(chromedp.Evaluate(`navigator.clipboard.write = async ([item]) => {
			window.copied = await (await item.getType('text/plain')).text();
		}`, nil), chromedp.Focus(".rows"))
		b.keys("m")
		b.click("[role=menuitem]", "Copy as curl")
		b.holds("/^curl .*https:.*••••••/.test(window.copied)", "has copied it")
		b.run(chromedp.Focus(".rows"))
		b.keys("m")
		b.click("[role=menuitem]", "Copy as JSON")
		b.holds("window.copied.startsWith('{') && JSON.parse(window.copied).session === '••••••'", "has copied the record without its secrets")
		b.run(chromedp.Focus(".rows"))
		b.keys("m")
		b.click("[role=menuitem]", "Same rule")
		b.holds("document.querySelector('#filter').value.startsWith('reason=')", "has the requests of the rule")
		b.open(first)
		b.sees("shown")
		b.run(chromedp.Focus(".rows"))
		b.keys("m")
		b.click("[role=menuitem]", "Same session")
		b.holds(fmt.Sprintf("document.querySelector('#filter').value === 'session=%q'", session), "has the requests of the session")
	})
	walk("a row without a session says so, and a record that is heavy to look up is left alone", func(t *testing.T, b *tab, s *served) {
		b.open(`#/events?f=not+session~"."&t=` + demoDay)
		b.sees("shown")
		at := b.fragment()
		b.keepNotices()
		b.run(chromedp.Focus(".rows"))
		b.keys("m")
		b.click("[role=menuitem]", "Same session")
		b.holds("window.notices.includes('Same session: the record has none')", "says so")
		var asked atomic.Int32
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			body := bodyOf(t, r)
			if !strings.HasSuffix(r.URL.Path, "/data/logs") {
				return false
			}
			if body["dry_run"] != true {
				asked.Add(1)
				return false
			}
			return changed(t, s, w, r, body, func(meta map[string]any) {
				meta["estimate"].(map[string]any)["bytes"] = map[string]any{"low": 1, "high": 2e9}
			})
		})
		b.run(chromedp.Focus(".rows"))
		b.keys("m")
		b.click("[role=menuitem]", "Same session")
		b.holds("window.notices.some((notice) => notice.includes('heavy question'))", "says that it is heavy")
		if n := asked.Load(); n > 0 || b.fragment() != at {
			t.Errorf("%d questions were asked, and the address is %s", n, b.fragment())
		}
	})
	walk("a double click keeps only the value of the cell, and Back undoes it", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.holds("document.querySelector('#quick-find')", "has all that is above the list")
		country := value[string](b, "document.querySelector('#cell-1-5 .text').textContent")
		b.doubleClick("#cell-1-5 .text")
		b.holds(fmt.Sprintf("document.querySelector('#filter').value === 'country=%q' && !document.querySelector('.record')", country),
			"keeps only the country")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.holds("document.querySelector('#filter').value === '' && !document.querySelector('.record')", "has all requests again")
		b.open("#/?t=" + demoDay)
		b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has the top values")
		country = value[string](b, "document.querySelector('.list .value button').textContent")
		b.doubleClick(".list .value button")
		b.holds(fmt.Sprintf("document.querySelector('#filter').value === 'country=%q' && !document.querySelector('.menu')", country),
			"keeps only the first country")
	})
	walk("a double click opens no menu whose script comes later", func(t *testing.T, b *tab, s *served) {
		loading, asked := make(chan struct{}), make(chan struct{})
		ask := sync.OnceFunc(func() { close(asked) })
		load := sync.OnceFunc(func() { close(loading) })
		defer load()
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.Contains(r.URL.Path, "/valuemenu-") {
				ask()
				<-loading
			}
			return false
		})
		b.open("#/?t=" + demoDay)
		b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has the top values")
		b.answered() // then nothing moves the value any more
		b.run(chromedp.Evaluate(`{
			window.menus = 0;
			new MutationObserver((changes) => changes.forEach(({addedNodes}) =>
				addedNodes.forEach((node) => { if (node.className === 'menu') window.menus++; }))).
				observe(document.body, {childList: true, subtree: true});
		}`, nil))
		x, y := b.middle(".list .value button")
		b.run(chromedp.MouseClickXY(x, y))
		select {
		case <-asked:
		case <-b.ctx.Done():
		}
		b.run(chromedp.MouseClickXY(x, y, chromedp.ClickCount(2)))
		b.holds("document.querySelector('#filter').value.startsWith('country=')", "keeps only the first country")
		b.answered()
		load()
		b.holds("performance.getEntriesByType('resource').some(({name}) => name.includes('/valuemenu-'))", "has the script")
		b.click(".list .value button", "")
		b.holds("document.querySelector('.menu')", "has the menu of the next click")
		b.holds("window.menus === 1", "had no other menu")
	})
	walk("the signs of a value act without opening its row", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		country := value[string](b, "document.querySelector('#cell-1-5 .text').textContent")
		b.click("#cell-1-5 .acts span", "−") // this browser has no mouse that could be over it
		b.holds(fmt.Sprintf("document.querySelector('#filter').value === 'country!=%q' && !document.querySelector('.record')", country),
			"leaves out the country")
	})
	walk("a long touch opens the menu of a value, and no record", func(t *testing.T, b *tab, s *served) {
		phone := newTab(t, browser, s.url, 360, "light")
		phone.run(emulation.SetTouchEmulationEnabled(true))
		phone.open("#/events?t=" + demoDay)
		phone.sees("200 of ")
		phone.holds("document.querySelector('#quick-find')", "has all that is above the list")
		x, y := phone.middle("#cell-1-2 .text")
		phone.run(input.DispatchTouchEvent(input.TouchStart, []*input.TouchPoint{{X: x, Y: y}}))
		phone.holds("document.querySelector('.menu')?.innerText.includes('Only')", "has the menu of the value")
		phone.run(input.DispatchTouchEvent(input.TouchEnd, []*input.TouchPoint{}))
		phone.accessible("menu of a touch")
		phone.screenshot("menu-touch-360")
		phone.click("[role=menuitem]", "Only")
		phone.holds("document.querySelector('#filter').value.startsWith('status=') && !document.querySelector('.record')", "keeps only the value")
		phone.check()
	})
}

// keepNotices keeps what the page announces from now on, because it shows that only for a moment.
func (b *tab) keepNotices() {
	b.t.Helper()
	b.holds("document.querySelector('.notice')", "is drawn")
	b.evaluate(`{
		const notice = document.querySelector('.notice');
		window.notices = [];
		new MutationObserver(() => window.notices.push(notice.textContent)).observe(notice, {childList: true, characterData: true, subtree: true});
	}`)
}

// doubleClick clicks the middle of an element twice.
func (b *tab) doubleClick(selector string) {
	b.t.Helper()
	x, y := b.middle(selector)
	b.run(chromedp.MouseClickXY(x, y), chromedp.MouseClickXY(x, y, chromedp.ClickCount(2)))
}
