package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// refuse answers with an error of the API.
func refuse(w http.ResponseWriter, status int, message string) bool {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"code":%d,"message":%q,"request_id":"id-of-the-request"}`, status, message)
	return true
}

// isQuestion reports whether a request is a question to a data route, and not only for an estimate.
func isQuestion(t *testing.T, r *http.Request, route string) bool {
	t.Helper()
	return strings.HasSuffix(r.URL.Path, "/data/"+route) && bodyOf(t, r)["dry_run"] != true
}

// longQuery is a query to a route that outlives its requests until it is released.
type longQuery struct {
	route     string
	status    int           // of the response to the question
	asked     atomic.Int32  // questions, without those for estimates
	polled    atomic.Int32  // questions about the answer
	cancelled chan struct{} // closed when the query is cancelled
	released  chan struct{} // closed to let it end

	mu      sync.Mutex
	filters []string // of all questions about a timeline
}

func newLongQuery(route string) *longQuery {
	return &longQuery{route: route, status: http.StatusGatewayTimeout, cancelled: make(chan struct{}), released: make(chan struct{})}
}

// asOf returns the filters of all questions about a timeline.
func (q *longQuery) asOf() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.filters)
}

// answer answers in place of the server.
func (q *longQuery) answer(t *testing.T) func(w http.ResponseWriter, r *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case isQuestion(t, r, q.route):
			q.asked.Add(1)
			w.Header().Set("Location", "queries/abc")
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(q.status)
			return true
		case isQuestion(t, r, "timeline"):
			q.mu.Lock()
			q.filters = append(q.filters, bodyOf(t, r)["filters"].(string))
			q.mu.Unlock()
			return false
		case !strings.HasSuffix(r.URL.Path, "/data/queries/abc"):
			return false
		case r.Method == http.MethodDelete:
			close(q.cancelled)
			w.WriteHeader(http.StatusNoContent)
			return true
		}
		q.polled.Add(1)
		select {
		case <-q.released:
			r.URL.Path, r.URL.RawQuery = "/api/v4.0/data/"+q.route, "filters=timestamp+between+2026-01-01+and+2026-01-02&limit=2"
			return false
		default:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusAccepted)
			return true
		}
	}
}

// TestStates walks through the states of a question that the other walks do not reach.
func TestStates(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)

	walk("a first visitor can click a question", func(t *testing.T, b *tab, s *served) {
		b.open("")
		b.sees("Requests over time")
		b.click(".questions button", "Who attacks?")
		b.holds("document.querySelector('#filter').value === 'blocked is true'", "asks the question")
		b.holds("location.hash.includes('t=2026-01-01')", "keeps the period")
	})
	walk("a key that is revoked is asked for again, and the question is kept", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 401"}
		b.open("#/?f=country=Germany&t=" + demoDay)
		b.sees("Requests over time")
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, "/api/") || r.Header.Get("Authorization") == "Bearer the-new-key" {
				return false
			}
			return refuse(w, http.StatusUnauthorized, "an API key is needed")
		})
		b.keys("r")
		b.sees("This server needs an API key")
		b.run(chromedp.SendKeys("#key", "the-new-key"+kb.Enter))
		b.holds("document.querySelector('.tile.requests') && !document.querySelector('.trouble')", "has the answer")
		b.holds("document.querySelector('#filter').value === 'country=Germany'", "has the question")
	})
	walk("what a key may not read is named, and the rest is there", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 403"}
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			return isQuestion(t, r, "topx") && refuse(w, http.StatusForbidden, "the key may not do this")
		})
		b.open("#/?t=" + demoDay)
		b.holds("document.querySelector('.trouble.forbidden')?.textContent.startsWith('Top values: The key does not allow this')", "names the part")
		b.holds("document.querySelector('.tile.requests .number').textContent === '3,000' && document.querySelector('.plot canvas')", "has the rest")
		b.accessible("forbidden")
	})
	walk("the older answer stays while the next is asked for, and Esc cancels its query", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 504"}
		b.open("#/?t=" + demoDay)
		b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has the answer")
		query := newLongQuery("topx")
		s.answer(query.answer(t))
		b.keys("r")
		b.sees("The query has been running")
		b.holds("document.querySelectorAll('.answer.stale .list tbody tr').length > 20", "has the older answer, dimmed")
		b.keys(kb.Escape)
		b.sees("Cancelled.")
		select {
		case <-query.cancelled:
		case <-time.After(patience):
			t.Error("the query goes on")
		}
		s.answer(nil)
		b.click(".progress button", "Ask again")
		b.holds("!document.querySelector('.stale')", "has the new answer")
	})
	walk("a query that is accepted is followed", func(t *testing.T, b *tab, s *served) {
		query := newLongQuery("topx")
		query.status = http.StatusAccepted
		s.answer(query.answer(t))
		b.open("#/?t=" + demoDay)
		b.sees("The query has been running")
		b.holds(numberOf("requests")+" === 3000", "has the other answers")
		close(query.released)
		b.answered()
		b.holds("document.querySelectorAll('.list tbody tr').length > 0", "has its answer")
		if n := query.asked.Load(); n != 1 {
			t.Errorf("it was asked %d times", n)
		}
	})
	walk("after a reload, the page waits on for the same query", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 504"}
		query := newLongQuery("topx")
		s.answer(query.answer(t))
		b.loadAtOnce()
		b.open("#/?f=status=200&t=30m") // without requests, so that nothing leads to another period
		b.sees("The query has been running")
		b.until(func() bool { return len(query.asOf()) == 2 }, "asks for the period and the one before")
		b.holds("Date.now() > performance.timeOrigin + 1500", "shows a later second")
		b.run(chromedp.Reload())
		polled := query.polled.Load()
		b.sees("The query has been running")
		b.until(func() bool { return len(query.asOf()) == 4 && query.polled.Load() > polled }, "asks for all answers again")
		if n := query.asked.Load(); n != 1 {
			t.Errorf("the query was asked %d times", n)
		}
		filters := query.asOf()
		if slices.Sort(filters); len(slices.Compact(filters)) != 2 {
			t.Errorf("the timelines are of %q, want two periods", query.asOf())
		}
		close(query.released)
		b.answered()
		b.holds("sessionStorage.length === 0", "has forgotten the query")
	})
	walk("a question whose query a busy service does not follow after a reload is sent anew", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 504", "status of 429"}
		query := newLongQuery("topx")
		answer := query.answer(t)
		var leaves atomic.Bool
		var held, refused atomic.Int32
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case !strings.HasSuffix(r.URL.Path, "/data/queries/abc") || !leaves.Load() || query.asked.Load() > 1:
				return answer(w, r)
			case held.Add(1) == 1: // of the page before the reload
				<-r.Context().Done()
				return true
			}
			refused.Add(1)
			w.Header().Set("Retry-After", "0")
			return refuse(w, http.StatusTooManyRequests, "too many requests")
		})
		b.loadAtOnce()
		b.open("#/?f=status=200&t=30m")
		b.sees("The query has been running")
		leaves.Store(true)
		b.until(func() bool { return held.Load() == 1 }, "asks about the answer")
		b.run(chromedp.Reload())
		b.until(func() bool { return query.asked.Load() == 2 }, "asks again")
		if n := refused.Load(); n != 2 {
			t.Errorf("the query was refused %d times before it was sent anew, want twice: a busy service is asked again once", n)
		}
		close(query.released)
		b.answered()
		b.holds("!document.querySelector('.trouble.failed')", "has its answers")
	})
	walk("what is asked after a reload is of the present as soon as nothing runs any more", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 504"}
		query := newLongQuery("topx")
		s.answer(query.answer(t))
		b.takeClock()
		b.loadAtOnce()
		b.open("#/?f=status=200&t=30m")
		b.sees("The query has been running")
		b.run(chromedp.Reload())
		b.sees("The query has been running")
		close(query.released)
		b.answered()
		before := query.asOf()
		b.evaluate("pass(60_000)")
		b.keys("r")
		b.until(func() bool { return len(query.asOf()) >= len(before)+2 }, "asks again")
		for _, filters := range query.asOf()[len(before):] {
			if slices.Contains(before, filters) {
				t.Errorf("it asks again about %s", filters)
			}
		}
	})
	walk("a query that has gone meanwhile is asked again", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 504", "status of 404"}
		query := newLongQuery("topx")
		s.answer(query.answer(t))
		b.loadAtOnce()
		b.open("#/?t=" + demoDay)
		b.sees("The query has been running")
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			return strings.HasSuffix(r.URL.Path, "/data/queries/abc") && refuse(w, http.StatusNotFound, "there is no such query")
		})
		b.run(chromedp.Reload())
		b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has the answer")
	})
	walk("a heavy question whose query has gone meanwhile waits until it is run again", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 504", "status of 404"}
		query := newLongQuery("topx")
		answer := query.answer(t)
		var leaves atomic.Bool
		reloaded := make(chan struct{})
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case strings.HasSuffix(r.URL.Path, "/data/queries/abc") && leaves.Load():
				select {
				case <-reloaded:
				case <-r.Context().Done():
					return true // of the page before
				}
				return refuse(w, http.StatusNotFound, "there is no such query")
			case strings.HasSuffix(r.URL.Path, "/data/topx"):
				if body := bodyOf(t, r); body["dry_run"] == true {
					return changed(t, s, w, r, body, costly)
				}
			}
			return answer(w, r)
		})
		b.open("#/?t=" + demoDay)
		b.click("button", "Run it")
		b.sees("The query has been running")
		leaves.Store(true)
		b.loadAtOnce()
		b.run(chromedp.Reload())
		close(reloaded)
		b.holds("document.querySelector('.trouble.held')", "waits")
		b.answered()
		if n := query.asked.Load(); n != 1 {
			t.Errorf("the question was sent %d times", n)
		}
		s.answer(nil)
		b.click("button", "Run it")
		b.holds("document.querySelectorAll('.list tbody tr').length > 20 && !document.querySelector('.trouble')", "has the answer")
	})

	walk("after a reload, what no query answers any more has a price", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 504"}
		query := newLongQuery("topx")
		answer := query.answer(t)
		var heavy atomic.Bool
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if heavy.Load() && strings.HasSuffix(r.URL.Path, "/data/timeline") {
				if body := bodyOf(t, r); body["dry_run"] == true {
					return changed(t, s, w, r, body, costly)
				}
				t.Error("a heavy question was asked")
			}
			return answer(w, r)
		})
		b.open("#/?t=" + demoDay)
		b.sees("The query has been running")
		heavy.Store(true)
		b.loadAtOnce()
		b.run(chromedp.Reload())
		b.holds("document.querySelector('.trouble.held')", "waits")
		heavy.Store(false)
		close(query.released)
		b.click("button", "Run it")
		b.holds("document.querySelector('.list tbody tr') && !document.querySelector('.trouble')", "has the answer")
		if n := query.asked.Load(); n != 1 {
			t.Errorf("the query was asked %d times", n)
		}
	})

	walk("the condition that keeps out all requests is found", func(t *testing.T, b *tab, s *served) {
		b.open(`#/events?f=host="nobody.example",+blocked+is+true&t=` + demoDay)
		b.click("button", "Which condition is it?")
		b.sees(`Only “host="nobody.example"” keeps out all requests.`)
		b.sees("No request of the data matches the filter")
		b.holds("document.querySelectorAll('.blame tbody tr').length === 2", "has a row for each condition")
		b.accessible("blame")
		b.screenshot("blame")
		b.click(".blame button", "Leave it out")
		b.holds("document.querySelector('#filter').value === 'blocked is true'", "is without the condition")
		b.sees("200 of ")
	})
	walk("the nearest requests are found", func(t *testing.T, b *tab, s *served) {
		b.open(`#/events?f=blocked+is+true,+path~"/"&t=2026-01-03T10:00Z..2026-01-03T11:00Z`)
		b.click("button", "Which condition is it?")
		b.sees("No condition is to blame alone")
		b.sees("The nearest that match are")
		b.holds("document.querySelector('.blame p a.count').href.includes('t=2026-01-01T2')", "leads to them")
		b.click(".blame button", "Show them")
		b.holds("document.querySelector('.event')", "shows them")
		if at := b.fragment(); !strings.Contains(at, "t=2026-01-01T2") {
			t.Errorf("the address is %s", at)
		}
	})
	walk("the search for the condition waits if it is heavy", func(t *testing.T, b *tab, s *served) {
		var heavy atomic.Bool
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			body := bodyOf(t, r)
			return heavy.Load() && body["dry_run"] == true && changed(t, s, w, r, body, func(meta map[string]any) {
				meta["estimate"].(map[string]any)["cost_usd"] = map[string]any{"low": 1.5, "high": 2}
			})
		})
		b.open(`#/events?f=host="nobody.example"&t=` + demoDay)
		b.sees("No requests in this period match the filter")
		heavy.Store(true)
		b.click("button", "Which condition is it?")
		b.holds("document.querySelector('.blame .held')?.textContent.includes('$3.00–$4.00')", "has the price of both questions")
		b.click(".blame button", "Run it")
		b.sees("keeps out all requests")
	})

	walk("segments that are too short are replaced by those that the server advises", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 422"}
		b.open("#/?seg=1m&t=2026-01-01T00:00Z..2026-01-08T00:00Z")
		b.sees("the shortest that fits is 5m")
		b.click("button", "Use segments of 5m")
		b.sees("Requests over time")
		if at := b.fragment(); !strings.Contains(at, "seg=5m") {
			t.Errorf("the address is %s", at)
		}
	})
	walk("a period that is too long is replaced by the one that the server advises", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 422"}
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			return isQuestion(t, r, "logs") && !strings.Contains(bodyOf(t, r)["filters"].(string), "10:48") &&
				refuse(w, http.StatusUnprocessableEntity, "the query would scan more than one query may: it was stopped after "+
					"300 bytes. Half the period should fit: timestamp between 2026-01-01 10:48:01 and 2026-01-01 23:20:01")
		})
		b.open("#/events?t=" + demoDay)
		b.click("button", "Take the shorter period")
		b.sees("200 of ")
		if at := b.fragment(); !strings.Contains(at, "t=2026-01-01T10:48:01Z..2026-01-01T23:20:01Z") {
			t.Errorf("the address is %s", at)
		}
	})
	walk("another side of a comparison is taken as the server advises", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 422"}
		b.open("#/compare?vs=1h&t=2026-01-01T12:00Z..2026-01-02T00:00Z")
		b.click("button", "Compare with 12h before")
		b.holds("document.querySelector('.two-sides')", "has the answer")
	})
	walk("a service that stays busy is asked again once by itself", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 429"}
		var asked atomic.Int32
		seen := make(chan struct{})
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !isQuestion(t, r, "logs") {
				return false
			}
			if asked.Add(1) > 1 {
				wait(r, seen)
			}
			w.Header().Set("Retry-After", "1")
			return refuse(w, http.StatusTooManyRequests, "too many requests")
		})
		b.open("#/events?t=" + demoDay)
		b.sees("The service is busy. It is asked again in")
		close(seen)
		b.sees("The question failed")
		b.sees("too many requests")
		if n := asked.Load(); n != 2 {
			t.Errorf("it was asked %d times", n)
		}
		s.answer(nil)
		b.click("button", "Ask again")
		b.sees("200 of ")
	})
	walk("what an answer rests on is said in words", func(t *testing.T, b *tab, s *served) {
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			return isQuestion(t, r, "logs") && changed(t, s, w, r, bodyOf(t, r), func(meta map[string]any) {
				meta["demo"], meta["split"], meta["late"] = true, true, 3
				meta["elapsed_ms"], meta["queue_ms"] = 3400, 2100
			})
		})
		b.open("#/events?t=" + demoDay)
		b.sees("demo data, until the first import")
		b.sees("asked in parts")
		b.sees("3.4 s, of which 2.1 s in the queue")
		b.sees("3 events arrived late and are not shown")
	})
	walk("why values cannot be chosen is said in words", func(t *testing.T, b *tab, s *served) {
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			return isQuestion(t, r, "values") && changed(t, s, w, r, bodyOf(t, r), func(meta map[string]any) {
				meta["unavailable"] = "there are no lists of values of these hours"
			})
		})
		b.allowed = []string{"status of 400"} // half a filter is checked
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		b.run(chromedp.Focus("#filter"))
		b.keys("country=")
		b.sees("There are no values to choose from: there are no lists of values of these hours")
		b.keys(kb.Escape)
	})
	walk("a server that is gone is asked again by itself", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"ERR_"}
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		s.answer(func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) })
		b.keys("r")
		b.sees("The server does not answer. Nothing is lost.")
		b.sees("It is asked again in")
		b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has the older answer")
		s.answer(nil)
		b.holds("!document.querySelector('.trouble') && !document.querySelector('.stale')", "has the new answer by itself")
	})
	walk("a server that is gone is asked again as soon as there is a network", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"ERR_"}
		b.open("#/?t=" + demoDay)
		b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has its answers")
		b.answered()
		b.evaluate(endlessPauses)
		s.answer(func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) })
		b.keys("r")
		b.sees("It is asked again in")
		b.accessible("gone")
		s.answer(nil)
		b.evaluate("dispatchEvent(new Event('online'))")
		b.holds("!document.querySelector('.trouble') && !document.querySelector('.stale')", "has the new answer")
	})
	walk("a browser that does not allow copying is named", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.keepNotices()
		b.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed')); document.execCommand = () => false")
		b.keys("y")
		b.holds("notices.includes('The browser did not allow copying')", "says so")
	})
	walk("a page that came over HTTP from another machine copies, too", func(t *testing.T, b *tab, s *served) {
		b.everyPage(`{
			Object.defineProperty(Navigator.prototype, 'clipboard', {get: () => undefined});
			addEventListener('copy', () => { window.copied = document.activeElement.value; });
		}`)
		b.open("#/events?f=blocked+is+true&t=" + demoDay)
		b.sees("shown")
		b.keepNotices()
		b.run(chromedp.Focus(".rows"))
		b.keys("y")
		b.holds("notices.includes('The link is copied. Its period is fixed.') && copied.includes('#/events?f=blocked+is+true&t=')", "has copied the link")
		b.holds("document.activeElement.matches('.rows') && !document.querySelector('body > textarea')", "has the focus where it was")
		b.keys("m")
		b.click("[role=menuitem]", "as JSON")
		b.holds("copied.startsWith('{')", "has copied the row")
	})
	walk("nothing moves for readers who do not want that", func(t *testing.T, b *tab, s *served) {
		const duration = `(() => {
			const older = document.createElement('div');
			older.className = 'stale';
			document.body.append(older);
			return getComputedStyle(older).transitionDuration;
		})()`
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		for motion, want := range map[string]string{"reduce": "0s", "no-preference": "0.2s"} {
			b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: motion}}))
			if got := value[string](b, duration); got != want {
				t.Errorf("with %s, older answers are dimmed in %s, want %s", motion, got, want)
			}
		}
	})
	walk("without scripts, there are links to the API", func(t *testing.T, b *tab, s *served) {
		b.run(emulation.SetScriptExecutionDisabled(true))
		b.open("")
		b.sees("The console needs JavaScript")
		var links []string
		if err := json.Unmarshal([]byte(value[string](b, "JSON.stringify([...document.links].map((a) => a.href))")), &links); err != nil {
			t.Fatal(err)
		}
		if len(links) != 4 {
			t.Errorf("the links are %q", links)
		}
		for _, link := range links {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close() // nothing was written
			if response.StatusCode != http.StatusOK {
				t.Errorf("%s: %s", link, response.Status)
			}
		}
	})
}

// TestNoData walks through an installation without data.
func TestNoData(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "").address)
	for screen, address := range map[string]string{"dashboard": "#/", "events": "#/events?t=30m"} {
		walk("the "+screen+" says how to get data", func(t *testing.T, b *tab, s *served) {
			b.open(address)
			b.sees("There is no data yet.")
			b.sees("orrery import access.log.gz")
			b.accessible("no data")
			b.screenshot("no-data-" + screen)
		})
	}
}

// TestViews walks through the ways of looking at the dashboard.
func TestViews(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)
	const hours = "2026-01-01T12:00Z..2026-01-01T18:00Z"

	walk("the dashboard is compared with another period", func(t *testing.T, b *tab, s *served) {
		var day atomic.Int32
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			if isQuestion(t, r, "timeline") && strings.Contains(bodyOf(t, r)["filters"].(string), "2025-12-31 12:00:00 and 2025-12-31 18:00:00") {
				day.Add(1)
			}
			return false
		})
		b.open("#/?t=" + hours)
		b.holds("document.querySelector('.legend .before')", "has a line of the period before")
		b.fill("#compared", "1d")
		b.holds("location.hash.includes('vs=1d')", "has the side in its address")
		b.holds("document.querySelector('.tile.requests').innerText.includes('data from 2026-01-01 00:0')", "knows that there is no data of the other period")
		if day.Load() == 0 {
			t.Error("the day before was not asked for")
		}
		b.open("#/?vs=2026-01-01T00:00Z..2026-01-01T06:00Z&t=" + hours)
		b.holds("document.querySelector('.legend .before')", "has a line of the other period")
		b.holds("document.querySelector('#compared').value.startsWith('2026-01-01T00:00Z')", "names the other period")
	})
	walk("a period that the data has only in part is not compared", func(t *testing.T, b *tab, s *served) {
		const part = "2026-01-01T08:00Z..2026-01-01T23:00Z"
		b.open("#/?t=" + part)
		b.sees("data from 2026-01-01 00:0")
		b.answered()
		b.holds("[...document.querySelectorAll('.tile .change')].every((e) => e.textContent.startsWith('data from 2026-01-01 00:0'))", "has no change")
		b.holds("!document.querySelector('.legend .before')", "has no line of the period before")
		b.open("#/compare?t=" + part)
		b.sees("The data begins at 2026-01-01 00:0")
		b.answered()
		b.holds("[...document.querySelectorAll('.overlay .tile .change')].every((e) => !/[▲▼=]/.test(e.textContent))", "has no change of a side")
		b.open("#/compare?t=2026-01-01T12:00Z..2026-01-01T18:00Z")
		b.holds("/[▲▼=]/.test(document.querySelector('.overlay .tile .change')?.textContent)", "has the changes of periods with data")
		b.holds("!document.querySelector('.compare .warning')?.textContent.includes('The data begins')", "says nothing")
	})
	walk("a list that keys move through acts on Enter, or on its button", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + hours)
		b.holds("document.querySelector('.legend .before')", "has its answers")
		b.run(chromedp.Focus("#compared"))
		for _, side := range []string{"1d", "7d"} {
			b.keys(kb.ArrowDown)
			b.holds(fmt.Sprintf("document.querySelector('#compared').value === %q", side), "moves to "+side)
			if at := b.fragment(); strings.Contains(at, "vs=") {
				t.Errorf("the address is %s", at)
			}
		}
		b.enter()
		b.holds("location.hash.includes('vs=7d') && document.activeElement.id === 'compared'", "has the side of the list")
		b.holds("document.querySelector('.tile.requests').innerText.includes('data from 2026-01-01 00:0')", "knows that there is no data of the other period")
		b.answered()
		b.keys(kb.ArrowUp)
		b.accessible("moved list")
		b.keys(kb.Tab)
		b.holds("document.activeElement.textContent === 'Apply'", "goes to the button")
		b.keys(kb.Enter)
		b.holds("location.hash.includes('vs=1d') && document.activeElement.id === 'compared'", "has the side of the list")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.holds("location.hash.includes('vs=7d') && document.querySelector('#compared').value === '7d'", "is back")
		b.holds("![...document.querySelectorAll('button')].some((e) => e.textContent === 'Apply')", "has nothing to apply")
	})
	walk("what stands out is said in sentences", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.click("button", "What stands out")
		b.sees("What stands out where blocked is true")
		b.holds("location.hash.includes('panel=standout')", "has the panel in its address")
		b.holds("(() => { const n = document.querySelectorAll('.stand-out li').length; return n > 0 && n <= 5; })()", "has up to five sentences")
		b.accessible("standout")
		b.screenshot("standout")
		condition := value[string](b, "document.querySelector('.stand-out li button').ariaLabel.slice('Only '.length)")
		b.click(".stand-out li button", "only")
		b.holds(fmt.Sprintf("document.querySelector('#filter').value === %q", condition), "has the condition")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.holds("document.querySelector('#filter').value === ''", "has no condition again")
		b.click(".stand-out > button", "Compare all values")
		b.sees("What differs")
		b.holds("document.querySelector('.one-side.selected').innerText.includes('blocked is true')", "compares the same")
	})
	walk("the chart is split by a field", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		b.holds("document.querySelectorAll('#split option').length > 20", "offers the fields")
		b.fill("#split", "country")
		b.sees("Requests over time by country")
		b.holds("document.querySelector('.split .plot canvas') && document.querySelectorAll('.split .series li').length > 5", "has the lines")
		b.accessible("split")
		b.screenshot("split")
		totals := value[[]int](b, "[...document.querySelectorAll('.split .series b')].map((e) => Number(e.textContent.replaceAll(',', '')))")
		sum := 0
		for _, n := range totals {
			sum += n
		}
		if sum != 3000 {
			t.Errorf("the totals are %v, of 3,000 requests", totals)
		}
		b.run(chromedp.Focus(".split .plot"))
		b.keys(kb.ArrowRight)
		b.holds("document.querySelector('.split .moment').textContent !== ''", "names the segment at the cursor")
		b.click(".split button", "Show as table")
		b.holds("document.querySelectorAll('.split .numbers tbody tr').length > 100", "shows the segments")
		b.click(".split .series button", "Germany")
		b.click("[role=menuitem]", "Only")
		b.holds(`document.querySelector('#filter').value === 'country="Germany"'`, "keeps only Germany")
		b.holds("document.querySelectorAll('.split .series li').length === 1", "has one line")
		b.fill("#split", "")
		b.holds("!document.querySelector('.split') && document.querySelector('.chart .numbers')", "has the usual chart again, as a table")
	})
	walk("a chart cannot be split by a field that cannot be grouped", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 422"}
		b.open("#/?by=timestamp&t=" + demoDay)
		b.holds("document.querySelector('.split .trouble')?.textContent.includes('timestamp')", "names the field")
		b.click(".split > button", "Do not split")
		b.holds("document.querySelector('.plot canvas')", "has the usual chart")
	})
	walk("that the data begins later than the period is said", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?t=" + demoDay)
		b.sees("200 of 3,000 shown")
		b.holds("!document.querySelector('.honesty').textContent.includes('data from')", "says nothing")
		b.open("#/events?t=2025-12-31T12:00Z..2026-01-01T12:00Z")
		b.sees("data from 2026-01-01 00:")
		b.open("#/?vs=previous&t=" + demoDay) // the day before has no data
		b.sees("data from 2026-01-01 00:")
	})
	walk("nothing stands out where there is nothing else", func(t *testing.T, b *tab, s *served) {
		b.open("#/?f=blocked+is+true&panel=standout&t=" + demoDay)
		b.sees("There are no others to compare with: all requests of the filter have blocked is true")
		b.keys(kb.Escape)
		b.holds("!document.querySelector('.stand-out')", "closes the panel")
		b.follow("#/?f=blocked+is+true&panel=standout&t=" + demoDay)
		b.click(".stand-out button", "Compare with the period before")
		b.holds("location.hash.includes('vs=previous')", "compares with the period before")
	})
}
