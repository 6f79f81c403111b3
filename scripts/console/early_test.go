package main

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// holdEffects keeps what the page does after it was drawn from being done, until late() lets it: what a slow machine does for
// a moment. Preact waits for a frame, or at most 35 ms.
const holdEffects = `{
	const { setTimeout, clearTimeout, requestAnimationFrame } = window;
	const held = [];
	window.requestAnimationFrame = () => 0;
	window.setTimeout = (run, ms, ...rest) => (ms === 35 ? held.push(run) : setTimeout(run, ms, ...rest));
	window.late = () => {
		Object.assign(window, { setTimeout, requestAnimationFrame });
		held.forEach((run) => run());
	};
}`

// TestControlsActAtOnce walks through pages whose controls are used as soon as they can be seen.
func TestControlsActAtOnce(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)

	walk("shortcuts act when the page is drawn", func(t *testing.T, b *tab, s *served) {
		b.everyPage(holdEffects)
		b.open("#/?t=" + demoDay)
		b.holds("document.querySelector('#period')", "is drawn")
		b.shortcut("t")
		b.holds("document.querySelector('#period[aria-expanded=true]')", "opens the picker")
		b.evaluate("late()")
		b.holds("document.querySelector('#zone')", "has the picker")
		b.keys(kb.Escape)
		b.answered()
	})
	walk("a question that is seen can be cancelled", func(t *testing.T, b *tab, s *served) {
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if bodyOf(t, r)["dry_run"] != true {
				return false
			}
			<-r.Context().Done()
			return true
		})
		b.everyPage(holdEffects)
		b.open("#/?t=" + demoDay)
		b.click("[data-cancel]", "Cancel")
		b.sees("Cancelled.")
		b.evaluate("late()")
		s.answer(nil)
		b.click(".progress button", "Ask again")
		b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has the answer")
	})
	walk("an answer is used as soon as its button can be clicked again", func(t *testing.T, b *tab, s *served) {
		var pages atomic.Int32
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			if isQuestion(t, r, "logs") && bodyOf(t, r)["cursor"] != nil {
				pages.Add(1)
			}
			return false
		})
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.answered()
		b.evaluate(holdEffects)
		b.click(".more button", "Load older")
		b.holds("document.querySelector('.over-rows span').textContent.startsWith('400 of ')", "has the next page")
		b.evaluate("late()")
		if n := pages.Load(); n != 1 {
			t.Errorf("the page was asked for %d times", n)
		}
	})
}

// TestSignsOfAValue: the signs beside a value are for keys and the mouse, and not left over after a click.
func TestSignsOfAValue(t *testing.T) {
	browser := chromium(t)
	b := newTab(t, browser, serve(t, "3000").url, 1280, "light")
	const signs = "[...document.querySelectorAll('.acts')].filter((e) => e.checkVisibility())"
	b.open("#/?t=" + demoDay)
	b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has the top values")
	b.answered()
	b.run(chromedp.Click(".list .value button"))
	b.holds("document.activeElement.role === 'menuitem'", "has the menu")
	b.holds(signs+".length === 0", "shows no signs below the menu")
	b.run(chromedp.MouseClickXY(5, 400))
	b.holds("!document.querySelector('[role=menu]') && "+signs+".length === 0", "shows none after the menu")
	b.tabTo("at.matches('.list .value .plain')", 40)
	b.holds(signs+".length === 1 && "+signs+"[0].previousElementSibling === document.activeElement", "shows those of the value with the focus")
	b.open("#/events?t=" + demoDay)
	b.sees("200 of ")
	b.answered()
	b.run(chromedp.Focus(".rows"))
	b.keys(kb.ArrowDown + kb.ArrowRight)
	b.holds("document.querySelector('.cell.active .acts')?.checkVisibility() && "+signs+".length === 1", "shows those of the active cell")
	b.check()
}
