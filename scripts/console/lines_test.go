package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// figure is the number of a tile.
func (b *tab) figure(name string) int {
	b.t.Helper()
	return value[int](b, fmt.Sprintf("Number(document.querySelector('.tile.%s .number').firstChild.textContent.replaceAll(',', ''))", name))
}

// TestCharts walks through the other charts of the dashboard, and what a click in a chart does.
func TestCharts(t *testing.T) {
	walk := walksAt(t, demo.address(t))

	walk.through("responses by class of status, of which one is kept", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/?t="+demoDay), sees("Requests over time"), click(".over-rows button", "Status"),
			sees("Responses over time by status"), hashHas("chart=status"))
		sum := value[int](b, "[...document.querySelectorAll('.series b')].reduce((sum, e) => sum + Number(e.textContent.replaceAll(',', '')), 0)")
		if sum != 3000 {
			t.Errorf("the classes have %d requests, want 3000", sum)
		}
		b.do(note("errors", "$$('.series li').find((e) => e.textContent.includes('4xx')).querySelector('b').textContent"),
			click(".series button", "4xx"), click("[role=menuitem]", "Only"), filterIs("status between 400 and 499"),
			holds("$('.tile.requests .number').textContent === seen.errors", "has the requests of the legend"),
			count(".series li", 1), click(".over-rows button", "Results"), sees("Requests over time"), hashLacks("chart="))
	})
	walk.through("humans and others, and the statuses of origins", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/?chart=human&t="+demoDay), sees("Requests over time by humans and others"))
		humans := b.figure("human")
		if n := value[int](b, "Number(document.querySelector('.series b').textContent.replaceAll(',', ''))"); n != humans || n == 0 {
			t.Errorf("the legend has %d requests of humans, the tile %d", n, humans)
		}
		b.do(click(".series button", "others"), click("[role=menuitem]", "Only"), filterIs("human not is true"),
			holds(fmt.Sprintf("$('.tile.requests .number').textContent.replaceAll(',', '') === '%d'", 3000-humans), "has the others"),
			open("#/?chart=origin&t="+demoDay), sees("Responses of the origin over time by status"), moreThan(1, ".series li"))
	})
	walk.through("the times of requests are asked for only where they are drawn", func(t *testing.T, b *tab, s *served) {
		var asked atomic.Int32
		b.do(answers(func(c *call) bool {
			if c.to("/data/stats") && c.body["dry_run"] != true {
				asked.Add(1)
			}
			return false
		}), open("#/?t="+demoDay), sees("Requests over time"), answered(), counts(&asked, 0), click(".over-rows button", "Times"),
			sees("Times of requests over time"), holds("/^up to [0-9.]+ m?s$/.test($('.series b')?.textContent)", "has the times"),
			click(".chart button", "Show as table"), moreThan(100, ".numbers tbody tr"), accessible("times as a table"), reload(),
			sees("Times of requests over time"))
	})
	walk("a heavy question about times waits, and the rest of the dashboard is there",
		answers(heavy("stats")), open("#/?chart=latency&t="+demoDay), sees("This is a heavy question"),
		text(".tile.requests .number", "3,000"), click("button", "Run it"), sees("9 of 10 are faster"))
	walk("the segments of another chart are announced",
		open("#/?chart=status&t="+demoDay), visible(".plot"), focus(".plot"), keys(kb.ArrowRight+kb.ArrowRight),
		holds("/2026-01-01 00:05: 2xx [0-9]+, /.test($('.chart [role=status]').textContent)", "announces the second segment"))
	walk("keys move the cursor of a chart as soon as it is there",
		open("#/?t="+demoDay), sees("Requests over time"), evaluate(`new MutationObserver((_, observer) => {
			const plot = $('.chart.lines .plot');
			if (!plot) return;
			observer.disconnect();
			requestAnimationFrame(() => { // the browser has not drawn it yet
				plot.focus();
				plot.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true }));
			});
		}).observe(document.body, { childList: true, subtree: true })`), click(".over-rows button", "Status"),
		holds("/2026-01-01 00:00: 2xx [0-9]+, /.test($('.chart.lines [role=status]')?.textContent)", "announces the first segment"))
	walk.through("a click on a segment selects it, the end of a drag does not", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/?t=2026-01-01T10:00Z..2026-01-01T11:00Z&seg=15m"), exists(".u-over"), dragAcross(".u-over", .2, .8),
			holds(`/t=2026-01-01T10:[0-9:.]+Z\.\.2026-01-01T10:[0-9:.]+Z/.test(decodeURIComponent(location.hash))`, "has the period of the drag"),
			back(), holds("location.hash.includes('T11:00Z') && $('.u-over')", "is back"))
		x, y, _, height := b.box("document.querySelector('.u-over')")
		b.run(chromedp.MouseClickXY(x+2, y+height/2))
		b.do(holds("decodeURIComponent(location.hash).includes('t=2026-01-01T10:00Z..2026-01-01T10:14:59.999Z')", "has the first segment"))
	})
	walk("a drag that ends outside of the chart selects up to its edge",
		open("#/?t=2026-01-01T10:00Z..2026-01-01T11:00Z&seg=15m"), exists(".u-over"), dragAcross(".u-over", .5, 1.1),
		holds(`/t=2026-01-01T10:2[0-9][^.]*\.\.2026-01-01T10:4[0-9]/.test(decodeURIComponent(location.hash))`, "has the later half"))
	walk("the legend of a table is that of the whole period",
		open("#/?t="+demoDay), visible(".plot"), focus(".plot"), keys(kb.ArrowRight), text(".legend .moment", "2026-01-01 00:00"),
		click(".chart button", "Show as table"), textHas(".legend .key.requests", "3,000"))
	walk.through("the targets that are slowest by any of three times are in one table", func(t *testing.T, b *tab, s *served) {
		answer := conf(t, s, http.MethodPost, "/api/v4.0/data/topx", `{"filters":"timestamp between 2026-01-01 and 2026-01-02","limit":1}`)
		var read struct {
			Data struct{ Results []struct{ Label, Key string } }
		}
		if err := json.Unmarshal([]byte(answer), &read); err != nil {
			t.Fatal(err)
		}
		b.do(open("#/?t="+demoDay), holds("$$('.slow tbody tr').length >= 5", "has the targets"))
		targets := value[[]string](b, "[...document.querySelectorAll('.slow tbody .value button')].map((e) => e.title)")
		found := 0
		for _, one := range read.Data.Results {
			if strings.HasSuffix(one.Label, "_time") {
				found++
				if !slices.Contains(targets, one.Key) {
					t.Errorf("%s, the first of %s, is not in the table", one.Key, one.Label)
				}
			}
		}
		if cells := value[int](b, "document.querySelectorAll('.slow tbody tr:first-child td').length"); found != 3 || cells != 7 {
			t.Errorf("%d times, %d cells", found, cells)
		}
	})
	walk.through("the top values by requests, also those of which none was blocked", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/?t="+demoDay), count(".list", 9), click(".over-rows button", "most requests first"),
			hashHas("sort=requests"), holds("$$('.line').length === 2", "has the state of the further question"), count(".list", 9))
		numbers := value[[]int](b, "[...document.querySelectorAll('.list')[2].querySelectorAll('td:nth-child(3)')].map((e) => Number(e.textContent.replaceAll(',', '')))")
		for i := range numbers[1:] {
			if numbers[i] < numbers[i+1] {
				t.Errorf("the addresses have %v requests, which are not in order", numbers)
			}
		}
		b.do(click(".list .value button", "Germany"), click("[role=menuitem]", "Without"), filterIs(`country!="Germany"`))
	})
}

// TestOverlay walks through the chart of two sides.
func TestOverlay(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	const hours = "2026-01-01T12:00Z..2026-01-01T23:59Z"
	requests := func(t *testing.T, s *served, filters string) int {
		t.Helper()
		answer := conf(t, s, http.MethodPost, "/api/v4.0/data/facets", fmt.Sprintf(`{"filters":%q,"by":"method"}`, filters))
		return numOfRequests(t, answer)
	}

	walk.through("a period and the one before, segment by segment", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/compare?t="+hours), sees("Both sides over time: Requests"), count(".overlay .series li", 2))
		now := requests(t, s, "timestamp between 2026-01-01 12:00:00 and 2026-01-01 23:59:00")
		before := requests(t, s, "timestamp between 2026-01-01 00:01:00 and 2026-01-01 11:59:59.999")
		b.do(holds(fmt.Sprintf("$('.overlay .tile.requests .number').textContent.replaceAll(',', '') === '%d'", now), "has the requests"),
			holds(fmt.Sprintf("$('.overlay .tile.requests .change').textContent.replaceAll(',', '').endsWith('was %d')", before), "has those before"),
			click(".overlay .tile", "Blocked"), sees("Both sides over time: Blocked"),
			holds("location.hash.includes('chart=blocked') && $('.tile.blocked button').ariaPressed === 'true'", "draws the blocked ones"),
			focus(".overlay .plot"), keys(kb.ArrowRight), text(".overlay .moment", "2026-01-01 12:00, beside 2026-01-01 00:00"))
		number := func(line string) string {
			return "document.querySelector('.overlay .series li:" + line + "-child b').textContent"
		}
		b.do(holds(number("first")+" === '–' && "+number("last")+" !== '–'", "leaves out the first segment before, of which the period has a part"),
			keys(kb.End), holds(number("last")+" === '–'", "leaves out the last segment, of which the period has a part"))
	})
	walk.through("some requests and the rest", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/compare?where=blocked+is+true&t="+demoDay), sees("Both sides over time"))
		blocked := requests(t, s, "timestamp between 2026-01-01 and 2026-01-02, blocked is true")
		b.do(holds(fmt.Sprintf("$('.overlay .tile.blocked .number').firstChild.textContent.replaceAll(',', '') === '%d'", blocked), "has the blocked requests"),
			text(".overlay .tile.blocked .change", "others 0 · 0 %"),
			holds(fmt.Sprintf("$('.overlay .tile.requests .change').textContent.replaceAll(',', '') === 'others %d'", 3000-blocked), "has the rest"))
	})
	walk.through("two filters on each other", func(t *testing.T, b *tab, s *served) {
		var compared atomic.Int32
		b.do(answers(func(c *call) bool {
			if c.to("/data/diff") {
				compared.Add(1)
			}
			return false
		}), open(`#/compare?f=country="Germany"&f2=country="France"&t=`+demoDay), sees("Both sides over time"))
		for i, country := range []string{"France", "Germany"} {
			n := requests(t, s, fmt.Sprintf("timestamp between 2026-01-01 and 2026-01-02, country=%q", country))
			b.holds(fmt.Sprintf("((e) => e.innerText.includes(%q) && e.querySelector('b').textContent.replaceAll(',', '') === '%d')"+
				"(document.querySelectorAll('.overlay .series li')[%d])", country, n, i), "has the requests of "+country)
		}
		b.do(counts(&compared, 0), fill("#other", "blocked is true"), evaluate("$('#other').form.requestSubmit()"),
			hashHas("f2=blocked+is+true"), holds("$('.overlay .series').innerText.includes('blocked is true')", "draws it"),
			accessible("two filters"), click(".sides button", "the period before"), hashLacks("f2="), sees("These"))
	})
	walk("another filter with mistakes",
		allow("status of 400"), open(`#/compare?f2=hots="shop.example"&t=`+demoDay),
		holds("$('.overlay')?.innerText.includes('unknown field')", "has the mistake"))
	walk("the other charts are accessible, at all widths",
		inThemes([]int64{360, 768, 1280}, func(shot func(name string) step) []step {
			drawn := func(name, fragment string) step {
				return together(open(fragment+"&t="+hours), exists(".lines .u-over"), shot("lines-"+name))
			}
			return []step{
				drawn("status", "#/?chart=status"), drawn("latency", "#/?chart=latency&sort=requests"), drawn("before", "#/compare?x="),
				drawn("filters", `#/compare?f=country="Germany"&f2=blocked+is+true`),
			}
		}))
}

// numOfRequests reads how many requests an answer is about.
func numOfRequests(t *testing.T, answer string) int {
	t.Helper()
	var read struct {
		Meta struct {
			NumOfRequests int `json:"num_of_requests"`
		} `json:"meta"`
	}
	if err := json.Unmarshal([]byte(answer), &read); err != nil {
		t.Fatal(err)
	}
	return read.Meta.NumOfRequests
}
