package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// busyOnce refuses each read of the API the first time it is sent, and each write always. The service can be asked again at once.
type busyOnce struct {
	mu      sync.Mutex
	refused map[string]bool // requests, by method, path and body
	writes  int
}

func (o *busyOnce) answer(c *call) bool {
	if !c.api() {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	request := fmt.Sprint(c.r.Method, c.r.URL.Path, c.body)
	switch {
	case c.r.Method == http.MethodPut:
		o.writes++
	case o.refused[request]:
		return false
	}
	o.refused[request] = true
	return c.busy(0)
}

// TestPatience walks through pages of which the server does not answer some questions at once.
func TestPatience(t *testing.T) {
	walk := walksAt(t, demo.address(t))

	walk.run("everything that is read is asked for again once, and what changes something is not", func(t *testing.T, b *tab, s *served) {
		b.do(allow("status of 503"), planet("busy"))
		o := &busyOnce{refused: map[string]bool{}}
		b.do(answers(o.answer), open("#/?f=country%3DGermany&panel=explain&t="+demoDay), count(".chips li", 2),
			moreThan(10, "#split option"), holds("$('.explain tbody tr') && $$('.list tbody tr').length > 20", "has its answers"),
			open("#/planets/busy"), fill("#planet-name", "another"), click(".save-bar button", "Review"),
			click(".save-bar button", "Save 1 change"), sees("try again later"))
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.writes != 1 {
			t.Errorf("the settings were sent %d times", o.writes)
		}
	})
	// again is a call that is refused the first time, and answered when the channel is closed.
	again := func(is, refuse func(c *call) bool) (first func(c *call) bool, then chan struct{}) {
		var refused atomic.Bool
		then = make(chan struct{})
		return func(c *call) bool {
			if !is(c) {
				return false
			}
			if refused.Swap(true) {
				<-then
				return false
			}
			return refuse(c)
		}, then
	}
	estimate, estimated := again(func(c *call) bool { return c.estimate("logs") }, func(c *call) bool { return c.throttle(0) })
	walk("that estimates wait for a busy service is said",
		allow("status of 429"), answers(estimate), open("#/events?t="+demoDay), sees("The service is busy. It is asked again in"),
		closes(estimated), sees("200 of "))
	walk.run("another notice is read before that of a wait goes on", func(t *testing.T, b *tab, s *served) {
		b.do(allow("status of 503"))
		var busy atomic.Bool
		b.do(answers(func(c *call) bool {
			return busy.Load() && c.api() && c.busy(60)
		}), everyPage(`{
			const usual = setTimeout;
			window.setTimeout = (run, ms, ...rest) => (ms === 60_000 ? (askAgain.push(run), 0) : usual(run, ms, ...rest));
			window.askAgain = []; // the waits of a minute, the page's own among them
		}`), open("#/events?f=blocked+is+true,+session~.&t="+demoDay), sees("shown"),
			evaluate("navigator.clipboard.writeText = async () => {}; 0"), keepNotices(), sets(&busy, true), focus(".rows"),
			keys("m"), click("[role=menuitem]", "Same session"),
			holds("notices.at(-1)?.startsWith('The service is busy')", "says that it waits"), keys("y"),
			holds("notices.some((one) => one.startsWith('The link is copied')) && notices.at(-1).startsWith('The service is busy')", "says both"),
			is("notices[notices.findIndex((one) => one.startsWith('The link is copied')) + 1]", ""), sets(&busy, false),
			holds("askAgain.splice(0).forEach((run) => run()), $('#filter').value.startsWith('session=')", "goes on"),
			holds("notices.at(-1) === ''", "waits no more"))
	})
	stops := together(sees("The service is busy. It is asked again in"), click(".progress button", "Cancel"), sees("Cancelled."))
	throttled := answers(func(c *call) bool { return c.estimate() && c.throttle(60) })
	walk("the estimates of a dashboard that wait for a busy service can be stopped",
		allow("status of 429"), throttled, open("#/?t="+demoDay), stops, answers(), click(".progress button", "Ask again"),
		moreThan(20, ".list tbody tr"), answered(), throttled, keys("r"), stops)
	walk("how long a query has been in the queue is said",
		allow("status of 504"), runs("topx"), queued(), open("#/?t="+demoDay),
		sees(", of which 3.0 s in the queue. Its answer comes as soon as it is done."), releases(), answered())
	for name, one := range map[string]struct{ path, begun, more, offer string }{
		"values":        {"/data/values", "country=", "Germ", "Germany"},
		"saved filters": {"/filters", "@ger", "m", "@germans"},
	} {
		walk("the completion of "+name+" says that it waits for a busy service",
			allow("status of 503", "status of 400"), // half a filter is checked
			sends(http.MethodPut, "/api/v4.0/conf/prod/filters/germans", `{"filters":"country=\"Germany\""}`),
			answers(func(c *call) bool { return c.to(one.path) && c.busy(60) }), open("#/?t="+demoDay),
			moreThan(10, "#split option"), evaluate("localStorage.setItem('orrery.config', 'prod')"), focus("#filter"),
			keys(one.begun), textBegins(".completions[role=status]", "The service is busy. It is asked again in"),
			shortcut("Escape"), lacks(".completions[role=status]"), answers(), keys(one.more),
			holds(fmt.Sprintf("$('[role=option]')?.textContent.startsWith(%q)", one.offer), "offers the option"),
			evaluate("localStorage.clear()"))
	}
	names, ended := again(func(c *call) bool { return c.to("/filters") }, func(c *call) bool { return c.busy(0) })
	const busyNow = "$('.notice').textContent.startsWith('The service is busy')"
	walk("what is said of a wait stays until its end",
		allow("status of 503"), savedFilter("waits", "posts", "method=POST"), answers(names), open("#/?t="+demoDay),
		moreThan(20, ".list tbody tr"), evaluate(`localStorage.setItem('orrery.config', 'waits'); {
			const { setTimeout } = window;
			const notices = [];
			window.setTimeout = (run, ms, ...rest) => (ms === 3000 ? notices.push(run) : setTimeout(run, ms, ...rest));
			window.fade = () => notices.forEach((run) => run());
		}`), fill("#filter", "@posts"), click(".run", "Run"), holds(busyNow, "says that it waits"), answered(), // so that everything is drawn
		evaluate("fade()"), holds(busyNow, "still says it"), closes(ended), filterIs(`method="POST"`), text(".notice", ""),
		evaluate("localStorage.clear()"))
	walk("a part of the dashboard without an estimate is left out, and does not run before it has one",
		allow("status of 500"), answers(func(c *call) bool { return c.estimate("topx") && c.fail() }), open("#/?panel=explain&t="+demoDay),
		count(".explain tbody tr", 10), textBegins(".explain .warning-of", "something went wrong"),
		textBegins(".trouble.failed", "Top values: The question failed"),
		holds(numberOf("requests")+" === 3000 && "+numberOf("clients")+" > 0 && $('.plot canvas')", "has the rest"),
		accessible("part without an estimate"), screenshot("part-without-estimate"), answers(heavy("topx")),
		click(".trouble button", "Ask again"), textBegins(".trouble.held", "Top values: This is a heavy question"), asked("topx", 0),
		screenshot("part-held"), click(".trouble button", "Run it"),
		holds("$$('.list tbody tr').length > 20 && !$('.trouble')", "has everything"))
	walk("figures without estimates wait together once they are asked again",
		allow("status of 500"), answers(func(c *call) bool { return c.estimate("facets") && c.fail() }), open("#/?t="+demoDay),
		textBegins(".trouble.failed", "Figures: The question failed"), tile("requests", 3000), answered(),
		calls(4, func(one sent) bool { return strings.HasSuffix(one.path, "/facets") && one.body["dry_run"] == true }),
		answers(func(c *call) bool {
			return c.estimate("facets") && c.changed(func(meta map[string]any) {
				meta["estimate"].(map[string]any)["bytes"] = map[string]any{"low": 0.9e9, "high": 0.9e9}
			})
		}), click(".trouble button", "Ask again"), textHas(".trouble.held", "reads 2.7 GB"), answered(), count(".trouble", 1),
		asked("facets", 1), click(".trouble.held button", "Run it"), holds("!$('.trouble') && "+numberOf("clients")+" > 0", "has all figures"))
	walk("what is heavy of a dashboard has no price in all while a part has no estimate",
		allow("status of 500"), answers(func(c *call) bool { return c.estimate("topx") && c.fail() }, heavy()), open("#/?t="+demoDay), textHas(".trouble.held", "reads at least "), click(".trouble button", "Run it"),
		holds("$$('.list tbody tr').length > 20 && !$('.trouble')", "has everything"))
	walk("a catalogue of fields that could not be loaded is asked for with the next question",
		allow("status of 500"), answers(func(c *call) bool { return c.to("/data/fields") && c.s.asked("fields") == 1 && c.fail() }),
		open("#/?t="+demoDay), moreThan(20, ".list tbody tr"), count("#split option", 1), keys("r"), moreThan(10, "#split option"),
		answered(), keys("r"), answered(), asked("fields", 2))
}
