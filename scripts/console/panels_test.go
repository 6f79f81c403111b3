package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// facetOf is the part of the page with the values of a field.
func facetOf(field string) string {
	return fmt.Sprintf("[...document.querySelectorAll('.facet')].find((e) => e.querySelector('h4').textContent.startsWith(%q))", field)
}

// TestPanels walks through what opens beside an answer.
func TestPanels(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)

	walk("what a question means and would cost, by a key", func(t *testing.T, b *tab, s *served) {
		b.open(`#/?f=blocked+is+true,+country+in+(Germany,France)&t=` + demoDay)
		b.sees("Requests over time")
		b.keys("x")
		b.sees("What it would read and cost")
		b.holds("location.hash.includes('panel=explain')", "has the panel in its address")
		b.sees(`country in ("Germany", "France")`)
		b.sees(`{"field":"blocked","op":"is","value":true}`)
		b.holds("document.querySelectorAll('.explain tbody tr').length === 8", "has an estimate of each question, and of all")
		b.holds("document.querySelectorAll('.columns-of li').length > 3", "has the columns")
		b.sees("orrery explain logs")
		b.keys(kb.Escape)
		b.holds("!document.querySelector('.explain')", "closes the panel")
		b.click("button.link", "explain")
		b.sees("What it would read and cost")
	})
	walk("what the questions really read is beside the estimates, and a shorter period is offered with its price", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?panel=explain&t=" + demoDay)
		b.sees("200 of ")
		const rows = "[...document.querySelectorAll('.explain tbody tr')]"
		b.holds(rows+".length === 3 && "+rows+".every((row) => /actually [0-9.]+ [kM]?B/.test(row.innerText))", "has what was read, also of all")
		b.click(".explain button", "shorter period")
		b.holds("/^6h: [0-9].*B$/.test([...document.querySelectorAll('.explain .row button.small')].at(-1)?.textContent)", "offers six hours")
		b.click(".explain button", "1h: ")
		b.holds("location.hash.includes('t=2026-01-01T23:00Z..2026-01-02T00:00Z')", "has the last hour")
	})
	walk("the questions about a record are told apart without the values of sensitive fields", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `blocked is true, session~"."`)
		b.open("#/events/" + record["record_ref"].(string) + "?panel=explain&t=" + demoDay)
		b.holds("document.querySelector('.explain tbody')?.innerText.includes('session=••••••')", "has the question about the session")
		if text := value[string](b, "document.querySelector('.explain').innerText"); strings.Contains(text, record["session"].(string)) {
			t.Errorf("the session is shown:\n%s", text)
		}
	})
	walk("what a comparison would cost", func(t *testing.T, b *tab, s *served) {
		b.open("#/compare?where=blocked+is+true&panel=explain&t=" + demoDay)
		b.holds("document.querySelectorAll('.explain tbody th').length === 8", "has only the questions of the screen, and their sum")
		b.holds("document.querySelector('.explain tbody th').textContent.startsWith('Comparison')", "has the comparison")
	})
	walk("a filter with mistakes is corrected", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 400"}
		b.open(`#/?f=hots="shop.example"&panel=explain&t=` + demoDay)
		b.sees("It has no meaning yet")
		b.click(".explain button", "Use the corrected filter")
		b.holds(`document.querySelector('#filter').value === 'host="shop.example"'`, "has the corrected filter")
		b.sees("What it would read and cost")
	})
	walk("the values of fields, only and without", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.keys("f")
		b.holds("document.querySelectorAll('.facet').length === 9", "has the usual fields")
		b.click(".facet .value button", "Germany")
		b.click("[role=menuitem]", "Only")
		b.holds(`document.querySelector('#filter').value === 'country="Germany"'`, "keeps only Germany")
		b.holds(facetOf("country")+".querySelector('small').textContent === '1 value'", "counts the requests of the filter")
		b.evaluate(facetOf("country") + ".querySelector('.value button').focus()")
		b.keys("-")
		b.holds(`document.querySelector('#filter').value === 'country!="Germany"'`, "is without Germany")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.holds(`document.querySelector('#filter').value === 'country="Germany"'`, "is back")
	})
	walk("a field of the reader's own, with a key, and requests without it", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?panel=facets&t=" + demoDay)
		b.holds("document.querySelectorAll('.facet').length === 9", "has the usual fields")
		b.fill("#facet-field", `headers["referer"]`)
		b.run(chromedp.Evaluate("document.querySelector('#facet-field').form.requestSubmit()", nil))
		b.holds(facetOf(`headers["referer"]`)+"?.closest('.facet-group').querySelector('h3').textContent === 'Request'", "has the new field")
		b.holds("document.querySelectorAll('.facet').length === 10", "has ten fields")
		b.evaluate("[..." + facetOf(`headers["referer"]`) + ".querySelectorAll('.link')].find((e) => e.textContent.includes('without a value')).click()")
		b.holds(`document.querySelector('#filter').value === 'not headers["referer"]~""'`, "keeps the requests without it")
		b.sees("No request has this field")
		b.click(".facet button", "Remove result")
		b.holds("document.querySelectorAll('.facet').length === 9", "has one less")
		b.click("button", "Show more values")
		b.holds("[...document.querySelectorAll('.facet')].some((e) => e.querySelectorAll('li').length === 20)", "has twenty values")
		b.click("button", "Usual fields")
		b.holds("!location.hash.includes('facets=')", "has the usual fields again")
	})
	walk("the values of fields beside the dashboard, in the groups of the catalogue", func(t *testing.T, b *tab, s *served) {
		b.open("#/?by=method&t=" + demoDay)
		b.sees("Requests over time by method")
		b.keys("f")
		b.holds("document.querySelectorAll('.facet').length === 9", "has the usual fields")
		b.holds("[...document.querySelectorAll('.facet-group > h3')].map((e) => e.textContent).join() === "+
			"'Client,Request,Decision,Rules,Origin,Geography'", "has them in groups")
		b.click(".other-fields button", "Add upstream_status")
		b.holds(facetOf("upstream_status")+"?.closest('.facet-group').ariaLabel === 'Origin'", "has the field in its group")
		b.holds("location.hash.includes('by=method')", "splits the chart as before")
		b.answered()
		b.click(".facet .value button", "Germany")
		b.click("[role=menuitem]", "Only")
		b.holds(`document.querySelector('#filter').value === 'country="Germany"'`, "keeps only Germany")
		b.holds(facetOf("country")+".querySelector('small').textContent === '1 value'", "counts the requests of the filter")
		b.answered()
		b.holds(facetOf("reason"), "has the reasons")
		if reason := value[string](b, facetOf("reason")+".querySelector('.value button').textContent"); strings.HasPrefix(reason, "Block - ") {
			t.Errorf("the reason %q is not shortened", reason)
		}
		b.evaluate("[..." + facetOf("reason") + ".querySelectorAll('.link')].find((e) => e.textContent === 'only with a value').click()")
		b.holds(`document.querySelector('#filter').value === 'country="Germany", reason~""'`, "has a further condition")
		b.sees("Requests over time by method")
		b.answered()
		b.click("nav a", "Events")
		b.holds(facetOf("upstream_status"), "has the values beside the events")
		b.answered()
		b.open("#/?panel=facets&facets=tags&t=" + demoDay)
		b.holds("document.querySelectorAll('.facet h5').length === 4 && document.querySelectorAll('.facet li').length === 20", "has five tags of each group")
		b.answered()
	})
	walk("a field that cannot be grouped has its reason", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 422"}
		b.open("#/events?panel=facets&by=timestamp&t=" + demoDay)
		b.sees("200 of ")
		b.holds("document.querySelector('.facets .trouble')?.textContent.includes('timestamp')", "names the field")
		b.click(".facets button", "Usual fields")
		b.holds("document.querySelectorAll('.facet').length === 9", "has the usual fields")
	})
	walk("the panels are accessible, at all widths", func(t *testing.T, b *tab, s *served) {
		for _, scheme := range []string{"light", "dark"} {
			for width, name := range map[int64]string{360: "360", 768: "768", 1280: "1280", 1920: "1920"} {
				b := newTab(t, browser, s.url, width, scheme)
				for _, at := range []struct{ screen, panel string }{{"", "explain"}, {"", "facets"}, {"events", "facets"}} {
					panel := at.panel
					b.open("#/" + at.screen + "?panel=" + panel + "&t=" + demoDay)
					b.holds("document.querySelector('.columns-of li, .facet li')", "has the panel")
					b.screenshot(strings.Join([]string{at.screen, panel, scheme, name}, "-"))
					b.accessible(panel)
					if value[bool](b, "document.documentElement.scrollWidth > innerWidth") {
						t.Errorf("%s is wider than the window of %s", panel, name)
					}
				}
				b.check()
			}
		}
	})
}
