package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
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
	browser := chromium(t)
	requests, reports := serve(t, "3000"), serveReports(t)
	walk := func(name string, server *served, run func(t *testing.T, b *tab, s *served)) {
		walkerAt(t, browser, server.address, 360)(name, run)
	}

	walk("dashboard", requests, func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has the top values")
		b.touchable("dashboard")
		b.open("#/?t=2026-01-01T12:00Z..2026-01-01T18:00Z")
		b.holds("document.querySelector('.tile .change a')", "has the period before")
		b.touchable("before")
		b.open("#/?t=" + demoDay)
		b.click(".line summary", "")
		b.touchable("tools")
		b.click(".list .value button", "Germany")
		b.holds("document.querySelector('[role=menu]')", "has the menu")
		b.touchable("menu")
		b.keys(kb.Escape)
		b.click("#period", "")
		b.holds("document.querySelector('#zone')", "has the picker")
		b.touchable("period")
		b.keys(kb.Escape)
		b.click(".bar button", "Saved filters")
		b.sees("Type a filter to save it")
		b.touchable("filters")
		b.click(".filters-of button", "History")
		b.touchable("history")
		b.keys(kb.Escape)
		b.click("button", "Keyboard shortcuts")
		b.holds("document.querySelector('dialog[open]')", "has the list of keys")
		b.touchable("help")
		for name, change := range map[string]string{
			"values": "panel=facets", "stand-out": "panel=standout", "explain": "panel=explain", "split": "by=country",
			"status-lines": "chart=status", "table": "as=table", "compared": "vs=1d&sort=requests",
		} {
			b.open("#/?f=country+in+(Germany,+France),+method=GET&" + change + "&t=" + demoDay)
			b.holds("document.querySelectorAll('.chips li').length > 2", "has the conditions")
			b.touchable("dashboard-" + name)
		}
		b.allowed = []string{"status of 400"}
		b.open(`#/?f=hots="shop.example",+status>4OO&t=` + demoDay)
		b.sees("2 mistakes")
		b.touchable("mistakes")
	})
	walk("events", requests, func(t *testing.T, b *tab, s *served) {
		b.open("#/events?live=5&t=30m")
		b.holds("document.querySelector('.over-rows select')", "has the rate of Live")
		b.touchable("live")
		b.open("#/events?f=blocked+is+true&t=" + demoDay)
		b.holds("document.querySelector('.event') && document.querySelector('#quick-find')", "has the list")
		b.touchable("events")
		b.click("summary", "Columns")
		b.holds("document.querySelectorAll('.columns option').length > 10", "has the chooser")
		b.touchable("columns")
		b.keys(kb.Escape)
		b.click(".over-rows button", "Export")
		b.sees("The export reads")
		b.touchable("export")
		b.open("#/events?panel=facets&t=" + demoDay)
		b.holds("document.querySelector('.facet li')", "has the values")
		b.touchable("events-values")
		b.open(`#/events?f=host="nobody.example",+blocked+is+true&t=` + demoDay)
		b.click("button", "Which condition is it?")
		b.sees("keeps out all requests")
		b.touchable("blame")
	})
	walk("record", requests, func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `reason~"^Block - content filter \\[", query~"=....", session~"."`)
		b.open("#/events/" + record["record_ref"].(string) + "?t=" + demoDay)
		b.holds("document.querySelector('.evidence li')", "has the evidence")
		b.touchable("record")
		b.evaluate("document.querySelectorAll('.record details').forEach((d) => { d.open = true; })")
		b.touchable("record-open")
	})
	walk("comparison", requests, func(t *testing.T, b *tab, s *served) {
		b.open("#/compare?where=blocked+is+true&t=" + demoDay)
		b.holds("document.querySelector('.findings')", "has the findings")
		b.touchable("compare")
		b.open("#/compare?vs=previous&t=2026-01-01T12:00Z..2026-01-01T18:00Z")
		b.click("summary", "Another side")
		b.touchable("compare-more")
	})
	walk("status", requests, func(t *testing.T, b *tab, s *served) {
		b.open("#/status")
		b.sees("What it allows")
		b.touchable("status")
		b.click("button", "Show as table")
		b.touchable("status-table")
		s.answer(troubled)
		b.open("#/status")
		b.sees("4 things ask for a hand")
		b.touchable("troubled")
	})
	walk("planets", reports, func(t *testing.T, b *tab, s *served) {
		newPlanet(t, s, "touched")
		b.open("#/planets")
		b.sees("Choose a configuration")
		b.touchable("configurations")
		b.open("#/planets/touched")
		b.fill("#planet-name", "another")
		b.click("button", "Paste many")
		b.touchable("planet")
		b.click("[role=tab]", "JSON")
		b.touchable("planet-json")
		b.click("[role=tab]", "Difference")
		b.touchable("planet-difference")
	})
	walk("reports", reports, func(t *testing.T, b *tab, s *served) {
		newReport(t, s, "touched", "weekly", weeklyShop)
		b.open("#/reports/touched")
		b.sees("The shop")
		b.touchable("reports")
		for _, tab := range []string{"", "preview", "runs", "versions"} {
			b.open("#/reports/touched/weekly?tab=" + tab)
			b.holds("document.querySelector('[role=tabpanel]')", "has the tab")
			b.touchable("report-" + tab)
		}
		b.click(".report-head button", "Delete")
		b.touchable("report-deletion")
	})
	walk("states", requests, func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 401", "status of 403", "status of 500"}
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			body := bodyOf(t, r)
			return body["dry_run"] == true && changed(t, s, w, r, body, costly)
		})
		b.open("#/?t=" + demoDay)
		b.sees("This is a heavy question")
		b.touchable("held")
		for status, text := range map[int]string{
			http.StatusUnauthorized: "This server needs an API key", http.StatusForbidden: "The key does not allow this",
			http.StatusInternalServerError: "The question failed",
		} {
			s.answer(func(w http.ResponseWriter, r *http.Request) bool {
				return strings.HasPrefix(r.URL.Path, "/api/") && refuse(w, status, "no")
			})
			b.open("#/events?t=" + demoDay)
			b.sees(text)
			b.touchable(fmt.Sprint("refused-", status))
		}
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			return isQuestion(t, r, "logs") && changed(t, s, w, r, bodyOf(t, r), func(meta map[string]any) {
				meta["skipped"] = []string{"fresh/2026/01/01/10/a.parquet"}
			})
		})
		b.open("#/events?t=" + demoDay)
		b.sees("1 object could not be read")
		b.touchable("skipped")
	})
}
