package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// figure is the number of a tile.
func (b *tab) figure(name string) int {
	b.t.Helper()
	return value[int](b, fmt.Sprintf("Number(document.querySelector('.tile.%s .number').firstChild.textContent.replaceAll(',', ''))", name))
}

// heated reports whether the canvas of the heatmap has colours of several strengths.
const heated = `(() => {
	const canvas = $('.lines canvas');
	const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
	const [red, green, blue] = getComputedStyle($('.colours rect')).fill.match(/[0-9]+/g).map(Number);
	const strengths = new Set();
	for (let i = 0; i < data.length; i += 4) {
		if (data[i] === red && data[i + 1] === green && data[i + 2] === blue) strengths.add(data[i + 3]);
	}
	return strengths.size >= 3;
})()`

// TestCharts walks through the other charts of the dashboard, and what a click in a chart does.
func TestCharts(t *testing.T) {
	walk := walksAt(t, demo.address(t))

	walk("responses by class of status, then by a single class",
		open("#/?t="+demoDay), sees("Requests over time"), click(".over-rows button", "Status"), sees("Responses over time by status"),
		hashHas("chart=status"), is("$$('.series b').reduce((sum, e) => sum + Number(e.textContent.replaceAll(',', '')), 0)", 3000),
		note("errors", "$$('.series li').find((e) => e.textContent.includes('4xx')).querySelector('b').textContent"),
		click(".series button", "4xx"), click("[role=menuitem]", "Only"), filterIs("status between 400 and 499"),
		holds("$('.tile.requests .number').textContent === seen.errors", "has the requests of the legend"), count(".series li", 1),
		click(".over-rows button", "Results"), sees("Requests over time"), hashLacks("chart="))
	walk("humans and others, and the statuses of origins",
		open("#/?chart=human&t="+demoDay), sees("Requests over time by humans and others"), note("humans", numberOf("human")),
		must("seen.humans > 0 && Number($('.series b').textContent.replaceAll(',', '')) === seen.humans", "the legend has another number"),
		click(".series button", "others"), click("[role=menuitem]", "Only"), filterIs("human not is true"),
		holds(numberOf("requests")+" === 3000 - seen.humans", "has the others"), open("#/?chart=origin&t="+demoDay),
		sees("Responses of the origin over time by status"), moreThan(1, ".series li"))
	walk("the times of requests are asked for only where they are drawn",
		open("#/?t=2026-01-01T10:00Z..2026-01-01T11:00Z"), sees("Requests over time"), answered(), asked("stats", 0), click(".over-rows button", "Times"),
		sees("Times of the origin over time"), holds("/^up to [0-9.]+ m?s$/.test($('.series b')?.textContent)", "has the times"),
		click(".chart button", "Show as table"), moreThan(30, ".numbers tbody tr"), accessible("times as a table"), reload(),
		sees("Times of the origin over time"))
	walk("the heatmap has each time once, by keys, as a table, and leads to the events",
		open("#/?t="+demoDay), sees("Requests over time"), answered(), asked("histogram", 1), click(".over-rows button", "Times"),
		click(".chart button", "Show as heatmap"),
		holds("$('.over-rows [aria-pressed=true]').textContent === 'Times'", "is of the times"),
		sees("Times of the origin as a heatmap"), hashHas("chart=heatmap"), answered(), asked("histogram", 11), exists(".colours svg"),
		stepOf(func(b *tab) {
			n := numOfRequests(b.t, conf(b.t, b.s, http.MethodPost, "/api/v4.0/data/facets",
				`{"filters":"timestamp between 2026-01-01 and 2026-01-02, upstream_response_time>=0","by":"method"}`))
			b.do(is("$$('.series b').reduce((sum, e) => sum + Number(e.textContent.replaceAll(',', '')), 0)", n))
		}, "has all requests with a time"),
		must(heated, "nothing is drawn in the colours of the heatmap"),
		focus(".plot"), keys(kb.ArrowRight+kb.ArrowRight),
		holds("/2026-01-01 00:15: .*30 ms – 100 ms [0-9]+/.test($('.chart [role=status]').textContent)", "announces the second segment"),
		note("requests", "$$('.series li').find((e) => e.textContent.includes('30 ms – 100 ms')).querySelector('b').textContent"),
		click(".series button", "30 ms – 100 ms"), click("[role=menuitem]", "Only"), filterIs("upstream_response_time between 0.03 and 0.099999"),
		count(".series li", 1), click(".chart button", "Show as table"), moreThan(50, ".numbers tbody tr"), accessible("heatmap as a table"))
	walk("a log without times of the origin has a heatmap of the times of the requests",
		open("#/?chart=heatmap&f=blocked+is+true&t="+demoDay), sees("Times of requests as a heatmap"), answered(), asked("histogram", 21),
		textHas(".series", "under 1 ms"))
	walk("a heavy heatmap waits",
		answers(heavy("histogram")), open("#/?chart=heatmap&t="+demoDay), sees("This is a heavy question"), click("button", "Run it"),
		sees("Times of the origin as a heatmap"))
	walk("a heavy question about times waits, and the rest of the dashboard is there",
		allow("status of 422"), answers(heavy("stats")), open("#/?chart=latency&t="+demoDay), sees("This is a heavy question"),
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
	walk.run("a click on a segment zooms to it", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/?t=2026-01-01T10:00Z..2026-01-01T11:00Z&seg=15m"), exists(".u-over"))
		x, y, _, height := b.box("document.querySelector('.u-over')")
		b.run(chromedp.MouseClickXY(x+2, y+height/2))
		b.do(addressHas("t=2026-01-01T10:00Z..2026-01-01T10:14:59.999Z"))
	})
	walk("the legend of a table covers the whole period",
		open("#/?t="+demoDay), visible(".plot"), focus(".plot"), keys(kb.ArrowRight), text(".legend .moment", "2026-01-01 00:00"),
		click(".chart button", "Show as table"), textHas(".legend .key.requests", "3,000"))
	walk.run("the slowest targets are ranked by the average time of the origin", func(t *testing.T, b *tab, s *served) {
		answer := conf(t, s, http.MethodPost, "/api/v4.0/data/topx", `{"filters":"timestamp between 2026-01-01 and 2026-01-02","limit":8}`)
		type result struct {
			Label, Key string
			Average    float64 `json:"avg_origin_time"`
		}
		var read struct{ Data struct{ Results []result } }
		if err := json.Unmarshal([]byte(answer), &read); err != nil {
			t.Fatal(err)
		}
		slowest := slices.DeleteFunc(read.Data.Results, func(one result) bool { return one.Label != "origin_time" })
		slices.SortStableFunc(slowest, func(a, b result) int { return cmp.Compare(b.Average, a.Average) })
		b.do(open("#/?t="+demoDay), holds("$$('.slow tbody tr').length > 1", "has the targets"),
			text(".slow caption small", "by the average time of the origin"))
		targets := value[[]string](b, "[...document.querySelectorAll('.slow tbody .value button')].map((e) => e.title)")
		var want []string
		for _, one := range slowest {
			want = append(want, one.Key)
		}
		if !slices.Equal(targets, want) {
			t.Errorf("the targets are %q, not %q", targets, want)
		}
		if cells := value[int](b, "document.querySelectorAll('.slow tbody tr:first-child td').length"); cells != 7 {
			t.Errorf("%d cells", cells)
		}
	})
	walk("the top values by requests, including values without blocked requests",
		open("#/?t="+demoDay), count(".list", 9), click(".over-rows button", "most requests first"), hashHas("sort=requests"),
		count(".line", 2), // the state of the further question
		count(".list", 9), note("numbers", "[...$$('.list')[2].querySelectorAll('td:nth-child(3)')].map((e) => Number(e.textContent.replaceAll(',', '')))"),
		must("seen.numbers.length > 1 && seen.numbers.every((n, i) => i === 0 || n <= seen.numbers[i - 1])", "the addresses are not in order"),
		click(".list .value button", "Germany"), click("[role=menuitem]", "Without"), filterIs(`country!="Germany"`))
}

// TestOverlay walks through the chart of two sides.
func TestOverlay(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	const hours = "2026-01-01T12:00Z..2026-01-01T23:59Z"
	// requests notes how many requests of the data match a filter.
	requests := func(name, filters string) step {
		return stepOf(func(b *tab) {
			b.note(name, numOfRequests(b.t, conf(b.t, b.s, http.MethodPost, "/api/v4.0/data/facets", fmt.Sprintf(`{"filters":%q,"by":"method"}`, filters))))
		}, "requests", filters)
	}
	const day = "timestamp between 2026-01-01 and 2026-01-02, "
	const first, last = "$('.overlay .series li:first-child b').textContent", "$('.overlay .series li:last-child b').textContent"

	walk("a period and the one before, segment by segment",
		open("#/compare?t="+hours), sees("Both sides over time: Requests"), count(".overlay .series li", 2),
		requests("now", "timestamp between 2026-01-01 12:00:00 and 2026-01-01 23:59:00"),
		requests("before", "timestamp between 2026-01-01 00:01:00 and 2026-01-01 11:59:59.999"), tileOf("requests", "seen.now"),
		holds("$('.overlay .tile.requests .change').textContent.replaceAll(',', '').endsWith(`was ${seen.before}`)", "has those before"),
		click(".overlay .tile", "Blocked"), sees("Both sides over time: Blocked"),
		holds("location.hash.includes('chart=blocked') && $('.tile.blocked button').ariaPressed === 'true'", "draws the blocked ones"),
		focus(".overlay .plot"), keys(kb.ArrowRight), text(".overlay .moment", "2026-01-01 12:00, beside 2026-01-01 00:00"),
		holds(first+" === '–' && "+last+" !== '–'", "leaves out the first segment before, of which the period has a part"),
		keys(kb.End), holds(last+" === '–'", "leaves out the last segment, of which the period has a part"))
	walk("some requests and the rest",
		open("#/compare?where=blocked+is+true&t="+demoDay), sees("Both sides over time"), requests("blocked", day+"blocked is true"),
		tileOf("blocked", "seen.blocked"), text(".overlay .tile.blocked .change", "others 0 · 0 %"),
		holds("$('.overlay .tile.requests .change').textContent.replaceAll(',', '') === `others ${3000 - seen.blocked}`", "has the rest"))
	line := func(i int, country string) step {
		return holds(fmt.Sprintf("((e) => e.innerText.includes(%q) && e.querySelector('b').textContent.replaceAll(',', '') === String(seen[%[1]q]))"+
			"($$('.overlay .series li')[%d])", country, i), "has the requests of "+country)
	}
	walk("two filters on each other",
		open(`#/compare?f=country="Germany"&f2=country="France"&t=`+demoDay), sees("Both sides over time"),
		requests("France", day+`country="France"`), requests("Germany", day+`country="Germany"`), line(0, "France"), line(1, "Germany"),
		asked("diff", 0), fieldIs("#compare-with", "f2"), fill("#other", "blocked is true"), evaluate("$('#other').form.requestSubmit()"), hashHas("f2=blocked+is+true"),
		shows(".overlay .series", "blocked is true"), accessible("two filters"), fill("#compare-with", "previous"),
		hashLacks("f2="), sees("These"))
	walk("another filter with mistakes",
		allow("status of 400"), open(`#/compare?f2=hots="shop.example"&t=`+demoDay),
		holds("$('.overlay')?.innerText.includes('unknown field')", "has the mistake"))
	walk("the other charts are accessible, at all widths",
		inThemes(func(shot func(name string) step) []step {
			drawn := func(name, fragment string) step {
				return together(open(fragment+"&t="+hours), exists(".lines .u-over"), shot("lines-"+name))
			}
			return []step{
				drawn("status", "#/?chart=status"), drawn("latency", "#/?chart=latency&sort=requests"), drawn("heatmap", "#/?chart=heatmap"), drawn("before", "#/compare?x="),
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
