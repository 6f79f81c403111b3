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
		b.sees("200 shown")
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
