package main

import (
	"fmt"
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
	b.run(chromedp.Evaluate("{ "+b.names()+statement+"; 0 }", nil))
}

// recent is a day of requests that looks as if it were the present: it answers about the generated day whatever the period is.
type recent struct {
	asked     atomic.Int32 // questions about timelines: two in each round of the dashboard
	expensive atomic.Bool  // the estimates are those of heavy questions
	quiet     atomic.Bool  // nothing arrives any more: the answers are about the period, which has no requests

	mu   sync.Mutex
	ends []string // of the periods of the timelines
}

func (f *recent) answer(c *call) bool {
	filters := c.filters()
	if filters == "" || c.to("/parse") {
		return false
	}
	if c.question("timeline") {
		f.asked.Add(1)
		f.mu.Lock()
		f.ends = append(f.ends, filters[strings.Index(filters, " and ")+len(" and "):])
		f.mu.Unlock()
	}
	if f.quiet.Load() {
		return false
	}
	c.body["filters"] = "timestamp between 2026-01-01 and 2026-01-02"
	delete(c.body, "segment")
	return c.changed(func(meta map[string]any) {
		if f.expensive.Load() && c.estimate() {
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

// ticksUntil ends pauses until an expression is true: while the page asks, the end of a pause does nothing.
func ticksUntil(expression string) step {
	return stepOf(func(b *tab) {
		b.until(func() bool {
			b.evaluate("tick()")
			return value[bool](b, expression)
		}, "has that")
	}, "ticks until", expression)
}

// TestRefresh walks through screens that are asked for again and again.
func TestRefresh(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	const rate = ".over-rows select:not([id])"

	walk.run("live asks for the dashboard again, until it is switched off", func(t *testing.T, b *tab, s *served) {
		f := &recent{}
		b.do(answers(f.answer), open("#/?t=30m"), sees("Requests over time"), answered())
		if n := f.asked.Load(); n != 2 { // of the period, and of the one before
			t.Errorf("the timelines were asked for %d times, want 2", n)
		}
		b.do(keys("l"), hashHas("live=30"), keys("l"), hashLacks("live"), open("#/?t=30m&live=1"))
		for range 3 {
			before := f.asked.Load()
			b.until(func() bool { return f.asked.Load() >= before+2 }, "asks again")
		}
		b.do(sets(&f.expensive, true), sees("This is a heavy question"), text(".tile.requests .number", "3,000"), fill(rate, "0"),
			hashLacks("live"))
	})
	walk("a period that has ended is not live",
		open("#/?t="+demoDay), sees("Requests over time"), keys("l"),
		holds("!$$('.over-rows label').some((e) => e.textContent.startsWith('Live'))", "has no choice"), addressLacks("live"))
	for _, slow := range []struct{ name, address, route, order, shown string }{
		{"the times of requests", "#/?chart=latency", "stats", "", ".lines .u-over"},
		{"a split chart", "#/?by=country", "histogram", "", ".split .u-over"},
		{"what stands out", "#/?panel=standout", "diff", "", ".stand-out li"},
		{"the busiest values", "#/?sort=requests", "facets", "requests", ".list tbody tr"},
	} {
		walk.run("live lets "+slow.name+" come before it asks again", func(t *testing.T, b *tab, s *served) {
			f := &recent{}
			var waits, aborted atomic.Int32
			released := make(chan struct{})
			b.do(answers(func(c *call) bool {
				order, _ := c.body["order"].(string)
				if c.question(slow.route) && order == slow.order && c.body["marks"] == nil {
					waits.Add(1)
					select {
					case <-released:
					case <-c.r.Context().Done():
						aborted.Add(1)
						return true
					}
				}
				return f.answer(c)
			}), takeClock(), open(slow.address+"&t=30m&live=7"), until(func() bool { return waits.Load() == 1 }, "asks for it"),
				waiting())
			asked := f.asked.Load()
			b.do(tick(), tick(), closes(released), holds(fmt.Sprintf("$(%q)", slow.shown), "shows it"),
				answered())
			if f.asked.Load() != asked || aborted.Load() > 0 {
				t.Errorf("%d further questions, and %d were aborted", f.asked.Load()-asked, aborted.Load())
			}
			b.do(waiting(), tick(),
				until(func() bool { return f.asked.Load() >= asked+2 && waits.Load() == 2 }, "asks for everything again"),
				answered())
		})
	}
	for _, address := range []string{"#/?live=7", "#/?t=1h&live=7"} {
		walk.run("live goes on when no requests arrive any more, at "+address, func(t *testing.T, b *tab, s *served) {
			f := &recent{}
			b.do(answers(f.answer), takeClock(), open(address),
				holds(numberOf("requests")+" === 3000 && pauses() > 0", "has its answers"), answered())
			before := f.latest()
			b.do(sets(&f.quiet, true), pass(60_000), tick(), sees("No requests since 2026-01-01 23:59"),
				tile("requests", 0))
			if now := f.latest(); now <= before {
				t.Errorf("the periods end at %s, as those before at %s", now, before)
			}
			b.do(holds(fmt.Sprintf("$(%q)?.value === '7'", rate), "keeps the control"), answered(), accessible("no requests"))
			if at := b.fragment(); at != address {
				t.Errorf("the address is %s", at)
			}
			b.do(sets(&f.quiet, false), waiting(), tick(),
				tile("requests", 3000), answered())
		})
	}
	walk("a list of events that is live waits for the first one",
		open("#/events?live=30"), sees("No requests since 2026-01-01 23:59"),
		holds(fmt.Sprintf("$(%q)?.value === '30'", rate), "keeps the control"))
	walk("live can be switched on before there are requests",
		open("#/?t=30m"), sees("No requests in this period"), fill("#answer select", "30"),
		sees("No requests since 2026-01-01 23:59"), hashHas("live=30"))
	walk.run("live on the dashboard goes on after the server has failed, and asks nothing while the tab is hidden", func(t *testing.T, b *tab, s *served) {
		b.do(allow("status of 500"))
		f := &recent{}
		b.do(answers(f.answer), takeClock(), open("#/?t=30m&live=7"),
			holds(numberOf("requests")+" === 3000 && pauses() > 0", "has its answers"), answered(), evaluate(hide))
		before := f.asked.Load()
		b.do(tick(), tick(), evaluate("hidden = false"), tick(),
			until(func() bool { return f.asked.Load() >= before+2 }, "asks again"), answered())
		if n := f.asked.Load() - before; n != 2 {
			t.Errorf("%d questions about timelines, want the 2 of one round", n)
		}
		b.do(answers(func(c *call) bool { return c.estimate() && c.fail() }))
		b.do(ticksUntil("document.body.innerText.includes('something went wrong on our side')"))
		b.do(tile("requests", 3000), answers(f.answer))
		b.do(ticksUntil("!$('.trouble, .old')"))
		b.do(answered(), lacks(".trouble, .old"))
	})
	for screen, address := range map[string]string{"dashboard": "#/?t=30m&live=7", "events": "#/events?t=30m&live=7"} {
		walk.run("live stops 15 minutes after the last hand on the "+screen, func(t *testing.T, b *tab, s *served) {
			asks := func(one sent) bool {
				return one.body["since"] != nil || screen == "dashboard" && strings.HasSuffix(one.path, "/timeline") && one.body["dry_run"] == nil
			}
			source := (&recent{}).answer
			if screen == "events" {
				source = (&arriving{}).answer
			}
			b.do(answers(source), takeClock(), open(address), keepNotices())
			goesOn := func() {
				t.Helper()
				b.do(waiting(), answered(), forgetCalls(), pass(600_000), tick(), until(func() bool { return s.count(asks) > 0 }, "asks again"), answered())
			}
			goesOn()
			b.do(shortcut("Shift"))
			goesOn()
			b.do(waiting(), answered(), forgetCalls(), pass(301_000), tick(), hashLacks("live"), notices("nobody used the page for 15 minutes"),
				holds("pauses() === 0", "waits for nothing"), calls(0, asks))
		})
	}
}
