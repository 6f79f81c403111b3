package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// arriving is a log to which events are added while it is followed.
type arriving struct {
	t       *testing.T
	s       *served
	lists   atomic.Int32 // questions for the list itself
	pending atomic.Int32 // events that the next question finds
	sent    atomic.Int32
}

func (a *arriving) answer(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasSuffix(r.URL.Path, "/logs") && !strings.HasSuffix(r.URL.Path, "/timeline") {
		return false
	}
	body := bodyOf(a.t, r)
	if _, followed := body["since"]; !followed {
		if strings.HasSuffix(r.URL.Path, "/logs") && body["dry_run"] != true {
			a.lists.Add(1)
		}
		body["filters"] = "timestamp between 2026-01-01 and 2026-01-02" // the period that ends now has no data
		return changed(a.t, a.s, w, r, body, func(map[string]any) {})
	}
	limit := int32(body["limit"].(float64))
	n := a.pending.Swap(0)
	meta := map[string]any{
		"head": "head", "next": nil, "engine": "scan", "bytes_scanned": 1000, "elapsed_ms": 1,
		"period": map[string]any{"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z"},
	}
	if n > limit {
		n, meta["next"] = limit, "cursor"
	}
	results := make([]map[string]any, n)
	first := a.sent.Add(n)
	for i := range results {
		number := int(first) - i
		results[i] = map[string]any{
			"timestamp": "2026-01-02T00:00:00Z", "record_ref": fmt.Sprint("new-", number), "result": "Passed", "host": "new",
			"path": fmt.Sprint("/new-", number),
		}
	}
	if err := json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{"results": results}, "meta": meta}); err != nil {
		a.t.Error(err)
	}
	return true
}

// activeRow is the text of the row that the keys act on.
const activeRow = `document.getElementById(document.querySelector('.rows').getAttribute('aria-activedescendant'))?.parentElement.innerText`

// TestLive walks through lists to which events are added.
func TestLive(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)
	open := func(t *testing.T, b *tab, s *served) *arriving {
		a := &arriving{t: t, s: s}
		s.answer(a.answer)
		b.open("#/events?t=30m&live=1")
		b.sees("200 of ")
		return a
	}

	walk("more new events than a page are put above, and the list stays", func(t *testing.T, b *tab, s *served) {
		a := open(t, b, s)
		a.pending.Store(300)
		b.sees("500 of ")
		b.holds("document.querySelector('.event').innerText.includes('/new-300')", "has the newest on top")
		if n := a.lists.Load(); n != 1 {
			t.Errorf("the list was asked for %d times", n)
		}
	})
	walk("live goes on after the server has failed, and asks nothing while the tab is hidden", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 500"}
		a := &arriving{t: t, s: s}
		var asked atomic.Int32
		var fails atomic.Bool
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if bodyOf(t, r)["since"] != nil {
				asked.Add(1)
				if fails.Load() {
					return refuse(w, http.StatusInternalServerError, "something went wrong on our side")
				}
			}
			return a.answer(w, r)
		})
		b.takeClock()
		b.open("#/events?t=30m&live=7")
		b.sees("200 of ")
		b.holds("pauses() > 0", "waits")
		fails.Store(true)
		b.evaluate("tick()")
		b.sees("something went wrong on our side")
		b.holds("pauses() > 0", "waits")
		fails.Store(false)
		a.pending.Store(1)
		b.evaluate("tick()")
		b.holds("document.querySelector('.event').innerText.includes('/new-1')", "has the new event on top")
		b.holds("!document.body.innerText.includes('something went wrong') && pauses() > 0", "has forgotten the failure")
		before := asked.Load()
		a.pending.Store(1)
		b.evaluate(hide)
		b.evaluate("tick()")
		b.evaluate("tick()")
		b.evaluate("hidden = false")
		b.evaluate("tick()")
		b.holds("document.querySelector('.event').innerText.includes('/new-2')", "has the next event on top")
		if n := asked.Load() - before; n != 1 {
			t.Errorf("%d questions, want the one when it is no longer hidden", n)
		}
	})
	walk("the active row stays the same record", func(t *testing.T, b *tab, s *served) {
		a := open(t, b, s)
		b.run(chromedp.Focus(".rows"))
		b.keys(kb.ArrowDown + kb.ArrowDown)
		before := value[string](b, activeRow)
		for _, top := range []string{"/new-1", "/new-2"} {
			a.pending.Store(1)
			b.holds(fmt.Sprintf("document.querySelector('.event').innerText.includes(%q)", top), "has "+top+" on top")
			if now := value[string](b, activeRow); now != before {
				t.Errorf("the active row was %q and is %q", before, now)
			}
		}
		a.pending.Store(100)
		b.holds(fmt.Sprintf("%s === %q && document.querySelector('.rows').scrollTop > 0", activeRow, before), "keeps the row in view")
	})
	walk("the active row stays while a record is open and events are put above", func(t *testing.T, b *tab, s *served) {
		a := open(t, b, s)
		b.run(chromedp.Focus(".rows"))
		b.keys(kb.ArrowDown)
		b.enter()
		b.holds("document.querySelector('.record .why')", "shows the record")
		b.run(chromedp.Focus(".rows"))
		b.keys(kb.ArrowDown + kb.ArrowDown)
		before := value[string](b, activeRow)
		a.pending.Store(3)
		b.click("button", "3 new")
		b.holds("document.querySelector('.event').innerText.includes('/new-3')", "has the new events on top")
		if now := value[string](b, activeRow); now != before {
			t.Errorf("the active row was %q and is %q", before, now)
		}
	})
	walk("the newest events are kept, and the page says that others are left out", func(t *testing.T, b *tab, s *served) {
		a := open(t, b, s)
		a.pending.Store(2600)
		b.sees("Live keeps the newest 2,500. Older events are left out here.")
		b.sees("2,500 of ")
		b.holds("!document.querySelector('.more')", "has no older page, which would leave a gap")
		b.accessible("cut")
		b.click("button", "Show the older ones")
		b.holds("location.hash.includes('..2026-01-02T00:00Z') && !location.hash.includes('live')", "shows the events before")
		b.sees("200 of ")
	})
}
