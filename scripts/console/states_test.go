package main

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp/kb"
)

// longQuery is a query to a route that outlives its requests until it is released.
type longQuery struct {
	route     string
	status    int           // of the response to the question
	queued    bool          // it says how long it has been in the queue of the engine
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
func (q *longQuery) answer(c *call) bool {
	switch {
	case c.question(q.route):
		q.asked.Add(1)
		c.w.Header().Set("Location", "queries/abc")
		return c.runsOn(q.status)
	case c.question("timeline"):
		q.mu.Lock()
		q.filters = append(q.filters, c.filters())
		q.mu.Unlock()
		return false
	case !c.to("/data/queries/abc"):
		return false
	case c.r.Method == http.MethodDelete:
		close(q.cancelled)
		c.w.WriteHeader(http.StatusNoContent)
		return true
	}
	q.polled.Add(1)
	select {
	case <-q.released:
		c.r.URL.Path, c.r.URL.RawQuery = "/api/v4.0/data/"+q.route, "filters=timestamp+between+2026-01-01+and+2026-01-02&limit=2"
		return false
	default:
		c.runsOn(http.StatusAccepted)
		return !q.queued || c.say(`{"id":"abc","status":"running","elapsed_ms":12000,"queue_ms":3000}`)
	}
}

// runs lets a query to a route outlive its request until it is released. Other answers come first.
func runs(route string, first ...func(c *call) bool) step {
	return stepOf(func(b *tab) {
		b.query = newLongQuery(route)
		b.s.answer(append(slices.Clone(first), b.query.answer)...)
	}, "runs", route)
}

// accepted lets the response to the question of the query that runs be that it was accepted.
func accepted() step {
	return stepOf(func(b *tab) { b.query.status = http.StatusAccepted }, "accepted")
}

// cancelled waits until the page has cancelled the query that runs.
func cancelled() step {
	return stepOf(func(b *tab) { b.do(receives(b.query.cancelled)) }, "cancelled")
}

// releases ends the query that runs.
func releases() step { return stepOf(func(b *tab) { close(b.query.released) }, "releases") }

// queued lets the query that runs say that it has been in the queue of the engine.
func queued() step { return stepOf(func(b *tab) { b.query.queued = true }, "queued") }

// polled checks that the page has asked for the answer of the query that runs.
func polled() step {
	return stepOf(func(b *tab) {
		b.until(func() bool { return b.query.polled.Load() > 0 }, "asks for the answer")
	}, "polled")
}

// sentOnce checks that the query that runs was asked for once.
func sentOnce() step {
	return stepOf(func(b *tab) {
		if n := b.query.asked.Load(); n != 1 {
			b.t.Errorf("%sit was asked %d times", b.where(), n)
		}
	}, "sent once")
}

// TestStates walks through the states of a question that the other walks do not reach.
func TestStates(t *testing.T) {
	walk := walksAt(t, demo.address(t))

	walk("a first visitor can click a question",
		open(""), sees("Requests over time"), click(".questions button", "Who attacks?"), filterIs("blocked is true"),
		hashHas("t=2026-01-01"))
	walk("a key that is revoked is asked for again, and the question is kept",
		allow("status of 401"), open("#/?f=country=Germany&t="+demoDay), sees("Requests over time"), answers(needsKey("the-new-key")), keys("r"), sees("This server needs an API key"), focus("#key"), keys("the-new-key"+kb.Enter),
		holds("$('.tile.requests') && !$('.trouble')", "has the answer"), filterIs("country=Germany"))
	walk("what a key may not read is named, and the rest is there",
		allow("status of 403"),
		answers(func(c *call) bool {
			return c.question("topx") && c.refuse(http.StatusForbidden, "the key may not do this")
		}),
		open("#/?t="+demoDay), textBegins(".trouble.forbidden", "Top values: The key does not allow this"),
		holds("$('.tile.requests .number').textContent === '3,000' && $('.plot canvas')", "has the rest"), accessible("forbidden"))
	walk("the older answer stays while the next is asked for, and Esc cancels its query",
		allow("status of 504"), open("#/?t="+demoDay), moreThan(20, ".list tbody tr"), runs("topx"), keys("r"),
		sees("The query has been running"), moreThan(20, ".answer.stale .list tbody tr"), keys(kb.Escape), sees("Cancelled."),
		cancelled(), answers(), click(".progress button", "Ask again"), lacks(".stale"))
	walk("a query that is accepted is followed",
		runs("topx"), accepted(), open("#/?t="+demoDay), sees("The query has been running"), tile("requests", 3000),
		releases(), answered(), moreThan(0, ".list tbody tr"), sentOnce())
	walk.run("after a reload, the page waits on for the same query", func(t *testing.T, b *tab, s *served) {
		b.do(allow("status of 504"), runs("topx"), loadAtOnce(),
			open("#/?f=status=200&t=30m"), // without requests, so that nothing leads to another period
			sees("The query has been running"))
		query := b.query
		b.do(until(func() bool { return len(query.asOf()) == 2 }, "asks for the period and the one before"),
			everyPage("{ const { now } = Date; Date.now = () => now() + 60_000; }"), reload()) // a minute later
		polled := query.polled.Load()
		b.do(sees("The query has been running"),
			until(func() bool { return len(query.asOf()) == 4 && query.polled.Load() > polled }, "asks for all answers again"), sentOnce())
		filters := query.asOf()
		if slices.Sort(filters); len(slices.Compact(filters)) != 2 {
			t.Errorf("the timelines are of %q, want two periods", query.asOf())
		}
		b.do(releases(), answered(), holds("sessionStorage.length === 0", "has forgotten the query"))
	})
	walk.run("a question whose query a busy service does not follow after a reload is sent anew", func(t *testing.T, b *tab, s *served) {
		b.do(allow("status of 504", "status of 429"))
		query := newLongQuery("topx")
		answer := query.answer
		var leaves atomic.Bool
		var held, refused atomic.Int32
		b.do(answers(func(c *call) bool {
			switch {
			case !c.to("/data/queries/abc") || !leaves.Load() || query.asked.Load() > 1:
				return answer(c)
			case held.Add(1) == 1: // of the page before the reload
				<-c.r.Context().Done()
				return true
			}
			refused.Add(1)
			return c.throttle(0)
		}), loadAtOnce(), open("#/?f=status=200&t=30m"), sees("The query has been running"), sets(&leaves, true),
			until(func() bool { return held.Load() == 1 }, "asks about the answer"), reload(),
			until(func() bool { return query.asked.Load() == 2 }, "asks again"), counts(&refused, 2), closes(query.released),
			answered(), lacks(".trouble.failed"))
	})
	walk.run("what is asked after a reload is of the present as soon as nothing runs any more", func(t *testing.T, b *tab, s *served) {
		b.do(allow("status of 504"))
		query := newLongQuery("topx")
		b.do(answers(query.answer), takeClock(), loadAtOnce(), open("#/?f=status=200&t=30m"), sees("The query has been running"),
			reload(), sees("The query has been running"), closes(query.released), answered())
		before := query.asOf()
		b.do(evaluate("pass(60_000)"), keys("r"), until(func() bool { return len(query.asOf()) >= len(before)+2 }, "asks again"))
		for _, filters := range query.asOf()[len(before):] {
			if slices.Contains(before, filters) {
				t.Errorf("it asks again about %s", filters)
			}
		}
	})
	walk("a query that has gone meanwhile is asked again",
		allow("status of 504", "status of 404"), runs("topx"), loadAtOnce(), open("#/?t="+demoDay), sees("The query has been running"),
		answers(refuses("/data/queries/abc", http.StatusNotFound, "there is no such query")), reload(), moreThan(20, ".list tbody tr"))
	var leaves, dear atomic.Bool
	reloaded := make(chan struct{})
	walk("a heavy question whose query has gone meanwhile waits until it is run again",
		allow("status of 504", "status of 404"), runs("topx", heavy("topx"), func(c *call) bool {
			return c.to("/data/queries/abc") && leaves.Load() && (c.wait(reloaded) || // of the page before
				c.refuse(http.StatusNotFound, "there is no such query"))
		}), open("#/?t="+demoDay), click("button", "Run it"), sees("The query has been running"), sets(&leaves, true), loadAtOnce(),
		reload(), closes(reloaded), exists(".trouble.held"), answered(), sentOnce(), answers(), click("button", "Run it"),
		holds("$$('.list tbody tr').length > 20 && !$('.trouble')", "has the answer"))
	walk("after a reload, what no query answers any more has a price",
		allow("status of 504"), runs("topx", func(c *call) bool {
			if dear.Load() && c.question("timeline") {
				c.t.Error("a heavy question was asked")
			}
			return dear.Load() && c.estimate("timeline") && c.changed(costly)
		}), open("#/?t="+demoDay), sees("The query has been running"), sets(&dear, true), loadAtOnce(), reload(),
		exists(".trouble.held"), sets(&dear, false), releases(), click("button", "Run it"),
		holds("$('.list tbody tr') && !$('.trouble')", "has the answer"), sentOnce())

	walk("the condition that keeps out all requests is found",
		open(`#/events?f=host="nobody.example",+blocked+is+true&t=`+demoDay), click("button", "Why nothing?"),
		sees(`Only “host="nobody.example"” keeps out all requests.`), sees("No request of the data matches the filter"),
		count(".blame tbody tr", 2), accessible("blame"), screenshot("blame"), click(".blame button", "Leave it out"),
		filterIs("blocked is true"), sees("200 of "))
	walk("the nearest requests are found",
		open(`#/events?f=blocked+is+true,+path~"/"&t=2026-01-03T10:00Z..2026-01-03T11:00Z`),
		click("button", "Why nothing?"), sees("No condition is to blame alone"), sees("Nearest:"),
		holds("$('.blame p a.count').href.includes('t=2026-01-01T2')", "leads to them"), click(".blame button", "Show them"),
		exists(".event"), addressHas("t=2026-01-01T2"))
	walk("the search for the condition waits if it is heavy",
		open(`#/events?f=host="nobody.example"&t=`+demoDay), sees("No requests in this period match the filter"), answers(heavy()),
		click("button", "Why nothing?"), textHas(".blame .held", "$3.00–$4.00"), click(".blame button", "Run it"),
		sees("keeps out all requests"))

	walk("segments that are too short are replaced by those that the server advises",
		allow("status of 422"), open("#/?seg=1m&t=2026-01-01T00:00Z..2026-01-08T00:00Z"), sees("the shortest that fits is 5m"),
		click("button", "Use segments of 5m"), sees("Requests over time"), addressHas("seg=5m"))
	walk("a period that is too long is replaced by the one that the server advises",
		allow("status of 422"), answers(func(c *call) bool {
			return c.question("logs") && !strings.Contains(c.filters(), "10:48") &&
				c.refuse(http.StatusUnprocessableEntity, "the query would scan more than one query may: it was stopped after "+
					"300 bytes. Half the period should fit: timestamp between 2026-01-01 10:48:01 and 2026-01-01 23:20:01")
		}), open("#/events?t="+demoDay), click("button", "Take the shorter period"), sees("200 of "),
		addressHas("t=2026-01-01T10:48:01Z..2026-01-01T23:20:01Z"))
	walk("another side of a comparison is taken as the server advises",
		allow("status of 422"), open("#/compare?vs=1h&t=2026-01-01T12:00Z..2026-01-02T00:00Z"),
		click("button", "Compare with 12h before"), exists(".two-sides"))
	seen := make(chan struct{})
	walk("a service that stays busy is asked again once by itself",
		allow("status of 429"), answers(func(c *call) bool {
			if !c.question("logs") {
				return false
			}
			if c.s.asked("logs") > 1 {
				c.wait(seen)
			}
			return c.throttle(1)
		}), open("#/events?t="+demoDay), sees("The service is busy. It is asked again in"), closes(seen), sees("The question failed"),
		sees("too many requests"), asked("logs", 2), answers(), click("button", "Ask again"), sees("200 of "))
	walk("what an answer rests on is said in words",
		answers(func(c *call) bool {
			return c.question("logs") && c.changed(func(meta map[string]any) {
				meta["demo"], meta["split"], meta["late"] = true, true, 3
				meta["elapsed_ms"], meta["queue_ms"] = 3400, 2100
			})
		}), open("#/events?t="+demoDay), sees("demo data, until the first import"), sees("asked in parts"),
		sees("3 events arrived late and are not shown"), click(".line summary", ""),
		sees("3.4 s, of which 2.1 s in the queue"))
	walk("why values cannot be chosen is said in words",
		answers(func(c *call) bool {
			return c.question("values") && c.changed(func(meta map[string]any) {
				meta["unavailable"] = "there are no lists of values of these hours"
			})
		}), allow("status of 400"), // half a filter is checked
		open("#/?t="+demoDay), sees("Requests over time"), focus("#filter"), keys("country="),
		sees("There are no values to choose from: there are no lists of values of these hours"), keys(kb.Escape))
	walk("a server that is gone is asked again by itself",
		allow("ERR_"), open("#/?t="+demoDay), sees("Requests over time"), answered(), answers(gone), keys("r"),
		sees("The server does not answer. Nothing is lost."), sees("It is asked again in"), moreThan(20, ".list tbody tr"),
		answers(), holds("!$('.trouble') && !$('.stale')", "has the new answer by itself"))
	walk("a server that is gone is asked again as soon as there is a network",
		allow("ERR_"), open("#/?t="+demoDay), moreThan(20, ".list tbody tr"), answered(), evaluate(endlessPauses), answers(gone),
		keys("r"), sees("It is asked again in"), accessible("gone"), answers(), evaluate("dispatchEvent(new Event('online'))"),
		holds("!$('.trouble') && !$('.stale')", "has the new answer"))
	walk("a browser that does not allow copying is named",
		open("#/?t="+demoDay), keepNotices(),
		evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed')); document.execCommand = () => false"),
		keys("y"), holds("notices.includes('The browser did not allow copying')", "says so"))
	walk("a page that came over HTTP from another machine copies, too",
		everyPage(`{
			Object.defineProperty(Navigator.prototype, 'clipboard', {get: () => undefined});
			addEventListener('copy', () => { window.copied = document.activeElement.value; });
		}`), open("#/events?f=blocked+is+true&t="+demoDay), sees("shown"), keepNotices(), focus(".rows"), keys("y"),
		holds("notices.includes('The link is copied. Its period is fixed.') && copied.includes('#/events?f=blocked+is+true&t=')", "has copied the link"),
		holds("document.activeElement.matches('.rows') && !$('body > textarea')", "has the focus where it was"), keys("m"),
		click("[role=menuitem]", "as JSON"), holds("copied.startsWith('{')", "has copied the row"))
	const duration = `(() => {
		const older = document.createElement('div');
		older.className = 'stale';
		document.body.append(older);
		return getComputedStyle(older).transitionDuration;
	})()`
	motion := func(wanted string) step {
		return does(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: wanted}}))
	}
	walk("nothing moves for readers who do not want that",
		open("#/?t="+demoDay), sees("Requests over time"), motion("reduce"), is(duration, "0s"), motion("no-preference"), is(duration, "0.2s"))
	walk.run("without scripts, there are links to the API", func(t *testing.T, b *tab, s *served) {
		b.do(does(emulation.SetScriptExecutionDisabled(true)), open(""), sees("The console needs JavaScript"))
		links := value[[]string](b, "[...document.links].map((a) => a.href)")
		if len(links) != 4 {
			t.Errorf("the links are %q", links)
		}
		for _, link := range links {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
			if err != nil {
				t.Fatal(err)
			}
			fetched(t, request)
		}
	})
}

// TestNoData walks through an installation without data.
func TestNoData(t *testing.T) {
	walk := walksAt(t, site{}.address(t))
	for screen, address := range map[string]string{"dashboard": "#/", "events": "#/events?t=30m"} {
		walk("the "+screen+" says how to get data",
			inThemes(func(shot func(name string) step) []step {
				return []step{
					open(address), sees("There is no data yet."), sees("orrery import access.log.gz"),
					lacks(".questions"), answered(), shot("no-data-" + screen),
				}
			}))
	}
}

// TestViews walks through the ways of looking at the dashboard.
func TestViews(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	const hours = "2026-01-01T12:00Z..2026-01-01T18:00Z"

	const part = "2026-01-01T08:00Z..2026-01-01T23:00Z"
	walk.run("the dashboard is compared with another period", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/?t="+hours), exists(".legend .before"), fill("#compared", "1d"), hashHas("vs=1d"),
			shows(".tile.requests", "data from 2026-01-01")) // there is no data of the other period
		if s.count(func(one sent) bool {
			return strings.HasSuffix(one.path, "/timeline") && one.body["dry_run"] == nil &&
				strings.Contains(one.body["filters"].(string), "2025-12-31 12:00:00 and 2025-12-31 18:00:00")
		}) == 0 {
			t.Error("the day before was not asked for")
		}
		b.do(open("#/?vs=2026-01-01T00:00Z..2026-01-01T06:00Z&t="+hours), exists(".legend .before"),
			holds("$('#compared').value.startsWith('2026-01-01T00:00Z')", "names the other period"))
	})
	walk("a period that the data has only in part is not compared",
		open("#/?t="+part), sees("data from 2026-01-01 00:0"), answered(),
		holds("$$('.tile .change').every((e) => e.textContent.startsWith('data from 2026-01-01'))", "has no change"),
		lacks(".legend .before"), open("#/compare?t="+part), sees("The data begins at 2026-01-01 00:0"), answered(),
		holds("$$('.overlay .tile .change').every((e) => !/[▲▼=]/.test(e.textContent))", "has no change of a side"),
		open("#/compare?t=2026-01-01T12:00Z..2026-01-01T18:00Z"),
		holds("/[▲▼=]/.test($('.overlay .tile .change')?.textContent)", "has the changes of periods with data"),
		holds("!$('.compare .warning')?.textContent.includes('The data begins')", "says nothing"))
	walk("a list that keys move through acts on Enter, or on its button",
		open("#/?t="+hours), exists(".legend .before"), focus("#compared"), keys(kb.ArrowDown), fieldIs("#compared", "1d"),
		addressLacks("vs="), keys(kb.ArrowDown), fieldIs("#compared", "7d"), addressLacks("vs="), enter(),
		holds("location.hash.includes('vs=7d') && document.activeElement.id === 'compared'", "has the side of the list"),
		holds("$('.tile.requests').innerText.includes('data from 2026-01-01')", "knows that there is no data of the other period"),
		answered(), keys(kb.ArrowUp), accessible("moved list"), keys(kb.Tab),
		holds("document.activeElement.textContent === 'Apply'", "goes to the button"), keys(kb.Enter),
		holds("location.hash.includes('vs=1d') && document.activeElement.id === 'compared'", "has the side of the list"),
		back(), holds("location.hash.includes('vs=7d') && $('#compared').value === '7d'", "is back"),
		holds("!$$('button').some((e) => e.textContent === 'Apply')", "has nothing to apply"))
	walk("what stands out is said in sentences",
		open("#/?t="+demoDay), click("button", "What stands out"), sees("Blocked against the rest"),
		hashHas("panel=standout"),
		holds("(() => { const n = $$('.stand-out li').length; return n > 0 && n <= 5; })()", "has up to five sentences"),
		accessible("standout"), screenshot("standout"),
		note("condition", "$('.stand-out li button').ariaLabel.slice('Only '.length)"), click(".stand-out li button", "only"),
		holds("$('#filter').value === seen.condition", "has the condition"), back(), filterIs(""),
		click(".stand-out > button", "Compare all values"), sees("What differs"),
		holds("$('.one-side.selected').innerText.includes('blocked is true')", "compares the same"))
	walk.run("the chart is split by a field", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/?t="+demoDay), sees("Requests over time"), moreThan(20, "#split option"), fill("#split", "country"),
			sees("Requests over time by country"),
			holds("$('.split .plot canvas') && $$('.split .series li').length > 5", "has the lines"), accessible("split"),
			screenshot("split"))
		totals := value[[]int](b, "[...document.querySelectorAll('.split .series b')].map((e) => Number(e.textContent.replaceAll(',', '')))")
		sum := 0
		for _, n := range totals {
			sum += n
		}
		if sum != 3000 {
			t.Errorf("the totals are %v, of 3,000 requests", totals)
		}
		b.do(focus(".split .plot"), keys(kb.ArrowRight),
			holds("$('.split .moment').textContent !== ''", "names the segment at the cursor"),
			click(".split button", "Show as table"), moreThan(100, ".split .numbers tbody tr"),
			click(".split .series button", "Germany"), click("[role=menuitem]", "Only"), filterIs(`country="Germany"`),
			count(".split .series li", 1), fill("#split", ""),
			holds("!$('.split') && $('.chart .numbers')", "has the usual chart again, as a table"))
	})
	walk.run("the times are those of the origin, which blocked requests do not change", func(t *testing.T, b *tab, s *served) {
		type stat struct {
			Origin float64 `json:"p50_origin_time"`
			Total  float64 `json:"p50_total_time"`
		}
		var most, mostTotal float64
		for _, one := range answerTo[stat](t, s, "stats", `{`+tourDay+`","segment":"1h","figures":"percentiles"}`).Data.Results {
			most, mostTotal = max(most, one.Origin), max(mostTotal, one.Total)
		}
		if math.Round(most*1000) == math.Round(mostTotal*1000) {
			t.Fatalf("the times of origins and requests are the same: %v", most)
		}
		b.do(open("#/?chart=latency&seg=1h&t="+demoDay), sees("Times of the origin over time"), visible(".lines .plot canvas"),
			text(".lines .series li:first-child b", fmt.Sprintf("up to %.0f ms", most*1000)))
	})
	walk("a chart cannot be split by a field that cannot be grouped",
		allow("status of 422"), open("#/?by=timestamp&t="+demoDay), textHas(".split .trouble", "timestamp"),
		click(".split > button", "Do not split"), exists(".plot canvas"))
	walk("that the data begins later than the period is said",
		open("#/events?t="+demoDay), sees("200 of 3,000 shown"),
		holds("!$('.line > .honesty')?.textContent.includes('data from')", "says nothing"),
		open("#/events?t=2025-12-31T12:00Z..2026-01-01T12:00Z"), sees("data from 2026-01-01 00:"),
		open("#/?vs=previous&t="+demoDay), // the day before has no data
		sees("data from 2026-01-01 00:"))
	walk("nothing stands out where there is nothing else",
		open("#/?f=blocked+is+true&panel=standout&t="+demoDay),
		sees("There are no others to compare with: all requests of the filter have blocked is true"), keys(kb.Escape),
		lacks(".stand-out"), follow("#/?f=blocked+is+true&panel=standout&t="+demoDay),
		click(".stand-out button", "Compare with the period before"), hashHas("vs=previous"))
}
