package main

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
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

// TestAddress walks through what the page shows beside its answers, which the address has as well.
func TestAddress(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)

	for _, one := range []struct{ name, fragment, ready, click, member, shown string }{
		{"a chart as a table", "#/?t=" + demoDay, "document.querySelector('.u-over')", ".chart figcaption > button",
			"as=table", "document.querySelector('.chart .numbers')"},
		{"the chart over the events as a table", "#/events?t=" + demoDay, "document.querySelector('.u-over')", ".chart figcaption > button",
			"as=table", "document.querySelector('.chart .numbers')"},
		{"another chart as a table", "#/?chart=status&t=" + demoDay, "document.querySelector('.lines .u-over')", ".lines figcaption > button",
			"as=table", "document.querySelector('.lines .numbers')"},
		{"more values of fields", "#/?panel=facets&facets=ip&t=" + demoDay, "document.querySelectorAll('.facet li').length === 5", ".facets button.small",
			"values=many", "document.querySelectorAll('.facet li').length === 20"},
	} {
		walk(one.name+" stays after a reload, and Back undoes it", func(t *testing.T, b *tab, s *served) {
			b.open(one.fragment)
			b.holds(one.ready, "is complete")
			b.click(one.click, "")
			b.holds(one.shown, "shows it")
			b.answered()
			b.accessible(one.name)
			b.run(chromedp.Reload())
			b.holds("location.hash.includes('"+one.member+"') && "+one.shown, "shows it again")
			b.run(chromedp.Evaluate("history.back()", nil))
			b.holds("!location.hash.includes('"+one.member+"') && "+one.ready, "is as before")
		})
	}
	walk("what is searched in the rows stays after a reload, until something else is asked", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?t=" + demoDay)
		b.fill("#quick-find", "german")
		b.sees(" of the 200 that are loaded")
		b.run(chromedp.Reload())
		b.sees(" of the 200 that are loaded")
		b.holds("document.querySelector('#quick-find')?.value === 'german'", "has the text")
		b.shortcut("[")
		b.holds("!location.hash.includes('find=')", "has forgotten it")
	})
	walk("all rows that are loaded are printed", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?t=" + demoDay)
		b.holds("document.querySelector('.event')", "has the events")
		rows := func() int { return value[int](b, "document.querySelectorAll('.event').length") }
		if n := rows(); n == 0 || n > 60 {
			t.Errorf("%d rows are drawn on the screen", n)
		}
		b.run(chromedp.Evaluate(`addEventListener('beforeprint', () => {
			window.printed = document.querySelectorAll('.event').length;
		})`, nil), chromedp.ActionFunc(func(ctx context.Context) error {
			_, _, err := page.PrintToPDF().Do(ctx)
			return err
		}))
		if n := value[int](b, "window.printed"); n != 200 {
			t.Errorf("%d of 200 rows are drawn when the page is printed", n)
		}
		b.holds("document.querySelectorAll('.event').length <= 60", "draws the rows in view again")
		b.run(emulation.SetEmulatedMedia().WithMedia("print"))
		b.holds("document.querySelectorAll('.event').length === 200", "draws all rows for paper")
		if !value[bool](b, "document.querySelector('.rows').scrollHeight <= document.querySelector('.rows').clientHeight + 1") {
			t.Error("rows are cut off")
		}
	})
}
