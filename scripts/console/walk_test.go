package main

import (
	"encoding/json"
	"fmt"
	"maps"
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
	walk := walker(t, browser, server.address)

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
		b.sees("200 of ")
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
		b.answered() // until then, Esc cancels
		b.keys(kb.Escape)
		b.holds("!document.querySelector('.record')", "closes the record")
		b.run(chromedp.Focus(".rows"))
		b.keys(kb.ArrowRight + "+")
		b.holds("document.querySelector('#filter').value.startsWith('result=')", "keeps only the result of the row")
		b.keys(kb.End)
	})
	walk("older events are added until all are shown", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?f=blocked+is+true&t=" + demoDay)
		b.sees("200 of ")
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
		b.sees("The same rule: ")
		b.sees("Rate limit")
		b.run(chromedp.Evaluate("document.querySelectorAll('.record details').forEach((d) => { d.open = true; })", nil))
		b.sees("••••••")
		b.click(".leaf button.small", "Show the value")
		b.sees("Hide the value")
	})
	walk("sensitive values are neither shown nor copied until they are asked for", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `reason~"^Block - content filter \\[", query~"=....", session~"."`)
		secrets := secretsOf(record)
		if len(secrets) < 2 {
			t.Fatalf("the record has the secrets %q, which are too few for the test", secrets)
		}
		b.open("#/events/" + record["record_ref"].(string) + "?t=" + demoDay)
		b.sees("Is it a false positive?")
		b.holds("document.querySelector('.evidence li')", "has the evidence")
		b.run(chromedp.Evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text; }`, nil))
		leaks := func(what, text string) {
			t.Helper()
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					t.Errorf("%s has the secret %q:\n%s", what, secret, text)
				}
			}
		}
		leaks("the page", value[string](b, "document.querySelector('.record').outerHTML"))
		copyAs := func(name string) {
			t.Helper()
			b.click(".record button", "Copy as…")
			b.click("[role=menuitem]", name)
		}
		for _, name := range []string{"Copy as JSON", "Copy as curl"} {
			b.run(chromedp.Evaluate("window.copied = ''", nil))
			copyAs(name)
			b.holds("window.copied", "has copied")
			leaks(name, value[string](b, "window.copied"))
		}
		b.click(".record button", "Show hidden values")
		quoted, err := json.Marshal(record["session"])
		if err != nil {
			t.Fatal(err)
		}
		b.holds(fmt.Sprintf("document.querySelector('.record').innerText.includes(%s)", quoted), "shows the session")
		copyAs("secrets included")
		b.holds(fmt.Sprintf("window.copied.includes(%q)", strings.TrimPrefix(record["query"].(string), "?")), "copies the query")
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
		b.allowed = []string{"status of 400"} // on a slow machine, half a filter is checked
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
		b.click(".run", "Run")
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
		b.sees("200 of ")
	})
	walk("another zone in the picker leaves the instants", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=2026-01-01T10:00Z..2026-01-01T11:00Z")
		b.sees("Requests over time")
		b.click("#period", "")
		b.fill("#zone", "Europe/Berlin")
		b.holds("document.querySelector('.ends input').value === '2026-01-01 11:00'", "has the time of the zone")
		b.click(".panel .primary", "Apply")
		b.holds("!document.querySelector('.panel')", "has closed the picker")
		if at := b.fragment(); !strings.Contains(at, "t=2026-01-01T10:00Z..2026-01-01T11:00Z") {
			t.Errorf("the address is %s", at)
		}
	})
	walk("a pasted relative period goes to the picker", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		b.fill("#filter", "timestamp between now-3h and now, status=200")
		b.click(".run", "Run")
		b.holds("document.querySelector('#filter').value === 'status=200'", "has the filter without the period")
		b.sees("Last 3 hours")
	})
	walk("the segments of a chart are announced", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.run(chromedp.WaitVisible(".plot"), chromedp.Focus(".plot"))
		b.keys(kb.ArrowRight + kb.ArrowRight)
		b.holds("/2026-01-01 00:05: .*requests [0-9]+, challenged [0-9]+, blocked [0-9]+/.test("+
			"document.querySelector('.chart [role=status]').textContent)", "announces the second segment of five minutes")
	})
	walk("the evidence is of the same host and period, and challenged requests have not passed", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `blocked is true, host~"."`)
		var paths atomic.Int32
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			body := bodyOf(t, r)
			if !strings.HasSuffix(r.URL.Path, "/facets") || body["dry_run"] == true {
				return false
			}
			if filters := body["filters"].(string); strings.Contains(filters, "path=") {
				paths.Add(1)
				if !strings.Contains(filters, fmt.Sprintf("host=%q", record["host"])) {
					t.Errorf("the filter of the path is %s", filters)
				}
			}
			fmt.Fprint(w, `{"data":{"results":[{"by":"blocked","distinct":2,"values":[
				{"value":false,"num_of_requests":8,"num_of_challenges":3},{"value":true,"num_of_requests":2,"num_of_challenges":0}]}]},
				"meta":{"num_of_requests":10,"engine":"scan","bytes_scanned":1,"elapsed_ms":1,"newest":null,"complete_through":null,
				"period":{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}}}`)
			return true
		})
		b.open("#/events/" + record["record_ref"].(string) + "?t=2026-01-02T00:00Z..2026-01-02T01:00Z")
		b.sees("The same path of the host: 10 requests, 50 % of them passed.")
		b.sees("2026-01-01") // the day around the record, because it is not in the period of the page
		if paths.Load() != 1 {
			t.Errorf("%d questions about the path", paths.Load())
		}
	})
	walk("live puts new events above the list, or lets them wait while somebody reads", func(t *testing.T, b *tab, s *served) {
		var polls atomic.Int32
		var arrives atomic.Bool
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/logs") && !strings.HasSuffix(r.URL.Path, "/timeline") {
				return false
			}
			body := bodyOf(t, r)
			if since, polled := body["since"]; polled {
				n, results := polls.Add(1), ""
				if arrives.Swap(false) {
					results = fmt.Sprintf(`{"timestamp":"2026-01-02T00:00:00Z","record_ref":"new-%d","result":"Passed","host":"new","path":"/new-%d"}`, n, n)
				}
				if n > 1 && since != fmt.Sprint("head-", n-1) {
					t.Errorf("the question %d begins at %v", n, since)
				}
				fmt.Fprintf(w, `{"data":{"results":[%s]},"meta":{"head":"head-%d","next":null,"engine":"scan","bytes_scanned":1000,
					"elapsed_ms":1,"period":{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"},"newest":null,"complete_through":null}}`, results, n)
				return true
			}
			body["filters"] = "timestamp between 2026-01-01 and 2026-01-02" // the period that ends now has no data
			return changed(t, s, w, r, body, func(map[string]any) {})
		})
		b.open("#/events?t=30m&live=1")
		b.sees("200 of ")
		arrives.Store(true)
		b.holds("document.querySelector('.event').innerText.includes('/new-')", "has the new event on top")
		b.run(chromedp.Evaluate("document.querySelector('.rows').scrollTop = 600", nil))
		arrives.Store(true)
		b.sees("1 new – show")
		b.click("button", "1 new")
		b.holds("document.querySelectorAll('.event')[1].innerText.includes('/new-')", "has both above the list")
		b.fill(".over-rows select", "0")
		b.holds("!location.hash.includes('live')", "has stopped")
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
		b.run(chromedp.Reload())
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
		b.sees("$10.50–$14.00") // of seven questions
		if asked.Load() > 0 {
			t.Errorf("%d questions ran by themselves", asked.Load())
		}
		b.click("button", "Run it")
		b.sees("Requests over time")
		b.run(chromedp.Reload())
		b.sees("This is a heavy question")
	})
	for _, heavy := range []string{"timeline", "facets", "topx"} {
		walk("a dashboard waits if only its "+heavy+" is heavy", func(t *testing.T, b *tab, s *served) {
			var asked atomic.Int32
			s.answer(func(w http.ResponseWriter, r *http.Request) bool {
				body := bodyOf(t, r)
				if body["filters"] == nil || strings.HasSuffix(r.URL.Path, "/parse") {
					return false
				}
				if body["dry_run"] != true {
					asked.Add(1)
					return false
				}
				return strings.HasSuffix(r.URL.Path, "/"+heavy) && changed(t, s, w, r, body, func(meta map[string]any) {
					meta["estimate"].(map[string]any)["bytes"] = map[string]any{"low": 1, "high": 2e9}
				})
			})
			b.open("#/?t=" + demoDay)
			b.sees("This is a heavy question")
			if asked.Load() > 0 {
				t.Errorf("%d questions ran by themselves", asked.Load())
			}
		})
	}
	for _, failing := range []struct{ route, kept string }{
		{"topx", "document.querySelector('.tile.requests .number').textContent === '3,000' && document.querySelector('.plot')"},
		{"timeline", "document.querySelectorAll('.list tbody tr').length > 20"},
		{"facets", "document.querySelector('.tile.requests .number').textContent === '3,000' && document.querySelector('.plot') && " +
			"document.querySelector('.tile.clients .number').textContent === '–' && document.querySelectorAll('.list').length > 5"},
	} {
		walk("a dashboard without its "+failing.route+" has the rest", func(t *testing.T, b *tab, s *served) {
			b.allowed = []string{"status of 500"}
			s.answer(func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/"+failing.route) || bodyOf(t, r)["dry_run"] == true {
					return false
				}
				w.WriteHeader(http.StatusInternalServerError)
				fmt.Fprint(w, `{"code":500,"message":"something went wrong on our side","request_id":"id-of-the-request"}`)
				return true
			})
			b.open("#/?t=" + demoDay)
			b.sees("id-of-the-request")
			b.holds(failing.kept, "has the rest")
			s.answer(nil)
			for range 2 { // figures of several questions are asked for again together
				if value[bool](b, "!!document.querySelector('.trouble')") {
					b.run(chromedp.Evaluate("document.querySelector('.trouble button').click()", nil))
					b.answered()
				}
			}
			b.holds("!document.querySelector('.trouble')", "has everything")
		})
	}
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
		seen := make(chan struct{})
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !isQuestion(t, r, "topx") {
				return false
			}
			if refused.Swap(true) {
				wait(r, seen)
				return false
			}
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		})
		b.open("#/?t=" + demoDay)
		b.sees("The service is busy")
		close(seen)
		b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has the answer")
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
		b.sees("200 of ")
	})
	walk("a server that is gone", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"ERR_"}
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		b.answered()
		b.evaluate(endlessPauses) // it would ask by itself
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

// TestConsoleOfAnAccessLog walks through records that have no request ids, and of which several have the same time.
func TestConsoleOfAnAccessLog(t *testing.T) {
	browser := chromium(t)
	var log strings.Builder
	for i := range 210 { // more than a page
		fmt.Fprintf(&log, "192.0.2.%d - - [01/Jan/2026:10:00:%02d +0000] \"GET /page/%d HTTP/1.1\" 200 5 \"-\" \"test\"\n", i, i/100, i)
	}
	s := serveLog(t, log.String())
	b := newTab(t, browser, s.url, 1280, "light")
	b.open("#/events?t=2026-01-01T10:00Z..2026-01-01T11:00Z")
	b.sees("200 of ")
	b.run(chromedp.Focus(".rows"))
	b.enter()
	b.holds("document.querySelector('.record .line-of-request')?.textContent.includes('/page/209')", "shows the newest record")
	b.keys("j")
	b.holds("document.querySelector('.record .line-of-request').textContent.includes('/page/208')", "goes to the next record")
	b.run(chromedp.Evaluate("document.activeElement.blur()", nil))
	b.keys("j")
	b.holds("document.querySelector('.record .line-of-request').textContent.includes('/page/207')", "goes on")
	b.keys("k")
	b.holds("document.querySelector('.record .line-of-request').textContent.includes('/page/208')", "goes back")
	b.run(chromedp.Reload())
	b.holds("document.querySelector('.record .line-of-request')?.textContent.includes('/page/208')", "shows the same after a reload")
	b.answered() // until then, Esc cancels
	b.keys(kb.Escape)
	b.run(chromedp.Focus(".rows"))
	b.keys(kb.End)
	b.enter()
	b.holds("document.querySelector('.record .line-of-request')?.textContent.endsWith('/page/10')", "shows the last loaded record")
	b.keys("j")
	b.holds("document.querySelector('.record .line-of-request').textContent.endsWith('/page/9')", "loads the next page")
	b.check()
}

// TestConsoleWithKeys enters a key, which stays in the tab.
func TestConsoleWithKeys(t *testing.T) {
	browser := chromium(t)
	s := serve(t, "3000", "--api-key", "the-key-of-the-test")
	b := newTab(t, browser, s.url, 1280, "light")
	b.allowed = []string{"status of 401"}
	b.open("#/events")
	b.sees("This server needs an API key")
	b.accessible("key")
	b.run(chromedp.SendKeys("#key", "wrong"+kb.Enter))
	b.sees("The server does not know this key")
	b.fill("#key", "Bearer the-key-of-the-test ")
	b.click("button", "Use the key")
	b.sees("200 of ")
	if kept := value[string](b, "JSON.stringify(sessionStorage)"); kept != `{"orrery.key":"the-key-of-the-test"}` {
		t.Errorf("the tab keeps %s", kept)
	}
	if kept := value[string](b, "JSON.stringify([localStorage, document.cookie])"); strings.Contains(kept, "the-key") {
		t.Errorf("the key is kept beyond the tab: %s", kept)
	}
	b.run(chromedp.Reload())
	b.sees("200 of ")
	b.run(chromedp.Evaluate(`sessionStorage.setItem("orrery.planet.prod", "{}")`, nil)) // a draft
	b.click("button", "Forget the key")
	b.sees("This server needs an API key")
	if value[bool](b, "document.querySelector('.event') !== null") {
		t.Error("the page still has the answers to the key")
	}
	if kept := value[string](b, "JSON.stringify([sessionStorage, localStorage])"); kept != "[{},{}]" {
		t.Errorf("the browser still keeps %s", kept)
	}
	b.check()
}

// TestConsoleIsAccessible checks every screen with axe-core in both themes and four widths, and what opens above
// them in two.
func TestConsoleIsAccessible(t *testing.T) {
	browser := chromium(t)
	s := serve(t, "3000")
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 768, 1280, 1920} {
			if testing.Short() && (scheme == "light") != (width == 360 || width == 1920) {
				continue // each theme and each width once
			}
			t.Run(fmt.Sprint(scheme, " ", width), func(t *testing.T) {
				t.Parallel()
				b := newTab(t, browser, s.url, width, scheme)
				check := func(name string) {
					t.Helper()
					b.screenshot(fmt.Sprintf("%s-%s-%d", name, scheme, width))
					b.accessible(name)
					if value[bool](b, "document.documentElement.scrollWidth > document.documentElement.clientWidth") {
						t.Errorf("%s is wider than the window", name)
					}
				}
				b.open("#/?t=" + demoDay)
				b.sees("Requests over time")
				check("dashboard")
				b.open("#/events?f=blocked+is+true&t=" + demoDay)
				b.run(chromedp.WaitVisible(".event"))
				check("events")
				b.click(".event", "")
				b.sees("Is it a false positive?")
				b.holds("document.querySelector('.evidence li')", "has the evidence")
				check("record")
				b.open("#/status")
				b.sees("What it allows")
				check("status")
				b.open("#/compare?where=blocked+is+true&t=" + demoDay)
				b.sees("What differs")
				check("compare")
				b.open("#/planets/prod")
				b.sees("Planet of prod")
				check("planets")
				if width == 768 || width == 1920 {
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
				b.holds("document.querySelector('dialog[open]')", "has the list of keys")
				check("help")
				b.keys(kb.Escape)
				b.holds("!document.querySelector('dialog')", "has closed the list of keys")
				b.check()
			})
		}
	}
}

// firstRecord returns the newest record that matches conditions, with its reference.
func firstRecord(t *testing.T, s *served, conditions string) map[string]any {
	t.Helper()
	ask := func(fields ...string) map[string]any {
		t.Helper()
		question := map[string]any{"filters": "timestamp between 2026-01-01 and 2026-01-02, " + conditions, "limit": 1}
		if fields != nil {
			question["fields"] = fields
		}
		text, err := json.Marshal(question)
		if err != nil {
			t.Fatal(err)
		}
		recorder := httptest.NewRecorder()
		request := httptest.NewRequest(http.MethodPost, "/api/v4.0/data/logs", strings.NewReader(string(text)))
		request.Host = "localhost"
		request.Header.Set("Content-Type", "application/json")
		s.direct.ServeHTTP(recorder, request)
		var answer struct {
			Data struct{ Results []map[string]any }
		}
		if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || len(answer.Data.Results) != 1 {
			t.Fatalf("no record matches %s: %s", conditions, recorder.Body)
		}
		return answer.Data.Results[0]
	}
	record := ask()
	maps.Copy(record, ask("record_ref"))
	return record
}

// secretsOf returns values of a record that its copies must not have. Short ones could be in it by chance.
func secretsOf(record map[string]any) []string {
	var secrets []string
	add := func(value any) {
		if text, ok := value.(string); ok && len(text) > 5 {
			secrets = append(secrets, text)
		}
	}
	add(record["session"])
	for _, name := range []string{"cookies", "arguments"} {
		members, _ := record[name].(map[string]any)
		for _, value := range members {
			add(value)
		}
	}
	trigger, _ := record["cf_triggers"].(map[string]any)
	add(trigger["value"])
	return secrets
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
