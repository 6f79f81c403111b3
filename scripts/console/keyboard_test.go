package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tabTo presses Tab until an expression about the element with the focus, at, is true, at most so many times.
func (b *tab) tabTo(expression string, most int) {
	b.t.Helper()
	for range most {
		b.keys(kb.Tab)
		if value[bool](b, "((at) => !!("+expression+"))(document.activeElement)") {
			return
		}
	}
	b.t.Fatalf("after %d times Tab, the focus is not where %s, but on %s", most, expression,
		value[string](b, "document.activeElement.outerHTML.slice(0, 300)"))
}

// addCondition types a condition behind the filter of the page, runs it and leaves the bar.
func (b *tab) addCondition(condition string) {
	b.t.Helper()
	b.shortcut("/")
	b.holds("document.activeElement.id === 'filter'", "has the focus in the filter")
	b.keys(kb.End + ", " + condition)
	b.holds(fmt.Sprintf("document.querySelector('#filter').value.endsWith(%q)", condition), "has the condition")
	b.keys(kb.Escape) // the options
	b.enter()
	b.keys(kb.Tab)
	b.holds("document.activeElement.id !== 'filter'", "has left the filter")
}

// answered waits until nothing is asked any more. Until then, Esc cancels.
func (b *tab) answered() {
	b.t.Helper()
	b.holds("!document.querySelector('[data-cancel]') && !document.querySelector('[aria-busy=true]')", "has its answers")
}

var byHumans = regexp.MustCompile(`The same rule: [0-9,]+ requests?, ([0-9,]+) of them by humans, from [0-9,]+ address`)

// TestKeyboardAlone finds who attacks, which requests these are, why one was blocked and whether that was right, and copies
// a link to it: by keys only. Nothing is clicked, and no script moves the focus.
func TestKeyboardAlone(t *testing.T) {
	browser := chromium(t)
	s := serve(t, "3000")
	for _, width := range []int64{768, 1280} {
		t.Run(fmt.Sprint("from the attacker to the link, at ", width), func(t *testing.T) {
			t.Parallel()
			b := newTab(t, browser, s.url, width, "light")
			b.allowed = []string{"status of 400"} // half a condition is checked
			b.open("")
			b.sees("Requests over time")
			b.run(chromedp.Evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text; }; 0`, nil))
			b.answered()

			// Who attacks?
			b.keys(kb.Tab)
			b.holds("document.activeElement.className === 'skip'", "offers to skip to the answer")
			b.keys(kb.Enter)
			b.holds("document.activeElement.id === 'answer'", "has skipped to the answer")
			b.tabTo("at.textContent === 'What stands out'", 20)
			b.keys(kb.Enter)
			b.holds("document.querySelector('.stand-out li')", "says what stands out")
			b.answered()
			b.tabTo("at.closest('.stand-out li') && at.ariaLabel.startsWith('Only ')", 3)
			wanted := value[string](b, "document.activeElement.ariaLabel.slice('Only '.length)")
			b.keys(kb.Enter)
			b.holds(fmt.Sprintf("document.querySelector('#filter').value === %q", wanted), "keeps only what stands out")

			// Which requests?
			b.addCondition("blocked is true")
			b.holds("location.hash.includes('blocked+is+true')", "keeps only blocked requests")
			b.keys("ge")
			b.sees("shown")
			b.answered()
			b.tabTo("at.role === 'grid'", 12)
			b.keys(kb.ArrowDown + kb.ArrowDown + kb.ArrowUp)

			// Why was it blocked?
			b.keys(kb.Enter)
			b.holds("/blocked it/.test(document.querySelector('.record .why')?.textContent)", "says why it was blocked")
			b.holds("document.querySelectorAll('.evidence li').length > 0", "has the evidence")
			b.answered()

			// Is it a false positive?
			b.tabTo("at.closest('.evidence li')", 30)
			evidence := value[string](b, "document.activeElement.closest('li').textContent")
			found := byHumans.FindStringSubmatch(evidence)
			if found == nil {
				t.Fatalf("the evidence is %q", evidence)
			}
			b.keys(kb.Enter)
			b.holds("document.querySelector('#filter').value.startsWith('reason=') && !document.querySelector('.record')", "has the requests of the rule")
			b.answered()
			b.addCondition("human is true")
			humans := fmt.Sprintf("all %s shown", found[1])
			if found[1] == "0" {
				humans = "No requests in this period match the filter"
			}
			b.sees(humans)

			// Share it.
			b.keys("y")
			b.holds("window.copied", "has copied the link")
			link := value[string](b, "window.copied")
			for _, part := range []string{"#/events?", "human+is+true", "..2026-01-0", "tz=UTC"} {
				if !strings.Contains(link, part) {
					t.Errorf("the link has no %s: %s", part, link)
				}
			}
			b.run(chromedp.Navigate("about:blank"), chromedp.Navigate(link))
			b.sees(humans)
			b.check()
		})
	}
}
