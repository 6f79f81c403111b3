package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/orrery/orrery/shared/testkit/browser"
)

// manualClock gives a test the clock of the pages that are opened next: pass(ms) lets time go by, and tick() ends the pauses of
// Live if they have 7 seconds, as no other pauses do. pauses() is how many there are.
const manualClock = `{
	const { setInterval, setTimeout, clearInterval, clearTimeout } = window;
	const now = Date.now;
	const waiting = new Map();
	let passed = 0;
	let last = 0;
	const begin = (usual, once) => (run, ms, ...rest) => {
		if (ms !== 7000) return usual(run, ms, ...rest);
		const id = --last;
		waiting.set(id, () => {
			if (once) waiting.delete(id);
			run();
		});
		return id;
	};
	const end = (usual) => (id) => {
		if (!waiting.delete(id)) usual(id);
	};
	window.setInterval = begin(setInterval, false);
	window.setTimeout = begin(setTimeout, true);
	window.clearInterval = end(clearInterval);
	window.clearTimeout = end(clearTimeout);
	Date.now = () => now() + passed;
	window.pass = (ms) => { passed += ms; };
	window.pauses = () => waiting.size;
	window.tick = () => { for (const run of [...waiting.values()]) run(); };
}`

// endlessPauses lets no pause end that is longer than a second, such as those after which a page asks a server again by itself.
const endlessPauses = `{
	const usual = setTimeout;
	window.setTimeout = (run, ms, ...rest) => (ms > 1000 ? 0 : usual(run, ms, ...rest));
}`

// everyPage runs a script before those of each page that the tab opens next.
func (b *tab) everyPage(script string) {
	b.t.Helper()
	b.run(browser.OnEveryPage(script))
}

// loadAtOnce lets the pages that the tab opens next be just loaded, because they go on with what was asked before for only some time.
func (b *tab) loadAtOnce() {
	b.t.Helper()
	b.everyPage("performance.now = () => 0")
}

// takeClock gives the test the clock of the pages that the tab opens next.
func (b *tab) takeClock() {
	b.t.Helper()
	b.everyPage(manualClock)
}

// hide hides a tab, until hidden is false.
const hide = `window.hidden = true; Object.defineProperty(document, 'hidden', {get: () => hidden})`

// evaluate runs a statement in the page.
func (b *tab) evaluate(statement string) {
	b.t.Helper()
	b.run(chromedp.Evaluate(statement+"; 0", nil))
}

// recent is a day of requests that looks as if it were the present: it answers about the generated day whatever the period is.
type recent struct {
	t *testing.T
	s *served

	asked     atomic.Int32 // questions about timelines: two in each round of the dashboard
	expensive atomic.Bool  // the estimates are those of heavy questions
	quiet     atomic.Bool  // nothing arrives any more: the answers are about the period, which has no requests

	mu   sync.Mutex
	ends []string // of the periods of the timelines
}

func (f *recent) answer(w http.ResponseWriter, r *http.Request) bool {
	body := bodyOf(f.t, r)
	filters, isText := body["filters"].(string)
	if !isText || strings.HasSuffix(r.URL.Path, "/parse") {
		return false
	}
	if strings.HasSuffix(r.URL.Path, "/timeline") && body["dry_run"] != true {
		f.asked.Add(1)
		f.mu.Lock()
		f.ends = append(f.ends, filters[strings.Index(filters, " and ")+len(" and "):])
		f.mu.Unlock()
	}
	if f.quiet.Load() {
		return false
	}
	body["filters"] = "timestamp between 2026-01-01 and 2026-01-02"
	delete(body, "segment")
	return changed(f.t, f.s, w, r, body, func(meta map[string]any) {
		if f.expensive.Load() && body["dry_run"] == true {
			costly(meta)
		}
	})
}

// latest is the latest end of a period that was asked about.
func (f *recent) latest() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Max(f.ends)
}

// TestRefresh walks through screens that are asked for again and again.
func TestRefresh(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)
	const rate = ".over-rows select:not([id])"

	walk("live asks for the dashboard again, until it is switched off", func(t *testing.T, b *tab, s *served) {
		f := &recent{t: t, s: s}
		s.answer(f.answer)
		b.open("#/?t=30m")
		b.sees("Requests over time")
		b.answered()
		if n := f.asked.Load(); n != 2 { // of the period, and of the one before
			t.Errorf("the timelines were asked for %d times, want 2", n)
		}
		b.keys("l")
		b.holds("location.hash.includes('live=30')", "is live")
		b.keys("l")
		b.holds("!location.hash.includes('live')", "is live no more")
		b.open("#/?t=30m&live=1")
		for range 3 {
			before := f.asked.Load()
			b.until(func() bool { return f.asked.Load() >= before+2 }, "asks again")
		}
		f.expensive.Store(true)
		b.sees("This is a heavy question")
		b.holds("document.querySelector('.tile.requests .number').textContent === '3,000'", "keeps the answer before")
		b.fill(rate, "0")
		b.holds("!location.hash.includes('live')", "is live no more")
	})
	walk("a period that has ended is not live", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		b.keys("l")
		b.holds("![...document.querySelectorAll('.over-rows label')].some((e) => e.textContent.startsWith('Live'))", "has no choice")
		if at := b.fragment(); strings.Contains(at, "live") {
			t.Errorf("the address is %s", at)
		}
	})
	for _, slow := range []struct{ name, address, route, order, shown string }{
		{"the times of requests", "#/?chart=latency", "stats", "", ".lines .u-over"},
		{"a split chart", "#/?by=country", "histogram", "", ".split .u-over"},
		{"what stands out", "#/?panel=standout", "diff", "", ".stand-out li"},
		{"the busiest values", "#/?sort=requests", "facets", "requests", ".list tbody tr"},
	} {
		walk("live lets "+slow.name+" come before it asks again", func(t *testing.T, b *tab, s *served) {
			f := &recent{t: t, s: s}
			var waits, aborted atomic.Int32
			released := make(chan struct{})
			s.answer(func(w http.ResponseWriter, r *http.Request) bool {
				order, _ := bodyOf(t, r)["order"].(string)
				if isQuestion(t, r, slow.route) && order == slow.order {
					waits.Add(1)
					select {
					case <-released:
					case <-r.Context().Done():
						aborted.Add(1)
						return true
					}
				}
				return f.answer(w, r)
			})
			b.takeClock()
			b.open(slow.address + "&t=30m&live=7")
			b.until(func() bool { return waits.Load() == 1 }, "asks for it")
			b.holds("pauses() > 0", "has the rest of the dashboard")
			asked := f.asked.Load()
			b.evaluate("tick()")
			b.evaluate("tick()")
			close(released)
			b.holds(fmt.Sprintf("document.querySelector(%q)", slow.shown), "shows it")
			b.answered()
			if f.asked.Load() != asked || aborted.Load() > 0 {
				t.Errorf("%d further questions, and %d were aborted", f.asked.Load()-asked, aborted.Load())
			}
			b.holds("pauses() > 0", "waits for the next answer")
			b.evaluate("tick()")
			b.until(func() bool { return f.asked.Load() >= asked+2 && waits.Load() == 2 }, "asks for everything again")
			b.answered()
		})
	}
	for _, address := range []string{"#/?live=7", "#/?t=1h&live=7"} {
		walk("live goes on when no requests arrive any more, at "+address, func(t *testing.T, b *tab, s *served) {
			f := &recent{t: t, s: s}
			s.answer(f.answer)
			b.takeClock()
			b.open(address)
			b.holds(numberOf("requests")+" === 3000 && pauses() > 0", "has its answers")
			before := f.latest()
			f.quiet.Store(true)
			b.evaluate("pass(60_000)")
			b.evaluate("tick()")
			b.sees("No requests since 2026-01-01 23:59")
			b.holds(numberOf("requests")+" === 0", "has no requests")
			if now := f.latest(); now <= before {
				t.Errorf("the periods end at %s, as those before at %s", now, before)
			}
			b.holds(fmt.Sprintf("document.querySelector(%q)?.value === '7'", rate), "keeps the control")
			b.answered()
			b.accessible("no requests")
			if at := b.fragment(); at != address {
				t.Errorf("the address is %s", at)
			}
			f.quiet.Store(false)
			b.holds("pauses() > 0", "waits for the next answer")
			b.evaluate("tick()")
			b.holds(numberOf("requests")+" === 3000", "has the next requests")
			b.answered()
		})
	}
	walk("a list of events that is live waits for the first one", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?live=30")
		b.sees("No requests since 2026-01-01 23:59")
		b.holds(fmt.Sprintf("document.querySelector(%q)?.value === '30'", rate), "keeps the control")
	})
	walk("live can be switched on before there are requests", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=30m")
		b.sees("No requests in this period")
		b.fill("#answer select", "30")
		b.sees("No requests since 2026-01-01 23:59")
		b.holds("location.hash.includes('live=30')", "is live")
	})
	walk("live on the dashboard goes on after the server has failed, and asks nothing while the tab is hidden", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 500"}
		f := &recent{t: t, s: s}
		s.answer(f.answer)
		b.takeClock()
		b.open("#/?t=30m&live=7")
		b.holds(numberOf("requests")+" === 3000 && pauses() > 0", "has its answers")
		b.evaluate(hide)
		before := f.asked.Load()
		b.evaluate("tick()")
		b.evaluate("tick()")
		b.evaluate("hidden = false")
		b.evaluate("tick()")
		b.until(func() bool { return f.asked.Load() >= before+2 }, "asks again")
		b.answered()
		if n := f.asked.Load() - before; n != 2 {
			t.Errorf("%d questions about timelines, want the 2 of one round", n)
		}
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			return bodyOf(t, r)["dry_run"] == true && refuse(w, http.StatusInternalServerError, "something went wrong on our side")
		})
		until := func(expression, meaning string) { // while it asks, the end of a pause does nothing
			t.Helper()
			b.until(func() bool {
				b.evaluate("tick()")
				return value[bool](b, expression)
			}, meaning)
		}
		until("document.body.innerText.includes('something went wrong on our side')", "says that it failed")
		b.holds(numberOf("requests")+" === 3000", "keeps the answers before")
		s.answer(f.answer)
		until("!document.querySelector('.trouble, .old')", "asks again")
		b.answered()
		b.holds("!document.querySelector('.trouble, .old')", "has the next answers")
	})
	for screen, address := range map[string]string{"dashboard": "#/?t=30m&live=7", "events": "#/events?t=30m&live=7"} {
		walk("live stops 15 minutes after the last hand on the "+screen, func(t *testing.T, b *tab, s *served) {
			f, events := &recent{t: t, s: s}, &arriving{t: t, s: s}
			var asked atomic.Int32
			s.answer(func(w http.ResponseWriter, r *http.Request) bool {
				body := bodyOf(t, r)
				if body["since"] != nil || screen == "dashboard" && isQuestion(t, r, "timeline") {
					asked.Add(1)
				}
				if screen == "events" {
					return events.answer(w, r)
				}
				return f.answer(w, r)
			})
			b.takeClock()
			b.open(address)
			b.keepNotices()
			goesOn := func() {
				t.Helper()
				b.holds("pauses() > 0", "waits for the next answer")
				before := asked.Load()
				b.evaluate("pass(600_000)")
				b.evaluate("tick()")
				b.until(func() bool { return asked.Load() > before }, "asks again")
				b.answered()
			}
			goesOn()
			b.shortcut("Shift")
			goesOn()
			b.holds("pauses() > 0", "waits for the next answer")
			before := asked.Load()
			b.evaluate("pass(301_000)")
			b.evaluate("tick()")
			b.holds("!location.hash.includes('live')", "is live no more")
			b.holds("notices.some((text) => text.includes('nobody used the page for 15 minutes'))", "says so")
			b.holds("pauses() === 0", "waits for nothing")
			if n := asked.Load(); n != before {
				t.Errorf("%d questions were asked then", n-before)
			}
		})
	}
}
