package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// TestCompare walks through the comparison of two sides.
func TestCompare(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	const hours = "2026-01-01T12:00Z..2026-01-01T23:59Z"

	walk("what differs between blocked requests and the others",
		open("#/compare?where=blocked+is+true&t="+demoDay), sees("What differs"), moreThan(5, ".findings tbody tr"),
		holds("$('.one-side.selected').innerText.includes('blocked is true')", "prints what is compared"),
		holds("$('.one-side.baseline').innerText.includes('without blocked is true')", "prints the other side"),
		note("condition", "$('.findings .act button').ariaLabel.slice('Only '.length)"), click(".findings .act button", "Only"),
		holds("$('#filter').value !== ''", "has the condition"), must("$('#filter').value === seen.condition", "it is another one"),
		back(), filterIs(""), click(".findings .act button", "Without"),
		holds("$('#filter').value.includes('!=') || $('#filter').value.includes('not')", "is without the value"))
	walk("a period with the one before, a day before, and another one",
		open("#/compare?t="+hours), sees("Before"),
		holds("$('.one-side.baseline').innerText.includes('11:59:59.999')", "ends before the period"),
		fill("#compare-with", "1d"), hashHas("vs=1d"), sees("2025-12-31 12:00"), lacks("#against"),
		fill("#compare-with", "against"), focused("#against"),
		fill("#against", "2026-01-01T00:00Z..2026-01-01T03:00Z"), evaluate("$('#against').form?.requestSubmit()"),
		text("#compare-with option:checked", "2026-01-01 00:00 – 03:00"), sees("2026-01-01 00:00 – 03:00"))
	walksAt(t, serveLog(t, twoDays(time.Now().UTC())))("today against yesterday: two clicks from the dashboard",
		open("#/"), exists("#compared"), answered(),
		click("nav a", "Compare"), exists("#compare-what"), // the first click
		click(".sides button", "Today with yesterday"), // the second one
		exists(".findings tbody tr"), textBegins("#compare-what option:checked", "today, to "),
		text("#compare-with option:checked", "the day before"), answered(),
		inGroup("New", "new.example"), inGroup("More", "more.example"), inGroup("Less", "less.example"), inGroup("Gone", "gone.example"))
	for _, size := range []struct{ width, height int64 }{{1280, 800}, {390, 844}} {
		walk(fmt.Sprintf("the answer begins in the upper third of %d×%d", size.width, size.height),
			at(size.width), open("#/compare?t="+hours), exists(".findings .change-group"), answered(),
			must(fmt.Sprintf("$('.findings .change-group th').getBoundingClientRect().top + scrollY <= %d", size.height/3),
				"the first group is further down"))
	}
	walk("the requests of the first side stay when the other side changes",
		open("#/compare?f=method=GET&t="+hours), exists(".findings"), fill("#compare-what", "where blocked is true"),
		hashHas("where="), fieldIs("#compare-with", "rest"), fill("#compare-with", "7d"), filterIs("method=GET, blocked is true"),
		hashHas("vs=7d"), hashLacks("where="), fill("#compare-what", "in yesterday"), hashHas("vs=7d"),
		addressHas("T23:59:59.999Z"))
	walk("the comparison is accessible, at all widths",
		inThemes(func(shot func(name string) step) []step {
			return []step{
				open("#/compare?t=" + hours), moreThan(3, ".findings tbody tr"), exists(".overlay .u-over"), answered(), shot("compare"),
				fill("#compare-what", "own"), focused("#select"), shot("compare-own"),
			}
		}))
	walk("what differs is in groups, above the chart, without tags that repeat a field",
		open("#/compare?t="+hours), moreThan(3, ".findings tbody tr"), exists(".overlay .u-over"), answered(),
		holds("((names) => names.length > 1 && names.join() === ['New', 'More', 'Less', 'Gone'].filter((one) => names.includes(one)).join())"+
			"($$('.findings .change-group').map((e) => e.textContent))", "has the groups in their order"),
		must("$('.findings').getBoundingClientRect().bottom <= $('.overlay').getBoundingClientRect().top", "the chart is above"),
		must("$$('.findings .by').some((e) => e.textContent === 'host')", "no host differs"),
		mustNot("$$('.findings th button').some((e) => e.title.startsWith('host:'))", "a tag repeats a host"))
	walk("the focus stays where the reader is",
		open("#/compare?t="+hours), sees("Before"), fill("#compare-what", "own"), focused("#select"),
		fill("#select", "blocked is true"), keys(kb.Enter),
		holds("location.hash.includes('where=') && $('.one-side.selected')?.innerText.includes('blocked is true')", "compares"),
		focused("#select"), fieldIs("#compare-what", "where blocked is true"), fill("#compare-with", "against"), focused("#against"),
		fill("#against", "1d"), focus("#against ~ button"), keys(kb.Enter),
		holds("location.hash.includes('vs=1d') && $('.one-side.baseline')?.innerText.includes('2025-12-31')", "compares again"),
		holds("document.activeElement.textContent === 'Compare'", "has the focus on the button"), answered(),
		open("#/compare?where=blocked+is+true&t="+demoDay), sees("What differs"), focus(".findings .act button"), keys(kb.Enter),
		holds("$('#filter').value !== ''", "has the condition"), answered(),
		holds("document.activeElement !== document.body", "has the focus in the answer"))
	walk("conditions with mistakes are marked at their field",
		allow("status of 400"), open("#/compare?t="+hours), sees("Before"), fill("#compare-what", "own"), fill("#select", `hots="shop.example"`),
		evaluate("$('#select').form.requestSubmit()"), textHas("#select-wrong", "unknown field"))
	walk("one field, and nothing that differs",
		open("#/compare?where=blocked+is+true&by=country&t="+demoDay),
		holds("$('.findings .by') && $$('.findings .by').every((e) => e.textContent === 'country')", "has only countries"),
		fill("#compare-by", "protocol"), text(".findings .by", "protocol"),
		open("#/compare?f=blocked+is+true&where=blocked+is+true&t="+demoDay),
		sees("There are no others: all requests are on this side"),
		open("#/compare?f=blocked+is+true&by=protocol&where=host~e&t="+hours), sees("There are no others"),
		open("#/compare?f=country=Nowhere&where=blocked+is+true&t="+demoDay), sees("No requests in this period match the filter"),
		open("#/compare?f=blocked+is+false&where=blocked+is+true&t="+demoDay), sees("There are no requests on the first side"),
		open("#/compare?vs=previous&t="+demoDay), sees("The data has no requests before"))
	walk("periods that overlap are refused with the reason",
		allow("status of 422"), open("#/compare?vs=1h&t="+hours), sees("The question failed"), sees("overlap"))
	walk("a heavy comparison waits",
		allow("status of 422"), answers(heavy("diff")), open("#/compare?t="+hours), sees("This is a heavy question"),
		click("button", "Run it"), exists(".two-sides"))
	alone := func(one sent) bool { return strings.HasSuffix(one.path, "/diff") }
	walk("a light question alone needs one request",
		open("#/compare?t="+hours), exists(".two-sides"), answered(), asked("diff", 1), calls(1, alone))
	walk("of a heavy question alone, the newest part of the period that is light is offered",
		allow("status of 422"), answers(func(c *call) bool {
			return c.body["max_bytes"] == 1e9 && c.weighs(func(meta map[string]any) {
				large(meta)
				meta["fits"] = map[string]string{"from": "2026-01-01T10:00:00Z", "to": "2026-01-01T11:59:59.999Z"}
			}, "diff")
		}), open("#/compare?t="+hours), textHas(".held", "reads 1 B–2.0 GB"), asked("diff", 1), click(".held button", "Only the newest 2 h"),
		addressHas("t=2026-01-01T10:00Z..2026-01-01T11:59:59.999Z"))
	walk("a question alone, of which nothing is known before, runs if its period is short",
		allow("status of 422"), answers(func(c *call) bool {
			return c.weighs(func(meta map[string]any) {
				meta["estimate"] = map[string]any{"bytes": nil, "wait_ms": nil, "partitions": 1}
			}, "diff")
		}), open("#/compare?t="+hours), exists(".two-sides"), asked("diff", 2))
	walk("no requests on either side",
		open("#/compare?t=2026-02-01T10:00Z..2026-02-01T11:00Z"), sees("The newest record is of 2026-01-01 23:59"))
}

// inGroup waits until a group of findings, such as New, has a value.
func inGroup(group, value string) step {
	return waits("in group", fmt.Sprintf("$$('.findings tbody').find((e) => e.querySelector('.change-group').textContent === %q)"+
		"?.innerText.includes(%q)", group, value), group, value)
}

// twoDays returns a log of yesterday and today, up to a moment. Its hosts have other shares of the requests today.
func twoDays(now time.Time) string {
	var log strings.Builder
	midnight := now.Truncate(24 * time.Hour)
	for host, counts := range map[string][2]int{
		"same.example": {500, 500}, "new.example": {0, 100}, "more.example": {50, 200}, "less.example": {200, 50}, "gone.example": {100, 0},
	} {
		for day, n := range counts {
			for i := range n {
				at := midnight.Add(time.Duration(day-1)*24*time.Hour + now.Sub(midnight)*time.Duration(i)/time.Duration(n))
				fmt.Fprintf(&log, `{"processing_stage":6,"timestamp":%q,"ip":"192.0.2.1","host":%q,"path":"/","result":"Passed","blocked":false}`+"\n",
					at.Format(time.RFC3339), host)
			}
		}
	}
	return log.String()
}
