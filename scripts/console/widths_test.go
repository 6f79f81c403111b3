package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestNarrowWindows walks through what is different in windows that are not wide.
func TestNarrowWindows(t *testing.T) {
	browser := chromium(t)
	s := serve(t, "3000")
	walk := func(name string, width int64, run func(t *testing.T, b *tab)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t, browser, s.url, width, "light")
			run(t, b)
			b.check()
		})
	}

	walk("a phone has a menu of what was asked", 360, func(t *testing.T, b *tab) {
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has the top values")
		visible := func(text string) string {
			return fmt.Sprintf("[...document.querySelectorAll('.line button')].some((e) => e.textContent === %q && e.checkVisibility())", text)
		}
		b.run(chromedp.Evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text; }`, nil))
		b.holds("document.querySelector('.line summary')?.getBoundingClientRect().height >= 44", "has a target for fingers")
		b.click(".line summary", "")
		b.holds(visible("copy as curl"), "offers the copy")
		b.accessible("tools")
		b.screenshot("tools-360")
		if value[bool](b, "document.documentElement.scrollWidth > document.documentElement.clientWidth") {
			t.Error("the menu is wider than the window")
		}
		b.click(".line button", "copy as curl")
		b.holds("window.copied?.includes('/data/timeline')", "has copied the questions")
		b.holds("!"+visible("copy as curl"), "closes the menu")
		b.click(".line summary", "")
		b.click(".line button", "explain")
		b.sees("What it would read and cost")
	})
	for _, width := range []int64{360, 768} {
		walk(fmt.Sprint("the focus goes into a record that covers the list, and back, at ", width), width, func(t *testing.T, b *tab) {
			b.open("#/events?t=" + demoDay)
			b.sees("200 of ")
			b.run(chromedp.Focus(".rows"))
			b.keys(kb.ArrowDown)
			b.enter()
			b.holds("document.querySelector('.record .why')", "shows the record")
			b.holds("document.activeElement?.closest('.events > :last-child')?.querySelector('.record')", "has the focus in the record")
			b.answered() // until then, Esc cancels
			b.keys(kb.Tab)
			b.holds("document.activeElement.textContent.includes('Back to the events')", "goes to the first button")
			b.keys(kb.Escape)
			b.holds("!document.querySelector('.record') && document.activeElement === document.querySelector('.rows')", "has the focus in the list")
			b.keys(kb.ArrowUp)
			b.enter()
			b.holds("document.querySelector('.record .why')", "shows another record")
			b.click(".record button", "Back to the events")
			b.holds("document.activeElement === document.querySelector('.rows')", "has the focus in the list again")
		})
	}
	walk("the header of a tablet is one line, also with a key", 768, func(t *testing.T, b *tab) {
		b.open("#/?t=" + demoDay)
		b.run(chromedp.Evaluate("sessionStorage.setItem('orrery.key', 'any')", nil), chromedp.Reload())
		b.sees("Forget the key")
		b.holds("document.querySelector('.top').offsetHeight < 56", "has one line")
	})
}
