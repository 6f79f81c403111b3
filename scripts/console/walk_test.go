package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestConsole walks through every screen and state against a running server. No walk may violate the policy of the page,
// write an error to the console of the browser, or send a request to another host.
func TestConsole(t *testing.T) {
	browser := chromium(t)
	server := serve(t, "3000")
	walk := func(name string, run func(t *testing.T, b *tab, s *served)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := behind(t, server.address)
			b := newTab(t, browser, s.url, 1280, "light")
			run(t, b, s)
			b.check()
		})
	}

	walk("the first visit leads to the newest day of the data", func(t *testing.T, b *tab, s *served) {
		b.open("")
		b.sees("Requests over time")
		if at := b.fragment(); !strings.Contains(at, "t="+demoDay) {
			t.Errorf("the address is %s", at)
		}
		if n := value[string](b, "document.querySelector('.tile.requests .number').textContent"); n != "3,000" {
			t.Errorf("%s requests, want 3,000", n)
		}
	})
	walk("a tile adds its condition, and Back takes it away", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.click(".tile.blocked", "Blocked")
		b.holds("location.hash.includes('blocked+is+true')", "has the condition in its address")
		b.holds("document.querySelector('#filter').value === 'blocked is true'", "has the condition in the bar")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.holds("document.querySelector('#filter').value === ''", "has an empty bar again")
		b.holds("document.querySelector('.tile.requests .number').textContent === '3,000'", "has all requests again")
	})
	walk("only and without by the menu of a value", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.click(".list .value button", "Germany")
		b.holds("document.activeElement.role === 'menuitem'", "has the focus in the menu")
		b.keys(kb.ArrowDown + kb.Enter)
		b.holds(`document.querySelector('#filter').value === 'country!="Germany"'`, "is without Germany")
		b.holds("document.querySelectorAll('.list')[0].innerText.includes('France')", "has the others")
		b.click(".list .value button", "France")
		b.click("[role=menuitem]", "Only")
		b.holds(`document.querySelector('#filter').value === 'country!="Germany", country="France"'`, "keeps only France")
	})
	walk("events by keys: move, keep only, open, next, close", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?t=" + demoDay)
		b.sees("200 shown")
		if n := value[int](b, "document.querySelectorAll('.event').length"); n == 0 || n > 60 {
			t.Errorf("%d rows are drawn", n)
		}
		b.run(chromedp.Focus(".rows"))
		b.keys(kb.ArrowDown + kb.ArrowDown + kb.Enter)
		b.holds("document.querySelector('.record .why')", "shows the record")
		before := b.fragment()
		b.run(chromedp.Evaluate("document.activeElement.blur()", nil))
		b.keys("j")
		b.holds(fmt.Sprintf("decodeURIComponent(location.hash.replaceAll('+', ' ')) !== %q", before), "goes to the next record")
		b.holds("!document.querySelector('[data-cancel]')", "has its answers") // until then, Esc cancels
		b.keys(kb.Escape)
		b.holds("!document.querySelector('.record')", "closes the record")
		b.run(chromedp.Focus(".rows"))
		b.keys(kb.ArrowRight + "+")
		b.holds("document.querySelector('#filter').value.startsWith('result=')", "keeps only the result of the row")
		b.keys(kb.End)
	})
	walk("older events are added until all are shown", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?f=blocked+is+true&t=" + demoDay)
		b.sees("200 shown")
		for range 10 {
			if value[bool](b, "document.body.innerText.includes('all ')") {
				break
			}
			shown := value[string](b, "document.querySelector('.over-rows span').textContent")
			b.click(".more button", "Load older")
			b.holds(fmt.Sprintf("document.querySelector('.over-rows span').textContent !== %q", shown), "adds a page")
		}
		b.sees("all ")
		names := value[int](b, "Number(document.querySelector('.over-rows span').textContent.replace(/[^0-9]/g, ''))")
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		blocked := value[int](b, "Number(document.querySelector('.tile.blocked .number').firstChild.textContent.replace(',', ''))")
		if names != blocked {
			t.Errorf("%d events, and %d blocked requests", names, blocked)
		}
	})
	walk("why a request was blocked, without its secrets", func(t *testing.T, b *tab, s *served) {
		b.open(`#/events?f=reason~"rate+limit",+session~"."&t=` + demoDay)
		b.run(chromedp.Focus(".rows"), chromedp.WaitVisible(".event"))
		b.keys(kb.Enter)
		b.sees("blocked it: the client is over the limit")
		b.sees("The same rule in this period:")
		b.sees("Rate limit")
		b.run(chromedp.Evaluate("document.querySelectorAll('.record details').forEach((d) => { d.open = true; })", nil))
		if shown := b.text(); !strings.Contains(shown, "••••••") {
			t.Error("no secret is masked")
		}
		b.click(".leaf button.small", "Show the value")
		b.sees("Hide the value")
	})
	walk("mistakes are underlined, listed and corrected", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 400"}
		b.open(`#/?f=hots="shop.example",+status>=200&t=` + demoDay)
		b.sees("1 mistake")
		b.sees(`unknown field "hots"`)
		if wrong := value[string](b, "document.querySelector('.wrong').textContent"); wrong != "hots" {
			t.Errorf("%q is underlined", wrong)
		}
		b.click(".mistakes button", "Use the corrected filter")
		b.holds(`document.querySelector('#filter').value.startsWith('host="shop.example"')`, "has the corrected filter")
		b.click(".run", "Run")
		b.sees("Requests over time")
	})
	walk("fields, operators and values are completed", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		b.run(chromedp.Focus("#filter"))
		b.keys("coun")
		b.holds("document.querySelector('[role=option]')?.textContent.startsWith('country')", "offers the field")
		b.keys(kb.Tab)
		b.keys("=")
		b.holds("document.querySelectorAll('[role=option]').length > 1", "offers values")
		b.keys("Germ")
		b.holds("document.querySelector('[role=option]')?.textContent === 'Germany'", "offers the value")
		b.enter()
		b.holds(`document.querySelector('#filter').value === 'country="Germany"'`, "takes the value")
		b.keys(kb.Escape)
		b.enter()
		b.holds("location.hash.includes('Germany')", "runs the filter")
	})
	walk("a pasted filter gives its period to the picker, and JSON becomes a query string", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		b.fill("#filter", `[{"field":"timestamp","op":"between","value":["2026-01-01 10:00","2026-01-01 11:00"]},`+
			`{"field":"blocked","op":"is","value":true}]`)
		b.run(chromedp.Click(".run"))
		b.holds("document.querySelector('#filter').value === 'blocked is true'", "has the query string")
		b.sees("2026-01-01 10:00 – 11:00")
	})
	walk("periods, zones and the share link", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=2026-01-01T10:00Z..2026-01-01T11:00Z")
		b.sees("Requests over time")
		b.keys("[")
		b.sees("2026-01-01 09:00 – 10:00")
		b.keys("z")
		b.sees("2026-01-01 08:30 – 10:30")
		b.keys("t")
		b.fill("#zone", "Europe/Berlin")
		b.sees("2026-01-01 09:30 – 11:30")
		b.keys(kb.Escape)
		b.open("#/?t=30m")
		b.sees("Last 30 minutes")
	})
	walk("a period without records says where they are", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=2026-02-01T10:00Z..2026-02-01T11:00Z")
		b.sees("The newest record is of 2026-01-01 23:59")
		b.click("button", "Go there")
		b.sees("Requests over time")
	})
	walk("a filter without requests can be left out", func(t *testing.T, b *tab, s *served) {
		b.open(`#/events?f=host="nobody.example"&t=` + demoDay)
		b.sees("No requests in this period match the filter")
		b.click("button", "Without the filter")
		b.sees("200 shown")
	})
	walk("a chart is a table, too", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=2026-01-01T10:00Z..2026-01-01T11:00Z")
		b.click(".chart button", "Show as table")
		b.holds("document.querySelectorAll('.numbers tbody tr').length > 30", "shows the segments")
		b.accessible("table")
	})
	walk("the theme is kept", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		b.fill(".top select", "dark")
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		if theme := value[string](b, "getComputedStyle(document.documentElement).colorScheme"); theme != "dark" {
			t.Errorf("the scheme is %s", theme)
		}
		b.run(chromedp.Evaluate("localStorage.clear()", nil))
	})
	walk("under the prefix of a stage", func(t *testing.T, b *tab, s *served) {
		b.base += "/live"
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		b.click(".top .api", "API")
		b.sees("Top values per category")
		b.base = s.url
	})

	walk("a heavy question waits until it is run, also after a reload", func(t *testing.T, b *tab, s *served) {
		var asked atomic.Int32
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			body := bodyOf(t, r)
			if !strings.HasPrefix(r.URL.Path, "/api/") || strings.HasSuffix(r.URL.Path, "/fields") {
				return false
			}
			if body["dry_run"] != true {
				asked.Add(1)
				return false
			}
			return changed(t, s, w, r, body, func(meta map[string]any) {
				meta["estimate"].(map[string]any)["cost_usd"] = map[string]any{"low": 1.5, "high": 2}
			})
		})
		b.open("#/?t=" + demoDay)
		b.sees("This is a heavy question")
		b.sees("$3.00–$4.00")
		if asked.Load() > 0 {
			t.Errorf("%d questions ran by themselves", asked.Load())
		}
		b.click("button", "Run it")
		b.sees("Requests over time")
		b.run(chromedp.Reload())
		b.sees("This is a heavy question")
	})
	walk("a query that outlives its request is followed", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 504"}
		var polls atomic.Int32
		held := make(chan struct{})
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case strings.HasSuffix(r.URL.Path, "/data/topx") && bodyOf(t, r)["dry_run"] != true:
				w.Header().Set("Location", "queries/abc")
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusGatewayTimeout)
			case strings.HasSuffix(r.URL.Path, "/data/queries/abc"):
				polls.Add(1)
				select {
				case <-held:
					r.URL.Path, r.Method = "/api/v4.0/data/topx", http.MethodGet
					r.URL.RawQuery = "filters=timestamp+between+2026-01-01+and+2026-01-02&limit=2"
					return false
				default:
					w.Header().Set("Retry-After", "0")
					w.WriteHeader(http.StatusAccepted)
				}
			default:
				return false
			}
			return true
		})
		b.open("#/?t=" + demoDay)
		b.sees("The query has been running")
		close(held)
		b.sees("Requests over time")
		if polls.Load() == 0 {
			t.Error("nothing asked for the answer")
		}
	})
	walk("a busy service is asked again by itself", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 503"}
		var refused atomic.Bool
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/data/topx") || bodyOf(t, r)["dry_run"] == true || refused.Swap(true) {
				return false
			}
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		})
		b.open("#/?t=" + demoDay)
		b.sees("The service is busy")
		b.sees("Requests over time")
	})
	walk("an error has its request id, and the question can be asked again", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 500"}
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/data/logs") {
				return false
			}
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"code":500,"message":"something went wrong on our side","request_id":"id-of-the-request"}`)
			return true
		})
		b.open("#/events?t=" + demoDay)
		b.sees("id-of-the-request")
		s.answer(nil)
		b.click("button", "Ask again")
		b.sees("200 shown")
	})
	walk("a server that is gone", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"ERR_"}
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		s.answer(func(w http.ResponseWriter, r *http.Request) bool { panic(http.ErrAbortHandler) })
		b.click(".run", "Run")
		b.sees("The server does not answer")
		b.sees("Requests over time")
		s.answer(nil)
		b.click("button", "Ask again")
		b.holds("!document.querySelector('.trouble')", "has the new answer")
	})
	walk("what is missing in an answer is said beside it", func(t *testing.T, b *tab, s *served) {
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/data/logs") {
				return false
			}
			return changed(t, s, w, r, bodyOf(t, r), func(meta map[string]any) {
				meta["skipped"] = []string{"fresh/2026/01/01/10/a.parquet"}
				meta["truncated"] = map[string]string{"reason": "bytes"}
				meta["cached"] = map[string]int{"age_seconds": 40}
			})
		})
		b.open("#/events?t=" + demoDay)
		b.sees("1 object could not be read")
		b.sees("the answer was too large and was cut")
		b.sees("answer of 40 s ago")
	})
}

// TestConsoleWithKeys enters a key, which stays in the tab.
func TestConsoleWithKeys(t *testing.T) {
	browser := chromium(t)
	s := serve(t, "", "--api-key", "the-key-of-the-test")
	b := newTab(t, browser, s.url, 1280, "light")
	b.allowed = []string{"status of 401"}
	b.open("#/events")
	b.sees("This server needs an API key")
	b.accessible("key")
	b.run(chromedp.SendKeys("#key", "wrong"+kb.Enter))
	b.sees("The server does not know this key")
	b.fill("#key", "the-key-of-the-test")
	b.click("button", "Use the key")
	b.sees("There is no data yet")
	if kept := value[string](b, "JSON.stringify([localStorage, document.cookie])"); strings.Contains(kept, "the-key") {
		t.Errorf("the key is kept beyond the tab: %s", kept)
	}
	b.run(chromedp.Reload())
	b.sees("There is no data yet")
	b.click("button", "Forget the key")
	b.sees("This server needs an API key")
	b.check()
}

// TestConsoleIsAccessible checks every screen with axe-core in both themes and three widths, and what opens above
// them in two.
func TestConsoleIsAccessible(t *testing.T) {
	browser := chromium(t)
	s := serve(t, "3000")
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 768, 1280} {
			t.Run(fmt.Sprint(scheme, " ", width), func(t *testing.T) {
				t.Parallel()
				b := newTab(t, browser, s.url, width, scheme)
				check := func(name string) {
					t.Helper()
					b.screenshot(fmt.Sprintf("%s-%s-%d", name, scheme, width))
					b.accessible(name)
					if value[bool](b, "document.documentElement.scrollWidth > innerWidth") {
						t.Errorf("%s is wider than the window", name)
					}
				}
				b.open("#/?t=" + demoDay)
				b.sees("Requests over time")
				check("dashboard")
				b.open("#/events?f=blocked+is+true&t=" + demoDay)
				b.run(chromedp.WaitVisible(".event"))
				check("events")
				b.run(chromedp.Click(".event"))
				b.sees("Is it a false positive?")
				b.holds("document.querySelector('.evidence li')", "has the evidence")
				check("record")
				if width == 768 {
					b.check()
					return // the layout of the rest is that of one of the other widths
				}
				b.open("#/?t=" + demoDay)
				b.sees("Requests over time")
				b.click(".list .value button", "Germany")
				b.holds("document.querySelector('[role=menu]')", "has the menu")
				check("menu")
				b.keys(kb.Escape)
				b.click("#period", "")
				b.holds("document.querySelector('#zone')", "has the picker")
				check("period")
				b.allowed = []string{"status of 400"}
				b.open(`#/?f=hots="shop.example",+status>4OO&t=` + demoDay)
				b.sees("2 mistakes")
				check("mistakes")
				b.open("#/?t=2026-02-01T10:00Z..2026-02-01T11:00Z")
				b.sees("The newest record is of")
				check("nothing")
				b.click("button", "Keyboard shortcuts")
				check("help")
				b.check()
			})
		}
	}
}

// bodyOf returns the JSON body of a request, and leaves the body to be read again.
func bodyOf(t *testing.T, r *http.Request) map[string]any {
	t.Helper()
	if r.Method != http.MethodPost {
		return nil
	}
	text := readAll(t, r)
	var body map[string]any
	if err := json.Unmarshal(text, &body); err != nil {
		t.Errorf("%s: %v", r.URL.Path, err)
	}
	return body
}

// changed answers a request with the answer of the server, whose meta is changed.
func changed(
	t *testing.T, s *served, w http.ResponseWriter, r *http.Request, body map[string]any, change func(meta map[string]any),
) bool {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Error(err)
	}
	recorder := httptest.NewRecorder()
	direct := httptest.NewRequest(http.MethodPost, r.URL.Path, strings.NewReader(string(text)))
	direct.Host = "localhost"
	direct.Header.Set("Content-Type", "application/json")
	s.direct.ServeHTTP(recorder, direct)
	var answer struct {
		Data any            `json:"data"`
		Meta map[string]any `json:"meta"`
	}
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Meta == nil {
		t.Errorf("%s answered %d: %s", r.URL.Path, recorder.Code, recorder.Body)
		return false
	}
	change(answer.Meta)
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		t.Error(err)
	}
	return true
}
