package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestCompare walks through the comparison of two sides.
func TestCompare(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)
	const hours = "2026-01-01T12:00Z..2026-01-01T23:59Z"

	walk("what differs between blocked requests and the others", func(t *testing.T, b *tab, s *served) {
		b.open("#/compare?where=blocked+is+true&t=" + demoDay)
		b.sees("What differs")
		b.holds("document.querySelectorAll('.findings tbody tr').length > 5", "has findings")
		b.holds("document.querySelector('.one-side.selected').innerText.includes('blocked is true')", "prints what is compared")
		b.holds("document.querySelector('.one-side.baseline').innerText.includes('without blocked is true')", "prints the other side")
		condition := value[string](b, "document.querySelector('.findings .act button').ariaLabel.slice('Only '.length)")
		b.click(".findings .act button", "Only")
		b.holds("document.querySelector('#filter').value !== ''", "has the condition")
		if got := value[string](b, "document.querySelector('#filter').value"); got != condition {
			t.Errorf("the filter is %s, want %s", got, condition)
		}
		b.run(chromedp.Evaluate("history.back()", nil))
		b.holds("document.querySelector('#filter').value === ''", "has no condition again")
		b.click(".findings .act button", "Without")
		b.holds("document.querySelector('#filter').value.includes('!=') || document.querySelector('#filter').value.includes('not')",
			"is without the value")
	})
	walk("a period with the one before, a day before, and another one", func(t *testing.T, b *tab, s *served) {
		b.open("#/compare?t=" + hours)
		b.sees("Before")
		b.holds("document.querySelector('.one-side.baseline').innerText.includes('11:59:59.999')", "ends before the period")
		b.click(".sides button", "a day before")
		b.holds("location.hash.includes('vs=1d')", "has the side in its address")
		b.sees("2025-12-31 12:00")
		b.fill("#against", "2026-01-01T00:00Z..2026-01-01T03:00Z")
		b.run(chromedp.Evaluate("document.querySelector('#against').form?.requestSubmit()", nil))
		b.sees("2026-01-01 00:00 – 03:00")
	})
	walk("the focus stays where the reader is", func(t *testing.T, b *tab, s *served) {
		b.open("#/compare?t=" + hours)
		b.sees("Before")
		b.fill("#select", "blocked is true")
		b.keys(kb.Enter)
		b.holds("location.hash.includes('where=') && document.querySelector('.one-side.selected')?.innerText.includes('blocked is true')", "compares")
		b.holds("document.activeElement.id === 'select'", "has the focus in the field")
		b.fill("#against", "1d")
		b.run(chromedp.Focus("#against ~ button"))
		b.keys(kb.Enter)
		b.holds("location.hash.includes('vs=1d') && document.querySelector('.one-side.baseline')?.innerText.includes('2025-12-31')", "compares again")
		b.holds("document.activeElement.textContent === 'Compare'", "has the focus on the button")
		b.holds("document.querySelector('#select').value === '' && document.querySelector('#against').value === ''", "has the other fields empty")
		b.answered()
		b.open("#/compare?where=blocked+is+true&t=" + demoDay)
		b.sees("What differs")
		b.run(chromedp.Focus(".findings .act button"))
		b.keys(kb.Enter)
		b.holds("document.querySelector('#filter').value !== ''", "has the condition")
		b.answered()
		b.holds("document.activeElement !== document.body", "has the focus in the answer")
	})
	walk("conditions with mistakes are marked at their field", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 400"}
		b.open("#/compare?t=" + hours)
		b.sees("Before")
		b.fill("#select", `hots="shop.example"`)
		b.run(chromedp.Evaluate("document.querySelector('#select').form.requestSubmit()", nil))
		b.holds("document.querySelector('#select-wrong')?.textContent.includes('unknown field')", "has the mistake at the field")
	})
	walk("one field, and nothing that differs", func(t *testing.T, b *tab, s *served) {
		b.open("#/compare?where=blocked+is+true&by=country&t=" + demoDay)
		b.holds("document.querySelector('.findings .by') && [...document.querySelectorAll('.findings .by')].every((e) => e.textContent === 'country')", "has only countries")
		b.fill("#compare-by", "protocol")
		b.holds("document.querySelector('.findings .by')?.textContent === 'protocol'", "has only protocols")
		b.open("#/compare?f=blocked+is+true&where=blocked+is+true&t=" + demoDay)
		b.sees("There are no others: all requests are on this side")
		b.open("#/compare?f=blocked+is+true&by=protocol&where=host~e&t=" + hours)
		b.sees("There are no others")
		b.open("#/compare?f=country=Nowhere&where=blocked+is+true&t=" + demoDay)
		b.sees("No requests in this period match the filter")
		b.open("#/compare?f=blocked+is+false&where=blocked+is+true&t=" + demoDay)
		b.sees("There are no requests on the first side")
		b.open("#/compare?vs=previous&t=" + demoDay)
		b.sees("There were no requests before")
	})
	walk("periods that overlap are refused with the reason", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 422"}
		b.open("#/compare?vs=1h&t=" + hours)
		b.sees("The question failed")
		b.sees("overlap")
	})
	walk("a heavy comparison waits", func(t *testing.T, b *tab, s *served) {
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/data/diff") {
				return false
			}
			body := bodyOf(t, r)
			return body["dry_run"] == true && changed(t, s, w, r, body, func(meta map[string]any) {
				meta["estimate"].(map[string]any)["cost_usd"] = map[string]any{"low": 1.5, "high": 2}
			})
		})
		b.open("#/compare?t=" + hours)
		b.sees("This is a heavy question")
		b.click("button", "Run it")
		b.holds("document.querySelector('.two-sides')", "has the answer")
	})
	walk("no requests on either side", func(t *testing.T, b *tab, s *served) {
		b.open("#/compare?t=2026-02-01T10:00Z..2026-02-01T11:00Z")
		b.sees("The newest record is of 2026-01-01 23:59")
	})
}
