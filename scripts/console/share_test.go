package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestShare walks through the links that readers send to others.
func TestShare(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)

	walk("the link to an answer that is not there yet asks its receiver for a key, and waits for the same answer",
		func(t *testing.T, b *tab, s *served) {
			b.allowed = []string{"status of 504", "status of 401"}
			query := newLongQuery("topx")
			s.answer(query.answer(t))
			b.open("#/?f=status=200&t=30m") // without requests, so that nothing leads to another period
			b.run(chromedp.Evaluate(`{
				sessionStorage.setItem('orrery.key', 'the-key-of-the-sender');
				navigator.clipboard.writeText = async (text) => { window.copied = text; };
			}`, nil))
			b.click(".progress button", "Copy the link to the answer")
			b.holds("window.copied", "has copied it")
			link := value[string](b, "window.copied")
			if !strings.HasPrefix(link, s.url+"/#/?") || !strings.Contains(link, "..") || strings.Contains(link, "the-key") {
				t.Fatalf("the link is %s", link)
			}

			receiver := newTab(t, browser, s.url, 1280, "light")
			receiver.allowed = b.allowed
			s.answer(func(w http.ResponseWriter, r *http.Request) bool {
				if strings.HasPrefix(r.URL.Path, "/api/") && r.Header.Get("Authorization") == "" {
					return refuse(w, http.StatusUnauthorized, "an API key is needed")
				}
				return query.answer(t)(w, r)
			})
			receiver.open(strings.TrimPrefix(link, s.url+"/"))
			receiver.sees("This server needs an API key")
			receiver.fill("#key", "the-key-of-the-receiver")
			receiver.click(".trouble.key button", "")
			receiver.sees("The query has been running")
			close(query.released)
			receiver.answered()
			b.answered()
			filters := query.asOf()
			slices.Sort(filters)
			if filters = slices.Compact(filters); len(filters) != 2 {
				t.Errorf("the sender and the receiver ask about %q, want one period and the one before it", filters)
			}
			receiver.check()
		})
}
