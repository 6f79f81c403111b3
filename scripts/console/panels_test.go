package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// facetOf is the part of the page with the values of a field.
func facetOf(field string) string {
	return fmt.Sprintf("[...document.querySelectorAll('.facet')].find((e) => e.querySelector('h4').textContent.startsWith(%q))", field)
}

// TestPanels walks through what opens beside an answer.
func TestPanels(t *testing.T) {
	walk := walksAt(t, demo.address(t))

	walk("what a question means and would cost, by a key",
		open(`#/?f=blocked+is+true,+country+in+(Germany,France)&t=`+demoDay), sees("Requests over time"), keys("x"),
		sees("What it would read and cost"), hashHas("panel=explain"), sees(`country in ("Germany", "France")`),
		sees(`{"field":"blocked","op":"is","value":true}`), count(".explain tbody tr", 10), moreThan(3, ".columns-of li"),
		sees("orrery explain logs"), keys(kb.Escape), lacks(".explain"), click("button.link", "explain"),
		sees("What it would read and cost"))
	walk.run("what the questions really read is beside the estimates, and a shorter period is offered with its price", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/events?panel=explain&t="+demoDay), sees("200 of "))
		const rows = "[...document.querySelectorAll('.explain tbody tr')]"
		b.do(holds(rows+".length === 3 && "+rows+".every((row) => /actually [0-9.]+ [kM]?B/.test(row.innerText))", "has what was read, also of all"),
			click(".explain button", "shorter period"),
			holds("/^6h: [0-9].*B$/.test($$('.explain .row button.small').at(-1)?.textContent)", "offers six hours"),
			click(".explain button", "1h: "), hashHas("t=2026-01-01T23:00Z..2026-01-02T00:00Z"))
	})
	walk.run("the questions about a record are told apart without the values of sensitive fields", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `blocked is true, session~"."`)
		b.do(open("#/events/"+record["record_ref"].(string)+"?panel=explain&t="+demoDay),
			holds("$('.explain tbody')?.innerText.includes('session=••••••')", "has the question about the session"))
		if text := value[string](b, "document.querySelector('.explain').innerText"); strings.Contains(text, record["session"].(string)) {
			t.Errorf("the session is shown:\n%s", text)
		}
	})
	walk("what a comparison would cost",
		open("#/compare?where=blocked+is+true&panel=explain&t="+demoDay), count(".explain tbody th", 8),
		textBegins(".explain tbody th", "Comparison"))
	walk("a filter with mistakes is corrected",
		allow("status of 400"), open(`#/?f=hots="shop.example"&panel=explain&t=`+demoDay), sees("It has no meaning yet"),
		click(".explain button", "Use the corrected filter"), filterIs(`host="shop.example"`), sees("What it would read and cost"))
	walk("the values of fields, only and without",
		open("#/events?t="+demoDay), sees("200 of "), keys("f"), count(".facet", 9), click(".facet .value button", "Germany"),
		click("[role=menuitem]", "Only"), filterIs(`country="Germany"`),
		holds(facetOf("country")+".querySelector('small').textContent === '1 value'", "counts the requests of the filter"),
		evaluate(facetOf("country")+".querySelector('.value button').focus()"), keys("-"), filterIs(`country!="Germany"`), back(),
		filterIs(`country="Germany"`))
	walk("a field of the reader's own, with a key, and requests without it",
		open("#/events?panel=facets&t="+demoDay), count(".facet", 9), fill("#facet-field", `headers["referer"]`),
		evaluate("$('#facet-field').form.requestSubmit()"),
		holds(facetOf(`headers["referer"]`)+"?.closest('.facet-group').querySelector('h3').textContent === 'Request'", "has the new field"),
		count(".facet", 10),
		evaluate("[..."+facetOf(`headers["referer"]`)+".querySelectorAll('.link')].find((e) => e.textContent.includes('without a value')).click()"),
		filterIs(`not headers["referer"]~""`), sees("No request has this field"), click(".facet button", "Remove result"),
		count(".facet", 9), click("button", "Show more values"),
		holds("$$('.facet').some((e) => e.querySelectorAll('li').length === 20)", "has twenty values"),
		click("button", "Usual fields"), hashLacks("facets="))
	walk.run("the values of fields beside the dashboard, in the groups of the catalogue", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/?by=method&t="+demoDay), sees("Requests over time by method"), keys("f"), count(".facet", 9),
			holds("$$('.facet-group > h3').map((e) => e.textContent).join() === "+
				"'Client,Request,Decision,Rules,Origin,Geography'", "has them in groups"),
			click(".other-fields button", "Add upstream_status"),
			holds(facetOf("upstream_status")+"?.closest('.facet-group').ariaLabel === 'Origin'", "has the field in its group"),
			hashHas("by=method"), answered(), click(".facet .value button", "Germany"), click("[role=menuitem]", "Only"),
			filterIs(`country="Germany"`),
			holds(facetOf("country")+".querySelector('small').textContent === '1 value'", "counts the requests of the filter"),
			answered(), holds(facetOf("reason"), "has the reasons"))
		if reason := value[string](b, facetOf("reason")+".querySelector('.value button').textContent"); strings.HasPrefix(reason, "Block - ") {
			t.Errorf("the reason %q is not shortened", reason)
		}
		b.do(evaluate("[..."+facetOf("reason")+".querySelectorAll('.link')].find((e) => e.textContent === 'only with a value').click()"),
			filterIs(`country="Germany", reason~""`), sees("Requests over time by method"), answered(), click("nav a", "Events"),
			holds(facetOf("upstream_status"), "has the values beside the events"), answered(),
			open("#/?panel=facets&facets=tags&t="+demoDay),
			holds("$$('.facet h5').length === 4 && $$('.facet li').length === 20", "has five tags of each group"), answered())
	})
	walk("the networks of addresses, as values and in the chart",
		open("#/?panel=facets&facets=country&t="+demoDay), click(".other-fields button", "Add network /24"),
		holds(facetOf("network /24")+"?.closest('.facet-group').ariaLabel === 'Client'", "has the networks"),
		note("network", facetOf("network /24")+".querySelector('.value button').textContent"),
		note("requests", facetOf("network /24")+".querySelector('.n').textContent"),
		evaluate(facetOf("network /24")+".querySelector('.value button').click()"), click("[role=menuitem]", "Only"),
		holds("$('#filter').value === `ip=\"${seen.network}\"`", "has the condition of the network"),
		holds(facetOf("network /24")+"?.querySelector('small').textContent === '1 value'", "has the requests of the network"),
		holds(facetOf("network /24")+".querySelector('.n').textContent === seen.requests", "has as many"), answered(),
		open("#/?by=ip/24&t="+demoDay), sees("Requests over time by network /24"), click(".series button", "."),
		click("[role=menuitem]", "Only"), filterBegins(`ip="`), sees("Requests over time by network /24"), answered())
	walk("a field that cannot be grouped has its reason",
		allow("status of 422"), open("#/events?panel=facets&by=timestamp&t="+demoDay), sees("200 of "),
		textHas(".facets .trouble", "timestamp"), click(".facets button", "Usual fields"), count(".facet", 9))
	walk("the panels are accessible, at all widths",
		inThemes(func(shot func(name string) step) []step {
			return []step{
				open("#/?panel=explain&t=" + demoDay), exists(".columns-of li"), shot("explain"), open("#/?panel=facets&t=" + demoDay),
				exists(".facet li"), shot("facets"), open("#/events?panel=facets&t=" + demoDay), exists(".facet li"), shot("events-facets"),
			}
		}))
}
