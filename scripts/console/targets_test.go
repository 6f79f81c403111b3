package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// smallTargets lists the controls in sight that a finger may miss: those of less than 44 × 44 CSS pixels. A label is part of
// what it names. Links within a sentence are as high as its text.
const smallTargets = `(() => {
	const least = 43.5; // pixels, because layouts round
	const targetOf = (e) => (e.matches('[type=checkbox], [type=radio]') ? e.closest('label') : null) ?? e;
	const isText = (node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== '';
	const isInSentence = (e) => e.matches('a') && (e.closest('p') !== null || [...e.parentNode.childNodes].some(isText));
	return [...document.querySelectorAll('a[href], button, summary, select, input, textarea, [role=option], [role=menuitem]')]
		.filter((e) => e.checkVisibility({visibilityProperty: true}) && !isInSentence(e))
		.map((e) => [e, targetOf(e).getBoundingClientRect()])
		.filter(([e, box]) => box.right > 0 && (box.width < least || box.height < least))
		.map(([e, box]) => e.outerHTML.slice(0, 150) + ' in ' + e.parentNode.className + ': ' +
			Math.round(box.width) + ' × ' + Math.round(box.height));
})()`

// touchable fails the test for each control of a narrow window that a finger may miss, and for a page that is too wide.
func (b *tab) touchable(name string) {
	b.t.Helper()
	b.answered()
	b.wholePage("touch-" + name)
	for _, target := range value[[]string](b, smallTargets) {
		b.t.Errorf("%s: %s", name, target)
	}
	if value[bool](b, "document.documentElement.scrollWidth > document.documentElement.clientWidth") {
		b.t.Errorf("%s is wider than the window", name)
	}
}

// wholePage keeps a picture of the page with what is below the window, in the folder of screenshots.
func (b *tab) wholePage(name string) {
	b.t.Helper()
	folder := os.Getenv("ORRERY_SCREENSHOTS")
	if folder == "" {
		return
	}
	var picture []byte
	b.run(chromedp.FullScreenshot(&picture, 100))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// TestTargetsOfFingers measures the controls of every screen, and of what opens in it, on a phone.
func TestTargetsOfFingers(t *testing.T) {
	requests, reports := walksAt(t, demo.address(t)), walksAt(t, scheduled.address(t))
	var changes []step
	for _, change := range []struct{ name, members string }{
		{"values", "panel=facets"}, {"stand-out", "panel=standout"}, {"explain", "panel=explain"}, {"split", "by=country"},
		{"status-lines", "chart=status"}, {"table", "as=table"}, {"compared", "vs=1d&sort=requests"},
	} {
		changes = append(changes, open("#/?f=country+in+(Germany,+France),+method=GET&"+change.members+"&t="+demoDay),
			moreThan(2, ".chips li"), touchable("dashboard-"+change.name))
	}
	requests("dashboard",
		at(360), open("#/?t="+demoDay), moreThan(20, ".list tbody tr"), touchable("dashboard"),
		open("#/?t=2026-01-01T12:00Z..2026-01-01T18:00Z"), exists(".tile .change a"), touchable("before"), open("#/?t="+demoDay),
		click(".line summary", ""), touchable("tools"), click(".list .value button", "Germany"), exists("[role=menu]"),
		touchable("menu"), keys(kb.Escape), click("#period", ""), exists("#zone"), touchable("period"), keys(kb.Escape),
		click(".bar button", "Saved filters"), sees("Type a filter to save it"), touchable("filters"),
		click(".filters-of button", "History"), touchable("history"), keys(kb.Escape), click("button", "Keyboard shortcuts"),
		exists("dialog[open]"), touchable("help"),
		together(changes...), allow("status of 400"), open(`#/?f=hots="shop.example",+status>4OO&t=`+demoDay), sees("2 mistakes"),
		touchable("mistakes"))
	requests("events",
		at(360), open("#/events?live=5&t=30m"), exists(".over-rows select"), touchable("live"), open("#/events?f=blocked+is+true&t="+demoDay),
		holds("$('.event') && $('#quick-find')", "has the list"), touchable("events"), click("summary", "Columns"),
		moreThan(10, ".columns option"), touchable("columns"), keys(kb.Escape), click(".over-rows button", "Export"),
		sees("The export reads"), touchable("export"), open("#/events?panel=facets&t="+demoDay), exists(".facet li"),
		touchable("events-values"), open(`#/events?f=host="nobody.example",+blocked+is+true&t=`+demoDay),
		click("button", "Why nothing?"), sees("keeps out all requests"), touchable("blame"))
	requests.run("record", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `reason~"^Block - content filter \\[", query~"=....", session~"."`)
		b.do(at(360), open("#/events/"+record["record_ref"].(string)+"?t="+demoDay), exists(".evidence li"), touchable("record"),
			evaluate("$$('.record details').forEach((d) => { d.open = true; })"), touchable("record-open"))
	})
	requests("comparison",
		at(360), open("#/compare?where=blocked+is+true&t="+demoDay), exists(".findings"), touchable("compare"),
		open("#/compare?vs=previous&t=2026-01-01T12:00Z..2026-01-01T18:00Z"), fill("#compare-what", "own"),
		touchable("compare-more"))
	requests("status",
		at(360), open("#/status"), sees("What it allows"), touchable("status"), click("button", "Show as table"), touchable("status-table"),
		answers(troubled), open("#/status"), sees("4 things ask for a hand"), touchable("troubled"))
	reports("planets",
		at(360), planet("touched"), open("#/planets"), sees("Choose a configuration"), touchable("configurations"),
		open("#/planets/touched"), fill("#planet-name", "another"), click("button", "Paste many"), touchable("planet"),
		click("[role=tab]", "JSON"), touchable("planet-json"), click("[role=tab]", "Difference"), touchable("planet-difference"))
	reports("reports",
		at(360), report("touched", "weekly", weeklyShop), open("#/reports/touched"), sees("The shop"), touchable("reports"),
		open("#/reports/touched/weekly?tab="), exists("[role=tabpanel]"), touchable("report-"),
		open("#/reports/touched/weekly?tab=preview"), exists("[role=tabpanel]"), touchable("report-preview"),
		open("#/reports/touched/weekly?tab=runs"), exists("[role=tabpanel]"), touchable("report-runs"),
		open("#/reports/touched/weekly?tab=versions"), exists("[role=tabpanel]"), touchable("report-versions"),
		click(".report-head button", "Delete"), touchable("report-deletion"))
	refused := func(status int, text string) step {
		return together(answers(func(c *call) bool { return c.api() && c.refuse(status, "no") }), open("#/events?t="+demoDay), sees(text),
			touchable(fmt.Sprint("refused-", status)))
	}
	requests("states",
		at(360), allow("status of 401", "status of 403", "status of 500"), answers(heavy()), open("#/?t="+demoDay),
		sees("This is a heavy question"), touchable("held"), refused(http.StatusUnauthorized, "This server needs an API key"),
		refused(http.StatusForbidden, "The key does not allow this"), refused(http.StatusInternalServerError, "The question failed"),
		answers(func(c *call) bool { return c.question("logs") && c.changed(skipped) }), open("#/events?t="+demoDay),
		sees("1 object could not be read"), touchable("skipped"))
}
