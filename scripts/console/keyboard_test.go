package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
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

// leads presses the two keys of a sequence, again if the second one came too late for it, until the address begins as wanted.
func (b *tab) leads(keys, address string) {
	b.t.Helper()
	b.until(func() bool {
		b.keys(keys)
		return strings.HasPrefix(value[string](b, "location.hash"), address)
	}, "goes to "+address)
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
			b.tabTo("at.textContent === 'What stands out'", 25)
			b.keys(kb.Enter)
			b.holds("document.querySelector('.stand-out li')", "says what stands out")
			b.answered()
			b.tabTo("at.closest('.stand-out li') && at.ariaLabel.startsWith('Only ')", 5)
			wanted := value[string](b, "document.activeElement.ariaLabel.slice('Only '.length)")
			b.keys(kb.Enter)
			b.holds(fmt.Sprintf("document.querySelector('#filter').value === %q", wanted), "keeps only what stands out")

			// Which requests?
			b.addCondition("blocked is true")
			b.holds("location.hash.includes('blocked+is+true')", "keeps only blocked requests")
			b.leads("ge", "#/events")
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

// TestKeys walks through the keys, menus and buttons that other walks do not use.
func TestKeys(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)
	const hour = "#/?t=2026-01-01T10:00Z..2026-01-01T11:00Z"
	period := func(b *tab, want string) {
		b.t.Helper()
		b.holds(fmt.Sprintf("location.hash.includes(%q)", "t="+want), "has the period "+want)
	}

	walk("the buttons of the picker, and the keys that do the same", func(t *testing.T, b *tab, s *served) {
		b.open(hour)
		b.sees("Requests over time")
		b.keys("]")
		period(b, "2026-01-01T11:00Z..2026-01-01T12:00Z")
		b.click(".picker button", "Later")
		period(b, "2026-01-01T12:00Z..2026-01-01T13:00Z")
		b.click(".picker button", "Earlier")
		period(b, "2026-01-01T11:00Z..2026-01-01T12:00Z")
		b.click(".picker button", "Twice as long")
		period(b, "2026-01-01T10:30Z..2026-01-01T12:30Z")
		b.click("#period", "")
		b.click(".presets button", "3h")
		period(b, "3h")
		b.holds("!document.querySelector('.picker .panel')", "has closed the picker")
		b.click("#period", "")
		b.holds("document.activeElement.closest('.presets')", "has the focus in the picker")
		b.fill("#end-From", "2026-01-01 09:00")
		b.fill("#end-To", "soon")
		b.holds("document.querySelector('#end-To').ariaInvalid === 'true' && document.querySelector('.picker .primary').disabled",
			"refuses what is no time")
		b.accessible("picker")
		b.fill("#end-To", "2026-01-01 09:30")
		b.click(".picker .primary", "Apply")
		period(b, "2026-01-01T09:00Z..2026-01-01T09:30Z")
	})
	walk("the keys of the filter bar", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 400"}
		b.open(hour)
		b.sees("Requests over time")
		b.fill("#filter", `path~"😀", hots="shop.example"`)
		b.holds("document.querySelector('.coloured .wrong')?.textContent === 'hots'", "underlines the mistake behind an emoji")
		b.chord("Enter", "Enter", input.ModifierAlt)
		b.holds(`document.querySelector('#filter').value === 'path~"😀", host="shop.example"'`, "takes the corrected filter")
		b.chord("r", "KeyR", input.ModifierCtrl)
		b.holds("document.querySelector('.filters-of [aria-pressed=true]')?.textContent === 'History'",
			"has opened the history")
		b.keys(kb.Escape)
		b.holds("!document.querySelector('.filters-of') && document.activeElement.id === 'filter'", "is back in the bar")
	})
	walk("screens by two keys, and rows by pages", func(t *testing.T, b *tab, s *served) {
		b.open(hour)
		b.sees("Requests over time")
		for keys, address := range map[string]string{"gc": "#/compare", "gp": "#/planets", "gs": "#/status", "gr": "#/reports"} {
			b.leads(keys, address)
			b.holds("document.activeElement.id === 'answer'", "has the focus in the answer")
		}
		b.leads("ge", "#/events")
		b.sees("shown")
		b.box("document.querySelector('.rows')") // which decides how long a page is
		b.run(chromedp.Focus(".rows"))
		row := func(key string) int {
			b.keys(key)
			return value[int](b, "Number(document.querySelector('.rows').getAttribute('aria-activedescendant').split('-')[1])")
		}
		first := row(kb.Home)
		down := row(kb.PageDown)
		further := row(kb.PageDown)
		if up := row(kb.PageUp); first != 0 || down < 2 || further != 2*down || up != down {
			t.Errorf("the active rows are %d, %d, %d and %d", first, down, further, up)
		}
	})
	walk("shortcuts of single letters are switched off", func(t *testing.T, b *tab, s *served) {
		b.open(hour)
		b.sees("Requests over time")
		b.keys("?")
		b.click("dialog label", "Shortcuts of single letters")
		b.keys(kb.Escape)
		b.holds("!document.querySelector('dialog')", "has closed the list")
		before := b.fragment()
		b.keys("]xgc")
		if at := b.fragment(); at != before {
			t.Errorf("the keys lead to %s", at)
		}
		b.run(chromedp.Reload())
		b.sees("Requests over time")
		b.keys("]")
		if at := b.fragment(); at != before {
			t.Errorf("after a reload, the keys lead to %s", at)
		}
		b.click(".top button", "?")
		b.click("dialog label", "Shortcuts of single letters")
		b.keys(kb.Escape)
		b.holds("!document.querySelector('dialog')", "has closed the list")
		b.keys("]")
		period(b, "2026-01-01T11:00Z..2026-01-01T12:00Z")
	})
	walk("the right button opens the menu of a value", func(t *testing.T, b *tab, s *served) {
		const press = `document.querySelector(%q).dispatchEvent(new MouseEvent('contextmenu', {bubbles: true, cancelable: true}))`
		for address, selector := range map[string]string{hour: ".list .value button", "#/events?t=" + demoDay: ".event .cell.country"} {
			b.open(address)
			b.holds(fmt.Sprintf("document.querySelector(%q)", selector), "has "+selector)
			b.answered()
			if value[bool](b, fmt.Sprintf(press, selector)) {
				t.Errorf("%s: the browser opens its own menu, too", selector)
			}
			b.holds("document.activeElement.role === 'menuitem'", "has the focus in the menu")
			b.click("[role=menuitem]", "Without")
			b.holds("document.querySelector('#filter').value.startsWith('country!=')", "is without the value")
		}
	})
}

// TestFocus checks where the focus is.
func TestFocus(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)

	const covered = `(() => {
		const at = document.activeElement;
		const bar = document.querySelector('.ask');
		if (at === document.body || bar.contains(at) || !document.querySelector('main').contains(at)) return '';
		return at.getBoundingClientRect().bottom <= bar.getBoundingClientRect().bottom ? at.outerHTML.slice(0, 200) : '';
	})()`
	walk("backwards, the bar at the top never covers it", func(t *testing.T, b *tab, s *served) {
		b.open("#/?f=status%3E%3D200,+host~e,+country~.&t=" + demoDay)
		b.sees("Slowest targets")
		b.answered()
		b.run(chromedp.Focus(".questions button:last-child"))
		for range 150 {
			b.run(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(input.ModifierShift)))
			if at := value[string](b, covered); at != "" {
				t.Fatalf("the bar covers %s", at)
			}
		}
		b.holds("scrollY < 1000", "has followed the focus upwards")
	})
	walk("j takes the list of events wherever the focus is", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.answered()
		b.keys("j")
		b.holds("document.activeElement.role === 'grid' && document.activeElement.getAttribute('aria-activedescendant') === 'cell-0-0'",
			"has the focus on the first row")
		b.keys("j")
		b.holds("document.activeElement.getAttribute('aria-activedescendant') === 'cell-1-0'", "has the focus on the second row")
	})
	walk("it is in the answer of the screen that a link led to", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.answered()
		b.run(chromedp.Focus(".list td a.count"))
		b.keys(kb.Enter)
		b.holds("location.hash.startsWith('#/events') && document.activeElement.id === 'answer'", "has the focus in the answer")
	})
}
