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
	walk := walksAt(t, demo.address(t))

	walk.run("the link to an answer that is not there yet asks its receiver for a key, and waits for the same answer", func(t *testing.T, b *tab, s *served) {
		b.do(allow("status of 504", "status of 401"))
		query := newLongQuery("topx")
		b.do(answers(query.answer), open("#/?f=status=200&t=30m"), // without requests, so that nothing leads to another period
			evaluate(`{
				sessionStorage.setItem('orrery.key', 'the-key-of-the-sender');
				navigator.clipboard.writeText = async (text) => { window.copied = text; };
			}`), click(".progress button", "Copy the link to the answer"), holds("window.copied", "has copied it"))
		link := value[string](b, "window.copied")
		if !strings.HasPrefix(link, s.url+"/#/?") || !strings.Contains(link, "..") || strings.Contains(link, "the-key") {
			t.Fatalf("the link is %s", link)
		}
		receiver := newTab(t, browser, s.url, 1280, "light")
		receiver.allowed = b.allowed
		b.do(answers(func(c *call) bool {
			if c.api() && c.r.Header.Get("Authorization") == "" {
				return c.refuse(http.StatusUnauthorized, "an API key is needed")
			}
			return query.answer(c)
		}))
		receiver.open(strings.TrimPrefix(link, s.url+"/"))
		receiver.sees("This server needs an API key")
		receiver.fill("#key", "the-key-of-the-receiver")
		receiver.click(".trouble.key button", "")
		receiver.sees("The query has been running")
		b.do(closes(query.released))
		receiver.answered()
		b.do(answered())
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
	walk := walksAt(t, demo.address(t))

	const hour = "t=2026-01-01T10:00Z..2026-01-01T11:00Z" // axe-core takes seconds for a table of a day
	for _, one := range []struct{ name, fragment, ready, click, member, shown string }{
		{"a chart as a table", "#/?" + hour, "document.querySelector('.u-over')", ".chart figcaption > button",
			"as=table", "document.querySelector('.chart .numbers')"},
		{"the chart over the events as a table", "#/events?" + hour, "document.querySelector('.u-over')", ".chart figcaption > button",
			"as=table", "document.querySelector('.chart .numbers')"},
		{"another chart as a table", "#/?chart=status&" + hour, "document.querySelector('.lines .u-over')", ".lines figcaption > button",
			"as=table", "document.querySelector('.lines .numbers')"},
		{"more values of fields", "#/?panel=facets&facets=ip&t=" + demoDay, "document.querySelectorAll('.facet li').length === 5", ".facets button.small",
			"values=many", "document.querySelectorAll('.facet li').length === 20"},
	} {
		walk(one.name+" stays after a reload, and Back undoes it",
			open(one.fragment), holds(one.ready, "is complete"), click(one.click, ""), holds(one.shown, "shows it"), answered(),
			accessible(one.name), reload(), holds("location.hash.includes('"+one.member+"') && "+one.shown, "shows it again"),
			back(), holds("!location.hash.includes('"+one.member+"') && "+one.ready, "is as before"))
	}
	walk("what is searched in the rows stays after a reload, until something else is asked",
		open("#/events?t="+demoDay), fill("#quick-find", "german"), sees(" of the 200 that are loaded"), reload(),
		sees(" of the 200 that are loaded"), fieldIs("#quick-find", "german"), shortcut("["), hashLacks("find="))
	walk.run("all rows that are loaded are printed", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/events?t="+demoDay), exists(".event"))
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
		b.do(is("window.printed", 200), holds("$$('.event').length <= 60", "draws the rows in view again"))
		b.run(emulation.SetEmulatedMedia().WithMedia("print"))
		b.do(count(".event", 200), must("$('.rows').scrollHeight <= $('.rows').clientHeight + 1", "rows are cut off"))
	})
}
