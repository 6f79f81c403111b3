package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// incident is what the walks read of an incident.
type incident struct {
	Host          string
	NumOfRequests int `json:"num_of_requests"`
	NumOfBlocked  int `json:"num_of_blocked_requests"`
	NumOfIP       int `json:"num_of_ip"`
}

// judged lets the server say of its incidents that the origin held, except in the given number of the oldest ones.
func judged(failed int) func(c *call) bool {
	return func(c *call) bool {
		return c.question("incidents") && c.rewritten(func(data, _ map[string]any) {
			results := data["results"].([]any)
			for i, one := range results {
				state := "held"
				if i >= len(results)-failed {
					state = "not held"
				}
				one.(map[string]any)["held"].(map[string]any)["state"] = state
			}
		})
	}
}

// TestIncidents walks through the answer above the dashboard.
func TestIncidents(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	const headline, rows = "#incidents", "$$('.incidents tbody tr')"

	walk.run("the site is slow: no click to the verdict, and one to the attackers", func(t *testing.T, b *tab, s *served) {
		found := answerTo[incident](t, s, "incidents", `{`+tourDay+`"}`).Data.Results
		if len(found) < 2 {
			t.Fatalf("the day has %d incidents", len(found))
		}
		b.do(answers(judged(1)), open("#/?t="+demoDay),
			text(headline, fmt.Sprintf("%d incidents. The origin did not hold in 1 of them.", len(found))),
			textBegins(".incidents p", "See who sends the requests"), exists(".incidents.not-held"),
			is(rows+".length", min(6, len(found))), textHas(".incidents tbody .held", "did not hold"), answered(),
			note("wanted", rows+"[0].querySelector('td.n a.count:last-child').textContent"),
			click(".incidents tbody th a", ""), // the only click
			hashHas("#/events"), textBegins(".facet h4", "ip "), holds("$('.over-rows').innerText.includes(`all ${seen.wanted} shown`)", "has the requests"))
	})
	walk.run("the rows have the figures of the server, and lead to what they count", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/?t="+demoDay), exists(".incidents tbody tr"), answered())
		text := strings.ReplaceAll(value[string](b, "document.querySelector('.incidents tbody').textContent"), ",", "")
		for _, one := range answerTo[incident](t, s, "incidents", `{`+tourDay+`"}`).Data.Results {
			if want := fmt.Sprintf("%d of %d%d", one.NumOfBlocked, one.NumOfRequests, one.NumOfIP); !strings.Contains(text, want) {
				t.Errorf("no row has %s: %s", want, text)
			}
		}
		b.lead(s, ".incidents")
		if left := b.unlinked(".incidents"); len(left) > 0 {
			t.Errorf("numbers lead nowhere:\n%s", strings.Join(left, "\n"))
		}
	})
	walk("the chart marks the incidents",
		open("#/?seg=1h&t="+demoDay), exists(".incidents tbody tr"), visible(".plot canvas"), answered(),
		textBegins(".legend .marks", "incidents"), focus(".plot"), keys(kb.ArrowRight+kb.ArrowRight),
		holds("$('.legend .marks.here')?.textContent.includes($$('.incidents tbody th a:not(.try-it)').at(-1).textContent)", "names the incident of the segment"),
		fill("#split", "country"), holds("$('.split .plot canvas') && $('.split .marks')", "marks them in the lines of a field, too"))
	walk.run("no target of an incident is among the other values", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/?by=host&t="+demoDay), holds("$('.split .plot canvas') && $$('.split .series li').length > 5", "has the hosts"))
		names := value[[]string](b, "[...document.querySelectorAll('.split .series .value button')].map((e) => e.title)")
		for _, one := range answerTo[incident](t, s, "incidents", `{`+tourDay+`"}`).Data.Results {
			if !slices.Contains(names, one.Host) {
				t.Errorf("%s is not among %q", one.Host, names)
			}
		}
	})
	walk("a period without incidents has one line",
		open("#/?t=2026-01-01T02:00Z..2026-01-01T04:00Z"), text(headline, "No incidents in this period."),
		textHas(".incidents p", " requests were blocked."), lacks(".incidents table"), answered(),
		must("$('.said').getBoundingClientRect().height < 60", "the answer has several lines"), lacks(".legend .marks"))
	walk("on a phone, the chart begins on the first screen, and the incidents have their figures after a tap",
		at(390), open("#/?t="+demoDay), exists(".incidents tbody tr"), visible(".plot canvas"), answered(),
		must("$('.plot').getBoundingClientRect().top + scrollY < 844 - 150", "the chart begins further down"),
		is(rows+".length <= 3", true), mustNot("$('.incidents td.n').checkVisibility()", "the rows have figures"),
		must("$$('.incidents th a').every((a) => !a.checkVisibility() || a.getBoundingClientRect().height >= 44)", "a link is too small"),
		holds("$('.incidents .when').checkVisibility() && $('.incidents td.held').checkVisibility()", "says when, and whether it held"),
		click(".incidents button", "Show"), holds("$('.incidents td.n').checkVisibility()", "has the figures"), lacks(".incidents button"))
	walk("on a tablet, the rows have the bar of their parts",
		at(820), open("#/?t="+demoDay), exists(".incidents tbody tr"), answered(),
		must("$$('.incidents tbody .parts span').every((e) => e.checkVisibility() && e.offsetWidth > 60)", "a row has none"),
		must("$('.incidents thead .parts').checkVisibility()", "the column has no name"), fits("incidents"))
	walk("a period that is too long is not asked about, and a shorter one is offered",
		open("#/?t=2025-12-01T23:59Z..2026-01-02T00:00Z"), exists(".tile.requests"), sees("The limit is 31 days."), answered(),
		asked("incidents", 0), lacks(headline), click(".said button", "Only the last 7 days"), exists(".incidents tbody tr"))
	walk("the longest period in which the server looks for incidents", // allows for no other status
		open("#/?t=2025-12-02T00:00Z..2026-01-02T00:00Z"), exists(".incidents tbody tr"), answered(), asked("incidents", 1))
	walk("the dashboard has the rest if incidents fail",
		allow("status of 500"), answers(fails("incidents")), open("#/?t="+demoDay), textBegins(".trouble.failed", "Incidents: "),
		holds("$('.tile.requests .number').textContent === '3,000' && $('.plot canvas') && $$('.list tbody tr').length > 20", "has the rest"),
		answered(), lacks(headline), answers(), click(".trouble button", "Ask again"), exists(".incidents tbody tr"), lacks(".trouble"))
	var asks atomic.Int32
	var arrives atomic.Bool
	walk("incidents that take longer than one request are asked for until they are there",
		allow("status of 504"), answers(func(c *call) bool {
			if !c.question("incidents") {
				return false
			}
			asks.Add(1)
			return !arrives.Load() && c.runsOn(http.StatusGatewayTimeout)
		}), open("#/?t="+demoDay), until(func() bool { return asks.Load() > 1 }, "asks again"), sees("The query has been running"),
		holds("$('.tile.requests .number').textContent === '3,000'", "has the rest"), sets(&arrives, true), exists(".incidents tbody tr"))
	walk("the answer is accessible, at all widths",
		answers(judged(1)), inThemes(func(shot func(name string) step) []step {
			return []step{open("#/?t=" + demoDay), exists(".incidents tbody tr"), answered(), shot("incidents")}
		}))
}
