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
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)

	walk("responses by class of status, of which one is kept", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		b.click(".over-rows button", "Status")
		b.sees("Responses over time by status")
		b.holds("location.hash.includes('chart=status')", "has the chart in its address")
		sum := value[int](b, "[...document.querySelectorAll('.series b')].reduce((sum, e) => sum + Number(e.textContent.replaceAll(',', '')), 0)")
		if sum != 3000 {
			t.Errorf("the classes have %d requests, want 3000", sum)
		}
		errors := value[string](b, "[...document.querySelectorAll('.series li')].find((e) => e.textContent.includes('4xx')).querySelector('b').textContent")
		b.click(".series button", "4xx")
		b.click("[role=menuitem]", "Only")
		b.holds("document.querySelector('#filter').value === 'status between 400 and 499'", "has the condition")
		b.holds(fmt.Sprintf("document.querySelector('.tile.requests .number').textContent === %q", errors), "has the requests of the legend")
		b.holds("document.querySelectorAll('.series li').length === 1", "draws the one class")
		b.click(".over-rows button", "Results")
		b.sees("Requests over time")
		b.holds("!location.hash.includes('chart=')", "has the usual chart")
	})
	walk("humans and others, and the statuses of origins", func(t *testing.T, b *tab, s *served) {
		b.open("#/?chart=human&t=" + demoDay)
		b.sees("Requests over time by humans and others")
		humans := b.figure("human")
		if n := value[int](b, "Number(document.querySelector('.series b').textContent.replaceAll(',', ''))"); n != humans || n == 0 {
			t.Errorf("the legend has %d requests of humans, the tile %d", n, humans)
		}
		b.click(".series button", "others")
		b.click("[role=menuitem]", "Only")
		b.holds("document.querySelector('#filter').value === 'human not is true'", "has the condition")
		b.holds(fmt.Sprintf("document.querySelector('.tile.requests .number').textContent.replaceAll(',', '') === '%d'", 3000-humans), "has the others")
		b.open("#/?chart=origin&t=" + demoDay)
		b.sees("Responses of the origin over time by status")
		b.holds("document.querySelectorAll('.series li').length > 1", "has several classes")
	})
	walk("the times of requests are asked for only where they are drawn", func(t *testing.T, b *tab, s *served) {
		var asked atomic.Int32
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/data/stats") && bodyOf(t, r)["dry_run"] != true {
				asked.Add(1)
			}
			return false
		})
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		b.answered()
		if n := asked.Load(); n > 0 {
			t.Errorf("the times were asked for %d times", n)
		}
		b.click(".over-rows button", "Times")
		b.sees("Times of requests over time")
		b.holds("/^up to [0-9.]+ m?s$/.test(document.querySelector('.series b')?.textContent)", "has the times")
		b.click(".chart button", "Show as table")
		b.holds("document.querySelectorAll('.numbers tbody tr').length > 100", "has a row for each segment")
		b.accessible("times as a table")
		b.run(chromedp.Reload())
		b.sees("Times of requests over time")
	})
	walk("a heavy question about times waits, and the rest of the dashboard is there", func(t *testing.T, b *tab, s *served) {
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/data/stats") {
				return false
			}
			body := bodyOf(t, r)
			return body["dry_run"] == true && changed(t, s, w, r, body, costly)
		})
		b.open("#/?chart=latency&t=" + demoDay)
		b.sees("This is a heavy question")
		b.holds("document.querySelector('.tile.requests .number').textContent === '3,000'", "has the figures")
		b.click("button", "Run it")
		b.sees("9 of 10 are faster")
	})
	walk("the segments of another chart are announced", func(t *testing.T, b *tab, s *served) {
		b.open("#/?chart=status&t=" + demoDay)
		b.run(chromedp.WaitVisible(".plot"), chromedp.Focus(".plot"))
		b.keys(kb.ArrowRight + kb.ArrowRight)
		b.holds("/2026-01-01 00:05: 2xx [0-9]+, /.test(document.querySelector('.chart [role=status]').textContent)", "announces the second segment")
	})
	walk("keys move the cursor of a chart as soon as it is there", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		b.evaluate(`new MutationObserver((_, observer) => {
			const plot = document.querySelector('.chart.lines .plot');
			if (!plot) return;
			observer.disconnect();
			requestAnimationFrame(() => { // the browser has not drawn it yet
				plot.focus();
				plot.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true }));
			});
		}).observe(document.body, { childList: true, subtree: true })`)
		b.click(".over-rows button", "Status")
		b.holds("/2026-01-01 00:00: 2xx [0-9]+, /.test(document.querySelector('.chart.lines [role=status]')?.textContent)",
			"announces the first segment")
	})
	walk("a click on a segment selects it, the end of a drag does not", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=2026-01-01T10:00Z..2026-01-01T11:00Z&seg=15m")
		b.holds("document.querySelector('.u-over')", "has the chart")
		b.dragAcross(".u-over", .2, .8)
		b.holds("/t=2026-01-01T10:[0-9:.]+Z\\.\\.2026-01-01T10:[0-9:.]+Z/.test(decodeURIComponent(location.hash))", "has the period of the drag")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.holds("location.hash.includes('T11:00Z') && document.querySelector('.u-over')", "is back")
		x, y, _, height := b.box("document.querySelector('.u-over')")
		b.run(chromedp.MouseClickXY(x+2, y+height/2))
		b.holds("decodeURIComponent(location.hash).includes('t=2026-01-01T10:00Z..2026-01-01T10:14:59.999Z')", "has the first segment")
	})
	walk("a drag that ends outside of the chart selects up to its edge", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=2026-01-01T10:00Z..2026-01-01T11:00Z&seg=15m")
		b.holds("document.querySelector('.u-over')", "has the chart")
		b.dragAcross(".u-over", .5, 1.1)
		b.holds("/t=2026-01-01T10:2[0-9][^.]*\\.\\.2026-01-01T10:4[0-9]/.test(decodeURIComponent(location.hash))", "has the later half")
	})
	walk("the legend of a table is that of the whole period", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.run(chromedp.WaitVisible(".plot"), chromedp.Focus(".plot"))
		b.keys(kb.ArrowRight)
		b.holds("document.querySelector('.legend .moment').textContent === '2026-01-01 00:00'", "has a segment")
		b.click(".chart button", "Show as table")
		b.holds("document.querySelector('.legend .key.requests').textContent.includes('3,000')", "has all requests")
	})
	walk("the targets that are slowest by any of three times are in one table", func(t *testing.T, b *tab, s *served) {
		answer := conf(t, s, http.MethodPost, "/api/v4.0/data/topx", `{"filters":"timestamp between 2026-01-01 and 2026-01-02","limit":1}`)
		var read struct {
			Data struct{ Results []struct{ Label, Key string } }
		}
		if err := json.Unmarshal([]byte(answer), &read); err != nil {
			t.Fatal(err)
		}
		b.open("#/?t=" + demoDay)
		b.holds("document.querySelectorAll('.slow tbody tr').length >= 5", "has the targets")
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
	walk("the top values by requests, also those of which none was blocked", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.holds("document.querySelectorAll('.list').length === 9", "has nine lists")
		b.click(".over-rows button", "most requests first")
		b.holds("location.hash.includes('sort=requests')", "has the order in its address")
		b.holds("[...document.querySelectorAll('.line')].length === 2", "has the state of the further question")
		b.holds("document.querySelectorAll('.list').length === 9", "has nine lists")
		numbers := value[[]int](b, "[...document.querySelectorAll('.list')[2].querySelectorAll('td:nth-child(3)')].map((e) => Number(e.textContent.replaceAll(',', '')))")
		for i := range numbers[1:] {
			if numbers[i] < numbers[i+1] {
				t.Errorf("the addresses have %v requests, which are not in order", numbers)
			}
		}
		b.click(".list .value button", "Germany")
		b.click("[role=menuitem]", "Without")
		b.holds(`document.querySelector('#filter').value === 'country!="Germany"'`, "is without Germany")
	})
}

// TestOverlay walks through the chart of two sides.
func TestOverlay(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)
	const hours = "2026-01-01T12:00Z..2026-01-01T23:59Z"
	requests := func(t *testing.T, s *served, filters string) int {
		t.Helper()
		answer := conf(t, s, http.MethodPost, "/api/v4.0/data/facets", fmt.Sprintf(`{"filters":%q,"by":"method"}`, filters))
		return numOfRequests(t, answer)
	}

	walk("a period and the one before, segment by segment", func(t *testing.T, b *tab, s *served) {
		b.open("#/compare?t=" + hours)
		b.sees("Both sides over time: Requests")
		b.holds("document.querySelectorAll('.overlay .series li').length === 2", "has two lines")
		now := requests(t, s, "timestamp between 2026-01-01 12:00:00 and 2026-01-01 23:59:00")
		before := requests(t, s, "timestamp between 2026-01-01 00:01:00 and 2026-01-01 11:59:59.999")
		b.holds(fmt.Sprintf("document.querySelector('.overlay .tile.requests .number').textContent.replaceAll(',', '') === '%d'", now), "has the requests")
		b.holds(fmt.Sprintf("document.querySelector('.overlay .tile.requests .change').textContent.replaceAll(',', '').endsWith('was %d')", before), "has those before")
		b.click(".overlay .tile", "Blocked")
		b.sees("Both sides over time: Blocked")
		b.holds("location.hash.includes('chart=blocked') && document.querySelector('.tile.blocked button').ariaPressed === 'true'", "draws the blocked ones")
		b.run(chromedp.Focus(".overlay .plot"))
		b.keys(kb.ArrowRight)
		b.holds("document.querySelector('.overlay .moment').textContent === '2026-01-01 12:00, beside 2026-01-01 00:00'", "names both times")
		number := func(line string) string {
			return "document.querySelector('.overlay .series li:" + line + "-child b').textContent"
		}
		b.holds(number("first")+" === '–' && "+number("last")+" !== '–'", "leaves out the first segment before, of which the period has a part")
		b.keys(kb.End)
		b.holds(number("last")+" === '–'", "leaves out the last segment, of which the period has a part")
	})
	walk("some requests and the rest", func(t *testing.T, b *tab, s *served) {
		b.open("#/compare?where=blocked+is+true&t=" + demoDay)
		b.sees("Both sides over time")
		blocked := requests(t, s, "timestamp between 2026-01-01 and 2026-01-02, blocked is true")
		b.holds(fmt.Sprintf("document.querySelector('.overlay .tile.blocked .number').firstChild.textContent.replaceAll(',', '') === '%d'", blocked), "has the blocked requests")
		b.holds("document.querySelector('.overlay .tile.blocked .change').textContent === 'others 0 · 0 %'", "has none of them in the rest")
		b.holds(fmt.Sprintf("document.querySelector('.overlay .tile.requests .change').textContent.replaceAll(',', '') === 'others %d'", 3000-blocked), "has the rest")
	})
	walk("two filters on each other", func(t *testing.T, b *tab, s *served) {
		var compared atomic.Int32
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/data/diff") {
				compared.Add(1)
			}
			return false
		})
		b.open(`#/compare?f=country="Germany"&f2=country="France"&t=` + demoDay)
		b.sees("Both sides over time")
		for i, country := range []string{"France", "Germany"} {
			n := requests(t, s, fmt.Sprintf("timestamp between 2026-01-01 and 2026-01-02, country=%q", country))
			b.holds(fmt.Sprintf("((e) => e.innerText.includes(%q) && e.querySelector('b').textContent.replaceAll(',', '') === '%d')"+
				"(document.querySelectorAll('.overlay .series li')[%d])", country, n, i), "has the requests of "+country)
		}
		if n := compared.Load(); n > 0 {
			t.Errorf("the difference was asked for %d times", n)
		}
		b.fill("#other", "blocked is true")
		b.run(chromedp.Evaluate("document.querySelector('#other').form.requestSubmit()", nil))
		b.holds("location.hash.includes('f2=blocked+is+true')", "has the other filter in its address")
		b.holds("document.querySelector('.overlay .series').innerText.includes('blocked is true')", "draws it")
		b.accessible("two filters")
		b.click(".sides button", "the period before")
		b.holds("!location.hash.includes('f2=')", "compares periods again")
		b.sees("These")
	})
	walk("another filter with mistakes", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 400"}
		b.open(`#/compare?f2=hots="shop.example"&t=` + demoDay)
		b.holds("document.querySelector('.overlay')?.innerText.includes('unknown field')", "has the mistake")
	})
	walk("the other charts are accessible, at all widths", func(t *testing.T, b *tab, s *served) {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{360, 768, 1280} {
				b := newTab(t, browser, s.url, width, scheme)
				for name, at := range map[string]string{
					"status": "#/?chart=status", "latency": "#/?chart=latency&sort=requests", "before": "#/compare?x=",
					"filters": `#/compare?f=country="Germany"&f2=blocked+is+true`,
				} {
					b.open(at + "&t=" + hours)
					b.holds("document.querySelector('.lines .u-over')", "has the chart")
					b.screenshot(fmt.Sprintf("lines-%s-%s-%d", name, scheme, width))
					b.accessible(name)
					if value[bool](b, "document.documentElement.scrollWidth > innerWidth") {
						t.Errorf("%s is wider than the window of %d", name, width)
					}
				}
				b.check()
			}
		}
	})
}

// costly makes the estimate of an answer one of a heavy question.
func costly(meta map[string]any) {
	meta["estimate"].(map[string]any)["cost_usd"] = map[string]any{"low": 1.5, "high": 2}
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
