package main

import (
	"fmt"
	"strings"
	"sync"
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
	walk := walksAt(t, demo.address(t))
	// chooser opens the choice of columns, with this number of columns shown.
	chooser := func(columns int) step {
		return together(open("#/events?t="+demoDay), sees("200 of "), click(".chooser:not(.tools) summary", ""),
			count(".columns ol li", columns))
	}
	has := func(names string) string { return fmt.Sprintf("%s === %q", headings, names) }

	walk("a column is moved by buttons and keys, without asking again",
		chooser(8), keepNotices(), forgetCalls(), click(".columns button", "Move Status to the left"),
		holds(has("Time,Result,Status,Method,Address,Country,Host and path,Reason"), "has moved the status"),
		holds("document.activeElement.ariaLabel === 'Move Status to the left'", "keeps the focus on the button"),
		keys(kb.Shift+kb.Tab), evaluate("$$('.columns input')[2].focus()"),
		does(chromedp.KeyEvent(kb.ArrowDown, chromedp.KeyModifiers(input.ModifierAlt))), holds(has(usualHeadings), "has moved it back"),
		holds("document.activeElement.closest('li').dataset.column === 'status'", "keeps the focus on the column"),
		notices("Status is column 4 of 8"), click(".columns button", "Move Reason to the left"), hashHas("cols="), asked("logs", 0),
		keys(kb.Escape), holds("!$('.columns') && document.activeElement.tagName === 'SUMMARY'", "closes the chooser"))
	walk.run("a column is dragged", func(t *testing.T, b *tab, s *served) {
		b.do(chooser(8))
		b.box("document.querySelectorAll('.columns .grip')[4]")
		box := value[[]float64](b, "[0, 4].flatMap((i) => (({x, y, width, height}) => [x + width / 2, y + height / 2])"+
			"($$('.columns .grip')[i].getBoundingClientRect()))")
		b.drag(box[0], box[1], box[2], box[3]+6)
		b.do(holds(has("Result,Method,Status,Address,Time,Country,Host and path,Reason"), "has moved the time"))
	})
	walk("any field is a column, and the export has it",
		chooser(8), fill(".columns select", "protocol"), fieldIs(".columns select", "protocol"), is(headings, usualHeadings),
		click(".columns form button", "Add"), holds(has(usualHeadings+",protocol"), "has the field"),
		textBegins(".event .cell.protocol", "HTTP/"), exists(".columns"), click(".columns label", "Country"),
		holds("!"+headings+".includes('Country')", "has no countries"), keys(kb.Escape), click(".over-rows button", "Export"),
		shows(".export", "protocol"))
	const reasonless, kept = "Time,Result,Method,Status,Address,Country,Host and path", "localStorage.getItem('orrery.columns')"
	walk("the browser keeps the columns, and a shared link names them",
		chooser(8), click(".columns label", "Reason"), holds("!"+headings+".includes('Reason')", "has no reasons"),
		follow("#/events?t="+demoDay), reload(), sees("200 of "), is(headings, reasonless), keepCopies(), keys("y"),
		copies("cols=timestamp,result,method,status,ip,country,target"), click(".chooser:not(.tools) summary", ""),
		click(".columns button", "Usual columns"), holds(has(usualHeadings), "has the usual columns"), reload(), sees("200 of "),
		holds(has(usualHeadings)+" && localStorage.length === 0", "has forgotten the others"))
	walk("Back undoes a change of the columns, also of those that the browser keeps",
		chooser(8), click(".columns label", "Reason"), holds(has(reasonless)+" && "+kept+" !== null", "has no reasons"), back(),
		holds(has(usualHeadings)+" && "+kept+" === null", "has the reasons again"), forward(),
		holds(has(reasonless)+" && "+kept+" !== null", "has no reasons again"), follow("#/events?t="+demoDay), reload(),
		holds(has(reasonless), "has kept that"), click(".chooser:not(.tools) summary", ""), click(".columns button", "Usual columns"),
		holds(has(usualHeadings)+" && "+kept+" === null", "has the usual columns"), back(),
		holds(has(reasonless)+" && "+kept+" !== null", "has the columns before"))
	walk("the focus stays on a column that is hidden or shown",
		chooser(8), keepNotices(), focus(".columns ol [data-column=country] input"), keys(" "),
		focused(".columns ul [data-column=country] input"), notices("Country is not shown"), keys(" "),
		focused(".columns ol [data-column=country] input"))
	walk("the chooser is within the window of a phone",
		at(360), chooser(5), holds("((box) => box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight)"+
			"($('.columns').getBoundingClientRect())", "has all of the chooser in view"), screenshot("columns-360"), accessible("chooser"))
	const card = "[...$('.event').querySelectorAll('.cell')].filter((e) => e.checkVisibility()).map((e) => e.classList[1]).join()"
	walk("the cards of a phone have the columns that are chosen",
		at(360), chooser(5), holds(card+" === 'timestamp,result,status,method,target'", "has the usual columns of a card"),
		click(".columns label", "Status"), click(".columns label", "Country"),
		holds(card+" === 'timestamp,result,method,target,country'", "has the columns"),
		fill(".columns select", "protocol"), click(".columns form button", "Add"),
		holds("/protocol.*HTTP/s.test($('.event').innerText)", "names a field that is no usual column"), keys(kb.Escape),
		holds("$$('.event')[0].getBoundingClientRect().bottom <= $$('.event')[1].getBoundingClientRect().top + 1",
			"has cards that do not overlap"), accessible("cards"), screenshot("cards-360"), fits("cards"))
	walk("the menu of a row leads to the requests around it and to those like it",
		open("#/events?f=blocked+is+true&t="+demoDay), sees("200 of "),
		note("address", "$('.event .cell.ip').textContent.replace(/[+−]/g, '').trim()"), focus(".rows"), keys("m"),
		holds("document.activeElement.textContent.includes('5 minutes around')", "opens the menu on a time, which has no value"),
		accessible("menu of a row"), click("[role=menuitem]", "Same address"), holds("$('#filter').value === `ip=\"${seen.address}\"`", "has the requests of the address"), back(),
		filterIs("blocked is true"), focus(".rows"), keys(kb.ArrowRight+"m"),
		holds("$('.menu').innerText.includes('Only') && $('.menu').innerText.includes('Same path')", "has the value and the row"),
		click("[role=menuitem]", "5 minutes around"),
		holds("$('#filter').value === '' && /t=2026-01-01T/.test(location.hash)", "has the minutes around"))
	walk.run("the menu of a row asks for what the list does not have", func(t *testing.T, b *tab, s *served) {
		session := firstRecord(t, s, `blocked is true, session~".", query~"=....."`)["session"]
		first := `#/events?cols=timestamp,status&f=blocked+is+true,+session~".",+query~"%3D....."&t=` + demoDay
		b.do(open(first), sees("shown"), evaluate(`navigator.clipboard.write = async ([item]) => {
			window.copied = await (await item.getType('text/plain')).text();
		}`), focus(".rows"), keys("m"), click("[role=menuitem]", "Copy as curl"),
			holds("/^curl .*https:.*••••••/.test(window.copied)", "has copied it"), focus(".rows"), keys("m"),
			click("[role=menuitem]", "Copy as JSON"),
			holds("window.copied.startsWith('{') && JSON.parse(window.copied).session === '••••••'", "has copied the record without its secrets"),
			focus(".rows"), keys("m"), click("[role=menuitem]", "Same rule"), filterBegins("reason="), open(first), sees("shown"),
			focus(".rows"), keys("m"), click("[role=menuitem]", "Same session"),
			holds(fmt.Sprintf("$('#filter').value === 'session=%q'", session), "has the requests of the session"))
	})
	walk("a row without a session says so, and a record that is heavy to look up is left alone",
		open(`#/events?f=not+session~"."&t=`+demoDay), sees("shown"), note("at", "location.hash"), keepNotices(), focus(".rows"),
		keys("m"), click("[role=menuitem]", "Same session"), notices("Same session: the record has none"), forgetCalls(),
		answers(func(c *call) bool { return c.weighs(large, "logs") }), focus(".rows"), keys("m"),
		click("[role=menuitem]", "Same session"), notices("heavy question"), asked("logs", 0),
		must("location.hash === seen.at", "it leads elsewhere"))
	walk("a double click keeps only the value of the cell, and Back undoes it",
		open("#/events?t="+demoDay), sees("200 of "), exists("#quick-find"), note("country", "$('#cell-1-5 .text').textContent"),
		doubleClick("#cell-1-5 .text"),
		holds("$('#filter').value === `country=\"${seen.country}\"` && !$('.record')", "keeps only the country"), back(),
		holds("$('#filter').value === '' && !$('.record')", "has all requests again"), open("#/?t="+demoDay),
		moreThan(20, ".list tbody tr"), note("country", "$('.list .value button').textContent"), doubleClick(".list .value button"),
		holds("$('#filter').value === `country=\"${seen.country}\"` && !$('.menu')", "keeps only the first country"))
	walk.run("a double click opens no menu whose script comes later", func(t *testing.T, b *tab, s *served) {
		loading, asked := make(chan struct{}), make(chan struct{})
		ask := sync.OnceFunc(func() { close(asked) })
		load := sync.OnceFunc(func() { close(loading) })
		defer load()
		b.do(answers(func(c *call) bool {
			if strings.Contains(c.r.URL.Path, "/valuemenu-") {
				ask()
				<-loading
			}
			return false
		}), open("#/?t="+demoDay), moreThan(20, ".list tbody tr"), answered(), // then nothing moves the value any more
			evaluate(`{
			window.menus = 0;
			new MutationObserver((changes) => changes.forEach(({addedNodes}) =>
				addedNodes.forEach((node) => { if (node.className === 'menu') window.menus++; }))).
				observe(document.body, {childList: true, subtree: true});
		}`))
		x, y := b.middle(".list .value button")
		b.run(chromedp.MouseClickXY(x, y))
		select {
		case <-asked:
		case <-b.ctx.Done():
		}
		b.run(chromedp.MouseClickXY(x, y, chromedp.ClickCount(2)))
		b.do(filterBegins("country="), answered())
		load()
		b.do(holds("performance.getEntriesByType('resource').some(({name}) => name.includes('/valuemenu-'))", "has the script"),
			click(".list .value button", ""), exists(".menu"), holds("window.menus === 1", "had no other menu"))
	})
	walk("a menu closes when its value is scrolled away, and only then",
		open("#/?t="+demoDay), moreThan(20, ".list tbody tr"), answered(), click(".list .value button", ""), exists(".menu"),
		holds(`(async () => {
			window.dispatchEvent(new Event('scroll')); // as when the page has become shorter above the value
			await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
			return document.querySelector('.menu') !== null;
		})()`, "keeps the menu"),
		evaluate("window.scrollBy(0, scrollY > 99 ? -99 : 99)"), lacks(".menu"))
	walk("the signs of a value act without opening its row",
		open("#/events?t="+demoDay), sees("200 of "), note("country", "$('#cell-1-5 .text').textContent"),
		click("#cell-1-5 .acts span", "−"), // this browser has no mouse that could be over it
		holds("$('#filter').value === `country!=\"${seen.country}\"` && !$('.record')", "leaves out the country"))
	walk.run("a long touch opens the menu of a value, and no record", func(t *testing.T, b *tab, s *served) {
		b.do(at(360), does(emulation.SetTouchEmulationEnabled(true)), open("#/events?t="+demoDay), sees("200 of "), exists("#quick-find"))
		x, y := b.middle("#cell-1-2 .text")
		b.do(does(input.DispatchTouchEvent(input.TouchStart, []*input.TouchPoint{{X: x, Y: y}})), shows(".menu", "Only"),
			does(input.DispatchTouchEvent(input.TouchEnd, []*input.TouchPoint{})), accessible("menu of a touch"),
			screenshot("menu-touch-360"), click("[role=menuitem]", "Only"),
			holds("$('#filter').value.startsWith('status=') && !$('.record')", "keeps only the value"))
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
