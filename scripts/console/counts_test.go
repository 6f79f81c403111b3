package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// countLink is a number on the page that leads to the events that it counts.
type countLink struct{ Text, Href, Name string }

// countLinks returns the numbers of a part of the page that lead to events.
func (b *tab) countLinks(part string) []countLink {
	b.t.Helper()
	links := value[[]countLink](b, `[...document.querySelectorAll('`+part+` a.count')].map((e) =>
		({Text: e.textContent, Href: e.getAttribute('href'), Name: e.ariaLabel}))`)
	if len(links) == 0 {
		b.t.Fatalf("no number of %s is a link:\n%s", part, b.text())
	}
	return links
}

// counted returns how many requests the page has that a link to the events leads to.
func counted(t *testing.T, s *served, href string) int {
	t.Helper()
	query, ok := strings.CutPrefix(href, "#/events?")
	if !ok {
		t.Fatalf("%s does not lead to events", href)
	}
	members, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	from, to, _ := strings.Cut(members.Get("t"), "..")
	filters := "timestamp between " + from + " and " + to
	if f := members.Get("f"); f != "" {
		filters += ", " + f
	}
	question, err := json.Marshal(map[string]any{"filters": filters, "by": []string{"result"}, "limit": 1})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Meta struct {
			NumOfRequests int `json:"num_of_requests"`
		}
	}
	if err := json.Unmarshal([]byte(conf(t, s, http.MethodPost, "/api/v4.0/data/facets", string(question))), &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Meta.NumOfRequests
}

// TestCounts compares the numbers of the screens with the requests that they lead to.
func TestCounts(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)

	screens := []struct{ name, fragment, ready, part string }{
		{"the top values", "#/?t=" + demoDay, "document.querySelectorAll('.list tbody tr').length > 50", ".list"},
		{"the busiest values", "#/?sort=requests&t=" + demoDay, "document.querySelectorAll('.list tbody tr').length > 50", ".list"},
		{"the legend", "#/?t=2026-01-01T06:00Z..2026-01-01T11:59:59.999Z", "document.querySelector('.legend .before a.count')", ".legend"},
		{"the legend of statuses", "#/?chart=status&t=" + demoDay, "document.querySelector('.series a.count')", ".series"},
		{"the legend of humans", "#/?chart=human&t=" + demoDay, "document.querySelector('.series a.count')", ".series"},
		{"the legend of a field", "#/?by=tags&t=" + demoDay, "document.querySelector('.series a.count')", ".series"},
		{"the values of fields", "#/?panel=facets&facets=tags,status,human&t=" + demoDay, "document.querySelector('.facet a.count')", ".facet"},
		{"the rest", "#/compare?where=blocked+is+true&t=" + demoDay, "document.querySelector('.findings a.count')", ".compare"},
		{"the period before", "#/compare?vs=previous&t=2026-01-01T12:00Z..2026-01-01T17:59:59.999Z",
			"document.querySelector('.findings, .compare .trouble')", ".compare"},
	}
	for _, screen := range screens {
		walk("numbers lead to as many events: "+screen.name, func(t *testing.T, b *tab, s *served) {
			b.open(screen.fragment)
			b.holds(screen.ready, "has the numbers")
			b.answered()
			for _, link := range b.countLinks(screen.part) {
				text, _, _ := strings.Cut(link.Text, " ") // 12 requests
				want, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
				if err != nil {
					t.Fatal(err)
				}
				if got := counted(t, s, link.Href); got != want {
					t.Errorf("%s leads to %d events: %s", link.Name, got, link.Href)
				}
				if !strings.HasPrefix(link.Name, link.Text+": show the events") {
					t.Errorf("screen readers name the number %s %q", link.Text, link.Name)
				}
			}
			b.accessible(screen.name)
		})
	}
	walk("numbers of an earlier answer lead to what they count", func(t *testing.T, b *tab, s *served) {
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			body := bodyOf(t, r)
			if filters, _ := body["filters"].(string); body["dry_run"] != true || !strings.Contains(filters, "blocked") {
				return false
			}
			return changed(t, s, w, r, body, costly)
		})
		b.open("#/?panel=standout&t=" + demoDay)
		b.holds("document.querySelector('.legend .requests a.count') && document.querySelectorAll('.list tbody tr').length > 50", "has numbers")
		b.holds("document.querySelector('.stand-out li a.link')", "has sentences")
		b.answered()
		open := value[string](b, "document.querySelector('.stand-out li a.link').getAttribute('href')")
		b.follow("#/?panel=standout&where=human+is+true&f=blocked+is+true&t=2026-01-01T06:00Z..2026-01-01T11:59:59.999Z")
		b.holds("document.querySelector('.trouble.held')", "waits")
		for _, part := range []string{".legend .requests", ".list td:nth-child(3)"} {
			link := b.countLinks(part)[0]
			if strings.Contains(link.Href, "blocked") || !strings.Contains(link.Href, "t="+demoDay) {
				t.Errorf("%s leads to %s", link.Name, link.Href)
			}
		}
		b.holds("document.querySelector('.stand-out .trouble.held')", "waits with what stands out, too")
		now := value[string](b, "document.querySelector('.stand-out li a.link').getAttribute('href')")
		if counted(t, s, now) != counted(t, s, open) {
			t.Errorf("a sentence led to %s, and leads to %s", open, now)
		}
		b.click(".tile.human", "")
		b.holds(fmt.Sprintf("document.querySelector('#filter').value === 'human is true' && location.hash.includes(%q)", "t="+demoDay),
			"has the requests of the tile")
	})
	walk("a number is reached by keys, and Back leads to it again", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.holds("document.querySelectorAll('.list tbody tr').length > 50", "has the numbers")
		b.answered()
		b.run(chromedp.Focus(".list .value button"))
		b.keys(kb.Tab)
		want := value[string](b, "document.activeElement.textContent")
		if !value[bool](b, "document.activeElement.matches('td.blocked a.count')") {
			t.Fatalf("the focus is on %s", value[string](b, "document.activeElement.outerHTML"))
		}
		b.enter()
		b.sees(want + " shown")
		b.holds("document.querySelector('#filter').value.endsWith(', blocked is true')", "has the conditions of the number")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.holds("document.querySelector('.list a.count') && document.querySelector('#filter').value === ''", "has the numbers again")
	})
	walk("the tiles of addresses and bytes lead to events with them", func(t *testing.T, b *tab, s *served) {
		b.open("#/?t=" + demoDay)
		b.holds(numberOf("clients")+" > 0", "has the figures")
		b.click(".tile.clients", "")
		b.holds("document.querySelector('.event') && document.querySelector('.facet h4')?.textContent.startsWith('ip ')", "has the addresses")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.click(".tile.bytes", "")
		b.holds("[...document.querySelectorAll('[role=columnheader]')].some((e) => e.textContent === 'bytes_sent')", "has the bytes")
	})
	walk("what stands out leads to its events", func(t *testing.T, b *tab, s *served) {
		b.open("#/?panel=standout&t=" + demoDay)
		b.holds("document.querySelector('.stand-out li a.link')", "has sentences")
		sentence := value[string](b, "document.querySelector('.stand-out li').textContent")
		href := value[string](b, "document.querySelector('.stand-out li a.link').getAttribute('href')")
		if n := strconv.Itoa(counted(t, s, href)); !strings.Contains(sentence, " of them ("+n+") have ") {
			t.Errorf("%q leads to %s events", sentence, n)
		}
		b.accessible("what stands out")
		b.click(".stand-out li a", "open")
		b.holds("location.hash.startsWith('#/events') && document.querySelector('.event')", "has the events")
	})
}
