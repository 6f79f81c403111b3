package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

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
	open := func(b *tab) {
		b.t.Helper()
		b.open("#/events?t=" + demoDay)
		b.sees("200 shown")
		b.run(chromedp.Click(".chooser:not(.tools) summary"))
		b.holds("document.querySelectorAll('.columns ol li').length === 8", "has the chooser")
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
		before := asked.Load()
		b.click(".columns button", "Move Status to the left")
		b.holds(headings+" === 'Time,Result,Status,Method,Address,Country,Host and path,Reason'", "has moved the status")
		b.holds("document.activeElement.ariaLabel === 'Move Status to the left'", "keeps the focus on the button")
		b.keys(kb.Shift + kb.Tab)
		b.run(chromedp.Evaluate("[...document.querySelectorAll('.columns input')][2].focus()", nil))
		b.run(chromedp.KeyEvent(kb.ArrowDown, chromedp.KeyModifiers(1))) // Alt
		b.holds(headings+" === "+fmt.Sprintf("%q", usualHeadings), "has moved it back")
		b.holds("document.activeElement.closest('li').dataset.column === 'status'", "keeps the focus on the column")
		b.holds("document.querySelector('.notice').textContent === 'Status is column 4 of 8'", "announces the place")
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
		var box []float64
		b.run(chromedp.Evaluate("[0, 4].flatMap((i) => (({x, y, width, height}) => [x + width / 2, y + height / 2])"+
			"(document.querySelectorAll('.columns .grip')[i].getBoundingClientRect()))", &box))
		b.drag(box[0], box[1], box[2], box[3]+6)
		b.holds(headings+" === 'Result,Method,Status,Address,Time,Country,Host and path,Reason'", "has moved the time")
	})
	walk("any field is a column, and the export has it", func(t *testing.T, b *tab, s *served) {
		open(b)
		b.fill(".columns select", "protocol")
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
		b.open("#/events?t=" + demoDay)
		b.sees("200 shown")
		if got := value[string](b, headings); got != strings.TrimSuffix(usualHeadings, ",Reason") {
			t.Errorf("the columns are %s", got)
		}
		b.run(chromedp.Evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text; }`, nil))
		b.keys("y")
		b.holds("window.copied?.includes('cols=timestamp,result,method,status,ip,country,target')", "has the columns in the link")
		b.run(chromedp.Click(".chooser:not(.tools) summary"))
		b.click(".columns button", "Usual columns")
		b.holds(headings+" === "+fmt.Sprintf("%q", usualHeadings), "has the usual columns")
		b.run(chromedp.Reload())
		b.sees("200 shown")
		b.holds(headings+" === "+fmt.Sprintf("%q", usualHeadings)+" && localStorage.length === 0", "has forgotten the others")
	})
	walk("the chooser is within the window of a phone", func(t *testing.T, b *tab, s *served) {
		phone := newTab(t, browser, s.url, 360, "light")
		open(phone)
		phone.holds("((box) => box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight)"+
			"(document.querySelector('.columns').getBoundingClientRect())", "has all of the chooser in view")
		phone.screenshot("columns-360")
		phone.accessible("chooser")
		phone.check()
	})
	walk("the menu of a row leads to the requests around it and to those like it", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?f=blocked+is+true&t=" + demoDay)
		b.sees("200 shown")
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
}
