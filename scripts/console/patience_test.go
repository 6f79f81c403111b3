package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

// busyOnce refuses each read of the API the first time it is sent, and each write always. The service can be asked again at once.
type busyOnce struct {
	t *testing.T

	mu      sync.Mutex
	refused map[string]bool // requests, by method, path and body
	writes  int
}

func (o *busyOnce) answer(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	request := fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, readAll(o.t, r))
	switch {
	case r.Method == http.MethodPut:
		o.writes++
	case o.refused[request]:
		return false
	}
	o.refused[request] = true
	w.Header().Set("Retry-After", "0")
	return refuse(w, http.StatusServiceUnavailable, "try again later")
}

// TestPatience walks through pages of which the server does not answer some questions at once.
func TestPatience(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)

	walk("everything that is read is asked for again once, and what changes something is not", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 503"}
		newPlanet(t, s, "busy")
		o := &busyOnce{t: t, refused: map[string]bool{}}
		s.answer(o.answer)
		b.open("#/?f=country%3DGermany&panel=explain&t=" + demoDay)
		b.holds("document.querySelectorAll('.chips li').length === 2", "has the condition that the server read")
		b.holds("document.querySelectorAll('#split option').length > 10", "has the catalogue of fields")
		b.holds("document.querySelector('.explain tbody tr') && document.querySelectorAll('.list tbody tr').length > 20", "has its answers")
		b.open("#/planets/busy")
		b.fill("#planet-name", "another")
		b.click(".save-bar button", "Review")
		b.click(".save-bar button", "Save 1 change")
		b.sees("try again later")
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.writes != 1 {
			t.Errorf("the settings were sent %d times", o.writes)
		}
	})
	walk("that estimates wait for a busy service is said", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 429"}
		var again atomic.Bool
		seen := make(chan struct{})
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/data/logs") || bodyOf(t, r)["dry_run"] != true {
				return false
			}
			if again.Swap(true) {
				<-seen
				return false
			}
			w.Header().Set("Retry-After", "0")
			return refuse(w, http.StatusTooManyRequests, "too many requests")
		})
		b.open("#/events?t=" + demoDay)
		b.sees("The service is busy. It is asked again in")
		close(seen)
		b.sees("200 of ")
	})
	walk("another notice is read before that of a wait goes on", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 503"}
		var busy atomic.Bool
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !busy.Load() || !strings.HasPrefix(r.URL.Path, "/api/") {
				return false
			}
			w.Header().Set("Retry-After", "60")
			return refuse(w, http.StatusServiceUnavailable, "try again later")
		})
		b.everyPage(`{
			const usual = setTimeout;
			window.setTimeout = (run, ms, ...rest) => (ms === 60_000 ? (window.askAgain = run, 0) : usual(run, ms, ...rest));
		}`)
		b.open("#/events?f=blocked+is+true,+session~.&t=" + demoDay)
		b.sees("shown")
		b.evaluate("navigator.clipboard.writeText = async () => {}; 0")
		b.keepNotices()
		busy.Store(true)
		b.run(chromedp.Focus(".rows"))
		b.keys("m")
		b.click("[role=menuitem]", "Same session")
		b.holds("notices.at(-1)?.startsWith('The service is busy')", "says that it waits")
		b.keys("y")
		b.holds("notices.some((one) => one.startsWith('The link is copied')) && notices.at(-1).startsWith('The service is busy')", "says both")
		if next := value[string](b, "notices[notices.findIndex((one) => one.startsWith('The link is copied')) + 1]"); next != "" {
			t.Errorf("the notice about the link was followed by %q before its time was over", next)
		}
		busy.Store(false)
		b.evaluate("askAgain()")
		b.holds("document.querySelector('#filter').value.startsWith('session=')", "has the requests of the session")
		b.holds("notices.at(-1) === ''", "waits no more")
	})
	walk("the estimates of a dashboard that wait for a busy service can be stopped", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 429"}
		var busy atomic.Bool
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !busy.Load() || bodyOf(t, r)["dry_run"] != true {
				return false
			}
			w.Header().Set("Retry-After", "60")
			return refuse(w, http.StatusTooManyRequests, "too many requests")
		})
		stops := func() {
			t.Helper()
			b.sees("The service is busy. It is asked again in")
			b.click(".progress button", "Cancel")
			b.sees("Cancelled.")
		}
		busy.Store(true)
		b.open("#/?t=" + demoDay)
		stops()
		busy.Store(false)
		b.click(".progress button", "Ask again")
		b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has the answer")
		b.answered()
		busy.Store(true)
		b.keys("r")
		stops()
	})
	walk("how long a query has been in the queue is said", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 504"}
		query := newLongQuery("topx")
		answer := query.answer(t)
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			select {
			case <-query.released:
			default:
				if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/data/queries/abc") {
					w.Header().Set("Retry-After", "0")
					w.WriteHeader(http.StatusAccepted)
					fmt.Fprint(w, `{"id":"abc","status":"running","elapsed_ms":12000,"queue_ms":3000}`)
					return true
				}
			}
			return answer(w, r)
		})
		b.open("#/?t=" + demoDay)
		b.sees(", of which 3.0 s in the queue. Its answer comes as soon as it is done.")
		close(query.released)
		b.answered()
	})
	for name, one := range map[string]struct{ path, begun, more, offer string }{
		"values":        {"/data/values", "country=", "Germ", "Germany"},
		"saved filters": {"/filters", "@ger", "m", "@germans"},
	} {
		walk("the completion of "+name+" says that it waits for a busy service", func(t *testing.T, b *tab, s *served) {
			b.allowed = []string{"status of 503", "status of 400"} // half a filter is checked
			conf(t, s, http.MethodPut, "/api/v4.0/conf/prod/filters/germans", `{"filters":"country=\"Germany\""}`)
			s.answer(func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, one.path) {
					return false
				}
				w.Header().Set("Retry-After", "60")
				return refuse(w, http.StatusServiceUnavailable, "try again later")
			})
			b.open("#/?t=" + demoDay)
			b.holds("document.querySelectorAll('#split option').length > 10", "has the catalogue of fields")
			b.evaluate("localStorage.setItem('orrery.config', 'prod')")
			b.run(chromedp.Focus("#filter"))
			b.keys(one.begun)
			b.holds("document.querySelector('.completions[role=status]')?.textContent.startsWith('The service is busy. It is asked again in')",
				"says why there are no options yet")
			b.shortcut("Escape")
			b.holds("!document.querySelector('.completions[role=status]')", "closes what it says")
			s.answer(nil)
			b.keys(one.more)
			b.holds(fmt.Sprintf("document.querySelector('[role=option]')?.textContent.startsWith(%q)", one.offer), "offers the option")
			b.evaluate("localStorage.clear()")
		})
	}
	walk("what is said of a wait stays until its end", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 503"}
		conf(t, s, http.MethodPut, "/api/v4.0/conf/waits/filters/posts", `{"filters":"method=POST"}`)
		ended := make(chan struct{})
		var again atomic.Bool
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case !strings.HasSuffix(r.URL.Path, "/filters"):
				return false
			case again.Swap(true):
				<-ended
				return false
			}
			w.Header().Set("Retry-After", "0")
			return refuse(w, http.StatusServiceUnavailable, "try again later")
		})
		b.open("#/?t=" + demoDay)
		b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has the answer")
		b.evaluate(`localStorage.setItem('orrery.config', 'waits'); {
			const { setTimeout } = window;
			const notices = [];
			window.setTimeout = (run, ms, ...rest) => (ms === 3000 ? notices.push(run) : setTimeout(run, ms, ...rest));
			window.fade = () => notices.forEach((run) => run());
		}`)
		b.fill("#filter", "@posts")
		b.click(".run", "Run")
		busy := "document.querySelector('.notice').textContent.startsWith('The service is busy')"
		b.holds(busy, "says that it waits")
		b.answered() // so that everything is drawn
		b.evaluate("fade()")
		b.holds(busy, "still says it")
		close(ended)
		b.holds("document.querySelector('#filter').value === 'method=\"POST\"'", "has the conditions")
		b.holds("document.querySelector('.notice').textContent === ''", "says it no longer")
		b.evaluate("localStorage.clear()")
	})
	walk("a part of the dashboard without an estimate is left out, and does not run before it has one", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 500"}
		var asked atomic.Int32
		var estimated atomic.Bool
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			body := bodyOf(t, r)
			switch {
			case isQuestion(t, r, "topx"):
				asked.Add(1)
				return false
			case !strings.HasSuffix(r.URL.Path, "/data/topx"):
				return false
			case estimated.Load():
				return changed(t, s, w, r, body, costly)
			}
			return refuse(w, http.StatusInternalServerError, "something went wrong on our side")
		})
		b.open("#/?panel=explain&t=" + demoDay)
		b.holds("document.querySelectorAll('.explain tbody tr').length === 8", "explains all questions")
		b.holds("document.querySelector('.explain .warning-of')?.textContent.startsWith('something went wrong')", "says that one has no estimate")
		b.holds("document.querySelector('.trouble.failed')?.textContent.startsWith('Top values: The question failed')", "names the part")
		b.holds(numberOf("requests")+" === 3000 && "+numberOf("clients")+" > 0 && document.querySelector('.plot canvas')", "has the rest")
		b.accessible("part without an estimate")
		b.screenshot("part-without-estimate")
		estimated.Store(true)
		b.click(".trouble button", "Ask again")
		b.holds("document.querySelector('.trouble.held')?.textContent.startsWith('Top values: This is a heavy question')", "waits with the part")
		if n := asked.Load(); n != 0 {
			t.Errorf("the part was asked for %d times by itself", n)
		}
		b.screenshot("part-held")
		b.click(".trouble button", "Run it")
		b.holds("document.querySelectorAll('.list tbody tr').length > 20 && !document.querySelector('.trouble')", "has everything")
	})
	walk("figures without estimates wait together once they are asked again", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 500"}
		var asked, estimated atomic.Int32
		var known atomic.Bool
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if isQuestion(t, r, "facets") {
				asked.Add(1)
			}
			body := bodyOf(t, r)
			if !strings.HasSuffix(r.URL.Path, "/data/facets") || body["dry_run"] != true {
				return false
			}
			estimated.Add(1)
			if known.Load() {
				return changed(t, s, w, r, body, func(meta map[string]any) {
					meta["estimate"].(map[string]any)["bytes"] = map[string]any{"low": 0.9e9, "high": 0.9e9}
				})
			}
			return refuse(w, http.StatusInternalServerError, "something went wrong on our side")
		})
		b.open("#/?t=" + demoDay)
		b.holds("document.querySelector('.trouble.failed')?.textContent.startsWith('Figures: The question failed')", "says why")
		b.holds(numberOf("requests")+" === 3000", "has the other figures")
		b.answered()
		if n := estimated.Load(); n != 4 {
			t.Errorf("there were %d questions about the estimates of four figures", n)
		}
		known.Store(true)
		b.click(".trouble button", "Ask again")
		b.holds("document.querySelector('.trouble.held')?.textContent.includes('reads 2.7 GB')", "runs one, and waits with the others")
		b.answered()
		b.holds("document.querySelectorAll('.trouble').length === 1", "has one price of them all")
		if n := asked.Load(); n != 1 {
			t.Errorf("%d of them were asked for by themselves", n)
		}
		b.click(".trouble.held button", "Run it")
		b.holds("!document.querySelector('.trouble') && "+numberOf("clients")+" > 0", "has all figures")
	})
	walk("what is heavy of a dashboard has no price in all while a part has no estimate", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 500"}
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			body := bodyOf(t, r)
			if body["dry_run"] != true {
				return false
			}
			if strings.HasSuffix(r.URL.Path, "/data/topx") {
				return refuse(w, http.StatusInternalServerError, "something went wrong on our side")
			}
			return changed(t, s, w, r, body, costly)
		})
		b.open("#/?t=" + demoDay)
		b.holds("document.querySelector('.trouble.held')?.textContent.includes('reads at least ')", "says that it is not all")
		b.click(".trouble button", "Run it")
		b.holds("document.querySelectorAll('.list tbody tr').length > 20 && !document.querySelector('.trouble')", "has everything")
	})
	walk("a catalogue of fields that could not be loaded is asked for with the next question", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 500"}
		var asked atomic.Int32
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			return strings.HasSuffix(r.URL.Path, "/data/fields") && asked.Add(1) == 1 &&
				refuse(w, http.StatusInternalServerError, "something went wrong on our side")
		})
		b.open("#/?t=" + demoDay)
		b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has its answers")
		b.holds("document.querySelectorAll('#split option').length === 1", "has no fields to choose from")
		b.keys("r")
		b.holds("document.querySelectorAll('#split option').length > 10", "has the fields")
		b.answered()
		b.keys("r")
		b.answered()
		if n := asked.Load(); n != 2 {
			t.Errorf("it was asked for %d times", n)
		}
	})
}
