package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// mixedLog has requests that some conditions and figures count differently: by another origin, another flag or a reason.
func mixedLog() string {
	var log strings.Builder
	for i, members := range []string{
		`"upstream_status":[502,200],"result":"Passed"`, `"upstream_status":[200,502]`, `"upstream_status":[404]`,
		`"monitor_reasons":["Monitor - acl Deny [\"all\"] - acl1 - [request]"]`, `"monitor":true`,
		`"challenge":true,"result":"Passed"`, `"ichallenge":true,"result":"Challenged"`, `"challenge":true,"result":"Challenged"`,
		`"blocked":true,"result":"Blocked"`, `"human":true,"blocked":false`, `"human":false`, `"status":200`, `"upstream_status":[]`,
	} {
		fmt.Fprintf(&log, `{"processing_stage":6,"timestamp":"2026-01-01T10:00:%02dZ","ip":"192.0.2.1",%s}`+"\n", i, members)
	}
	return log.String()
}

// numberOf is the figure of a tile.
func numberOf(name string) string {
	return fmt.Sprintf("Number(document.querySelector('.tile.%s .number')?.firstChild.textContent.replaceAll(',', ''))", name)
}

// TestFigures compares what figures count with what their links show.
func TestFigures(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serveLog(t, mixedLog()).address)

	for name, want := range map[string]int{"blocked": 1, "challenged": 2, "monitored": 1, "human": 1, "refused": 3} {
		walk("the link of the tile "+name+" shows as many requests as the tile counts", func(t *testing.T, b *tab, s *served) {
			b.open("#/?t=" + demoDay)
			b.holds(numberOf("requests")+" === 13", "has all requests")
			b.holds(numberOf(name)+" >= 0", "has the figure")
			if n := value[int](b, numberOf(name)); n != want {
				t.Errorf("the tile has %d, want %d", n, want)
			}
			b.click(".tile."+name, "")
			b.holds("document.querySelector('#filter').value !== ''", "has the condition of the tile")
			b.holds(fmt.Sprintf("%s !== 13 && !document.querySelector('[aria-busy=true]')", numberOf("requests")), "has the answer")
			if n := value[int](b, numberOf("requests")); n != want {
				t.Errorf("the condition %s has %d requests, want %d", value[string](b, "document.querySelector('#filter').value"), n, want)
			}
		})
	}
	walk("a comparison has the figures of the dashboard", func(t *testing.T, b *tab, s *served) {
		b.open("#/compare?vs=1d&t=" + demoDay)
		b.sees("Both sides over time")
		for name, want := range map[string]int{"requests": 13, "blocked": 1, "challenged": 2, "human": 1, "refused": 3} {
			if n := b.figure(name); n != want {
				t.Errorf("the tile %s has %d, want %d", name, n, want)
			}
		}
		b.open(`#/compare?f=status=200&f2=upstream_status>=400&t=` + demoDay)
		b.holds("document.querySelector('.overlay .tile.refused .change')?.textContent === 'other 3 · 100 %'", "has no part of more than all")
	})
	walk("the busiest reasons have those of monitored requests", func(t *testing.T, b *tab, s *served) {
		const reason = `Monitor - acl Deny ["all"] - acl1 - [request]`
		b.open("#/?sort=requests&t=" + demoDay)
		b.holds(fmt.Sprintf("[...document.querySelectorAll('.list .value button')].some((e) => e.title === %q)", reason), "has the reason")
		b.evaluate(fmt.Sprintf("[...document.querySelectorAll('.list .value button')].find((e) => e.title === %q).click()", reason))
		b.click("[role=menuitem]", "Only")
		b.holds("document.querySelector('#filter').value.startsWith('monitor_reasons=')", "has the condition")
		b.holds(numberOf("requests")+" === 1", "has the request")
	})
	for _, field := range []string{"upstream_status", "human", "monitor", "status", "result"} {
		walk("requests without a value of "+field+" are found", func(t *testing.T, b *tab, s *served) {
			b.open("#/events?panel=facets&by=" + field + "&t=" + demoDay)
			b.holds("document.querySelector('.facet p .count')", "has requests without a value")
			n := value[int](b, "Number(document.querySelector('.facet p .count').textContent.split(' ')[0])")
			b.click(".facet .link", "without a value")
			b.sees("No request has this field")
			b.sees(fmt.Sprintf("all %d shown", n))
		})
	}
}

// questions notes what is asked about requests, and what only has to be estimated.
type questions struct {
	mu               sync.Mutex
	asked, estimated map[string]bool
}

func (q *questions) note(t *testing.T, r *http.Request) {
	body := bodyOf(t, r)
	if body["filters"] == nil || strings.HasSuffix(r.URL.Path, "/parse") {
		return
	}
	dry := body["dry_run"] == true
	delete(body, "dry_run")
	text, err := json.Marshal(body)
	if err != nil {
		t.Error(err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if dry {
		q.estimated[r.URL.Path+" "+string(text)] = true
	} else {
		q.asked[r.URL.Path+" "+string(text)] = true
	}
}

// TestPrices walks through what is said about the price of questions and the age of answers.
func TestPrices(t *testing.T) {
	browser := chromium(t)
	server := serve(t, "3000")
	walk := walker(t, browser, server.address)
	reference := firstRecord(t, server, "blocked is true")["record_ref"].(string)

	for screen, address := range map[string]string{
		"dashboard": "#/?f=human+is+true&t=", "events": "#/events?cols=timestamp,status&t=", "record": "#/events/" + reference + "?t=",
		"comparison": "#/compare?where=blocked+is+true&by=country&t=",
	} {
		walk("the explanation has the questions of the "+screen, func(t *testing.T, b *tab, s *served) {
			q := &questions{asked: map[string]bool{}, estimated: map[string]bool{}}
			s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
				q.note(t, r)
				return false
			})
			b.open(address + demoDay)
			b.holds("document.querySelector('.lists, .event, .findings')", "has the screen")
			if screen == "record" {
				b.holds("document.querySelector('.evidence li')", "has the evidence")
			}
			b.answered()
			q.mu.Lock()
			clear(q.estimated)
			q.mu.Unlock()
			b.run(chromedp.Evaluate("document.activeElement.blur()", nil))
			b.keys("x")
			b.holds("document.querySelector('.explain tbody tr')", "has the explanation")
			q.mu.Lock()
			asked, estimated := slices.Sorted(maps.Keys(q.asked)), slices.Sorted(maps.Keys(q.estimated))
			q.mu.Unlock()
			if !slices.Equal(asked, estimated) || len(asked) == 0 {
				t.Errorf("the screen asks\n%s\nand the explanation is about\n%s", strings.Join(asked, "\n"), strings.Join(estimated, "\n"))
			}
		})
	}
	heavy := func(meta map[string]any) {
		meta["estimate"].(map[string]any)["cost_usd"] = map[string]any{"low": 1.5, "high": 2}
	}
	walk("figures of an earlier question are dimmed while the present one waits", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has the top values")
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			body := bodyOf(t, r)
			return body["dry_run"] == true && changed(t, s, w, r, body, heavy)
		})
		b.keys("[")
		b.sees("This is a heavy question")
		b.sees("What is shown below is an earlier answer")
		b.holds("document.querySelector('.tiles.old') && document.querySelectorAll('.answer.old').length === 2", "dims all of it")
		b.accessible("old answer")
		b.screenshot("old-answer")
		s.answer(nil)
		b.click("button", "Run it")
		b.holds("!document.querySelector('.old, .trouble.held')", "has the answer")
	})
	walk("a question of unknown size waits if its period is longer than a day", func(t *testing.T, b *tab, s *served) {
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			body := bodyOf(t, r)
			return body["dry_run"] == true && changed(t, s, w, r, body, func(meta map[string]any) {
				estimate := meta["estimate"].(map[string]any)
				estimate["bytes"], estimate["wait_ms"] = nil, nil
				delete(estimate, "cost_usd")
			})
		})
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.open("#/events?t=2025-12-31T00:00Z..2026-01-02T00:00Z")
		b.sees("It reads an unknown amount of 24 objects in a period of 2 d.")
		b.click("button", "Run it")
		b.sees("200 of ")
	})
	walk("a question without an estimate waits if its period is long", func(t *testing.T, b *tab, s *served) {
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			body := bodyOf(t, r)
			return body["dry_run"] == true && changed(t, s, w, r, body, func(meta map[string]any) { delete(meta, "estimate") })
		})
		b.open("#/?t=2025-12-01T00:00Z..2026-01-02T00:00Z")
		b.sees("It reads an unknown amount in a period of 32 d.")
	})
	walk("an older page waits if it is heavy, and can be cancelled", func(t *testing.T, b *tab, s *served) {
		var ran atomic.Int32
		held := make(chan struct{})
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			body := bodyOf(t, r)
			if body["cursor"] == nil {
				return false
			}
			if body["dry_run"] == true {
				return changed(t, s, w, r, body, heavy)
			}
			if ran.Add(1) > 1 {
				return false
			}
			select {
			case <-held:
			case <-r.Context().Done():
			}
			return true
		})
		defer close(held)
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.click(".more button", "Load older")
		b.holds("document.querySelector('.more .held')?.textContent.includes('costs $1.50–$2.00')", "has the price")
		if n := ran.Load(); n > 0 {
			t.Errorf("%d pages were asked for", n)
		}
		b.click(".more button", "Run it")
		b.click(".more button", "Cancel")
		b.sees("Cancelled.")
		b.click(".more button", "Ask again")
		b.sees("400 of ")
	})
	walk("the next record is loaded with its page", func(t *testing.T, b *tab, s *served) {
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			body := bodyOf(t, r)
			return body["cursor"] != nil && body["dry_run"] == true && changed(t, s, w, r, body, heavy)
		})
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.run(chromedp.Focus(".rows"))
		b.keys(kb.End)
		b.enter()
		b.holds("document.querySelector('.record .why')", "shows the last record")
		before := value[string](b, "location.hash")
		b.answered()
		b.keys("j")
		b.click(".record button", "Run it")
		b.holds(fmt.Sprintf("location.hash !== %q && document.querySelector('.record .why')", before), "goes on when it is there")
	})
	walk("a chart has its zone and the length of its segments", func(t *testing.T, b *tab, s *served) {
		b.open("#/?tz=Europe/Berlin&t=" + demoDay)
		b.sees("each 5 min, Europe/Berlin")
		b.holds("document.querySelector('.chart figcaption').textContent.includes('segments of 5 min; peak')", "has the length in its summary")
		b.holds("document.querySelector('.chart figcaption').textContent.includes('Times are of Europe/Berlin.')", "has the zone in its summary")
	})
	walk("a catalogue that comes late uncovers what is not sensitive", func(t *testing.T, b *tab, s *served) {
		held := make(chan struct{})
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/data/fields") {
				<-held
			}
			return false
		})
		b.open("#/events/" + reference + "?t=" + demoDay)
		const method = "[...document.querySelectorAll('.leaf')].find((e) => e.querySelector('dt').textContent === 'method')" +
			"?.querySelector('dd').innerText"
		b.holds(method+".startsWith('••••••')", "hides everything at first")
		close(held)
		b.holds("/^(GET|POST|PUT|DELETE|HEAD)/.test("+method+")", "shows the method")
	})
}
