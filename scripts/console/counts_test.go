package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// countLink is a number on the page that leads to the events that it counts.
type countLink struct{ Text, Href, Name, Tile string }

// countLinks returns the numbers of a part of the page that lead to events.
func (b *tab) countLinks(part string) []countLink {
	b.t.Helper()
	links := value[[]countLink](b, `[...document.querySelectorAll('`+part+` a.count')].map((e) =>
		({Text: e.textContent, Href: e.getAttribute('href'), Name: e.ariaLabel, Tile: e.closest('.tile, td.clients')?.classList[1] ?? ''}))`)
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

// numberPattern is the first number of a text, with its unit if it is not a number of requests.
var numberPattern = regexp.MustCompile(`([<>]?)([\d,.]*\d)( %| [kMGTP]?B)?`)

// leadsTo checks that a link whose text is a number leads to so many events. A share is one of the given numbers of requests.
func (l countLink) leadsTo(t *testing.T, n int, wholes []int) {
	t.Helper()
	m := numberPattern.FindStringSubmatch(l.Text)
	if m == nil {
		t.Fatalf("%q has no number", l.Text)
	}
	number, err := strconv.ParseFloat(strings.ReplaceAll(m[2], ",", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	fits := false
	switch m[3] {
	case "":
		fits = number == float64(n) || l.Tile == "clients" && n > 0 && strings.Contains(l.Href, "panel=facets")
	case " %":
		for _, whole := range wholes {
			percent := 100 * float64(n) / float64(whole)
			fits = fits || m[1] == "<" && percent < number || m[1] == ">" && percent > number || math.Abs(percent-number) <= .5
		}
	default:
		fits = l.Tile == "bytes" && n > 0 && strings.Contains(l.Href, "bytes_sent")
	}
	if !fits {
		t.Errorf("%s leads to %d events: %s", l.Name, n, l.Href)
	}
	if !strings.HasPrefix(l.Name, l.Text+": show the events") {
		t.Errorf("screen readers name the number %s %q", l.Text, l.Name)
	}
}

// lead checks that the numbers of a part of the page that are links lead to what they count.
func (b *tab) lead(s *served, part string) {
	b.t.Helper()
	wholes := value[[]int](b, `(() => {
		const numbers = (of, pattern) => [...document.querySelectorAll(of)]
			.map((e) => Number(pattern.exec((e.matches('.change') ? e : e.firstChild).textContent.replaceAll(',', ''))?.[0] ?? 0));
		const [all = 0] = numbers('.tile.requests .number', /\d+/);
		const parts = numbers('.tile.blocked .number, .facet p .count', /\d+/);
		return [...numbers('.tile.requests .number, .one-side .number', /\d+/), ...numbers('.tile.requests .change', /\d+$/),
			...parts, ...parts.map((n) => all - n)];
	})()`)
	known := map[string]int{}
	for _, link := range b.countLinks(part) {
		n, ok := known[link.Href]
		if !ok {
			n = counted(b.t, s, link.Href)
			known[link.Href] = n
		}
		link.leadsTo(b.t, n, wholes)
	}
}

// noLinks are the numbers that are no links, with what the README of the console says about them. Some are so only where the
// address has a text.
var noLinks = []struct{ selector, at, readme string }{
	{".dashboard .tile .number", "", "the figure of a tile adds its condition"},
	{".legend .key.challenged b, .chart:not(.lines) .numbers td:nth-child(3)", "", "the challenges of the chart"},
	{".series b", "chart=origin", "the statuses of origins"},
	{".facet p", "", "the values that a list leaves out"},
	{".tile .change, .findings .times", "", "a change and *Times*"},
	{".slow td", "", "times and percentiles"},
	{".incidents .held small", "", "the errors of other requests during an incident"},
	{".series b", "chart=latency", "times and percentiles"},
	{".facet h4 small, .checks li:nth-child(n+2), .hours .legend span, .hours td:nth-child(3)", "", "numbers of anything but requests"},
}

// unlinked returns the texts of a part of the page with numbers that are neither links nor such that the README names. Numbers in
// values, times, conditions and controls, and those of what an answer cost, are not about requests.
func (b *tab) unlinked(part string) []string {
	b.t.Helper()
	others := []string{"a.count, .hidden, .value, .text, code, select, a.link, .name, .series span, button, .honesty, .whole, .progress, .moment, .when",
		"th, .one-side .quiet, figcaption small, h2, h3, .facet h4, .findings .by, .axis, .facts-of, .installation header small"}
	for _, one := range noLinks {
		if strings.Contains(b.fragment(), one.at) {
			others = append(others, one.selector)
		}
	}
	return value[[]string](b, fmt.Sprintf(`(() => {
		const found = [];
		const texts = document.createTreeWalker(document.querySelector(%q), NodeFilter.SHOW_TEXT);
		for (let text = texts.nextNode(); text; text = texts.nextNode()) {
			if (text.parentElement.closest(%q)) continue;
			const at = text.parentElement.closest('td, .series li');
			const name = at?.matches('td') ? at.closest('table').rows[0].cells[at.cellIndex] : at;
			if (name?.textContent.startsWith('other values')) continue;
			const rest = text.data.replace(/\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d)?)?/g, '')
				.replace(/[\d,.]+ (objects?|hours|lines?|values?|[kMGTP]?B|min|ms|s|h|d)\b/g, '');
			if (/[1-9]/.test(rest)) found.push(text.parentElement.outerHTML);
		}
		return found;
	})()`, part, strings.Join(others, ", ")))
}

// sentenceLink is the address that the first sentence about what stands out leads to.
const sentenceLink = "document.querySelector('.stand-out li a.link').getAttribute('href')"

// TestCounts compares the numbers of the screens with the requests that they lead to, and looks for numbers that lead nowhere.
func TestCounts(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	const hours = "2026-01-01T06:00Z..2026-01-01T11:59:59.999Z"

	tops := "document.querySelectorAll('.list tbody tr').length > 50"
	screens := []struct{ name, fragment, ready, part string }{
		{"the condition that is to blame", `#/events?f=host="nobody.example",+blocked+is+true&t=` + demoDay, "document.querySelector('.trouble')", ".blame"},
		{"the dashboard", "#/?t=" + hours, tops + " && document.querySelector('.legend .before a.count')", ".dashboard"},
		{"the busiest values", "#/?sort=requests&t=" + demoDay, tops, ".list"},
		{"the chart as a table", "#/?as=table&seg=15m&t=2026-01-01T06:07Z..2026-01-01T09:01Z", "document.querySelector('.numbers a.count')", ".chart"},
		{"the legend of statuses", "#/?chart=status&t=" + demoDay, "document.querySelector('.series a.count')", ".chart"},
		{"the legend of humans", "#/?chart=human&t=" + demoDay, "document.querySelector('.series a.count')", ".chart"},
		{"the legend of origins", "#/?chart=origin&t=" + demoDay, "document.querySelector('.series b')", ".dashboard"},
		{"the legend of times", "#/?chart=latency&t=" + demoDay, "document.querySelector('.series b')", ".dashboard"},
		{"the legend of a field", "#/?by=tags&t=" + demoDay, "document.querySelector('.series a.count')", ".chart"},
		{"a field as a table", "#/?by=reason&as=table&seg=6h&t=" + demoDay, "document.querySelector('.numbers a.count')", ".chart"},
		{"the values of fields", "#/?panel=facets&facets=tags,status,human,reason&t=" + demoDay, "document.querySelector('.facet a.count')", ".facets"},
		{"what stands out", "#/?panel=standout&t=" + demoDay, "document.querySelector('.stand-out li a.count')", ".stand-out"},
		{"the rest", "#/compare?where=blocked+is+true&t=" + demoDay, "document.querySelector('.findings a.count') && document.querySelector('.overlay a.count')", ".compare"},
		{"the period before", "#/compare?vs=previous&t=2026-01-01T12:00Z..2026-01-01T17:59:59.999Z",
			"document.querySelector('.findings, .compare .trouble') && document.querySelector('.overlay a.count')", ".compare"},
		{"two sides as a table", "#/compare?vs=previous&as=table&chart=blocked&seg=1h&t=2026-01-01T12:00Z..2026-01-01T17:30Z",
			"document.querySelector('.overlay .numbers a.count')", ".compare"},
		{"two filters", "#/compare?f=human+is+true&f2=blocked+is+true&chart=bytes&t=" + demoDay, "document.querySelector('.overlay a.count')", ".overlay .tiles"},
		{"the status", "#/status", "document.querySelector('.checks a.count') && document.querySelector('.hours figcaption a.count')", ".installation"},
		{"the hours", "#/status", "document.querySelector('.hours a.count')", ".installation .numbers"},
	}
	for i, screen := range screens {
		walk.run("numbers lead to as many events: "+screen.name, func(t *testing.T, b *tab, s *served) {
			b.do(open(screen.fragment), holds(screen.ready, "has the numbers"))
			switch screen.name {
			case "the hours":
				b.click(".hours button", "Show as table")
			case "the condition that is to blame":
				b.click("button", "Why nothing?")
			}
			b.do(holds(fmt.Sprintf("$(%q)?.querySelector('a.count')", screen.part), "has links"), answered())
			b.lead(s, screen.part)
			if left := b.unlinked(screen.part); len(left) > 0 {
				t.Errorf("numbers lead nowhere:\n%s", strings.Join(left, "\n"))
			}
			if i%2 == 0 || !testing.Short() {
				b.do(accessible(screen.name))
			}
			b.do(screenshot("numbers-" + strings.ReplaceAll(screen.name, " ", "-")))
		})
	}
	for name, chart := range map[string]string{"results": "", "status": "chart=status&", "a field": "by=country&", "two sides": "vs=previous&"} {
		walk.run("the numbers at the cursor lead to the events of the segment: "+name, func(t *testing.T, b *tab, s *served) {
			screen := ""
			if name == "two sides" {
				screen = "compare"
			}
			b.do(open("#/"+screen+"?"+chart+"seg=1h&t=2026-01-01T12:30Z..2026-01-01T19:30Z"),
				visible(".plot canvas"), focus(".plot"), answered(), keys(kb.ArrowRight+kb.ArrowRight),
				holds("/ 13:00/.test($('.chart .moment').textContent)", "is at the second segment"))
			b.lead(s, ".chart")
			for _, link := range b.countLinks(".chart") {
				if !strings.Contains(link.Href, "T13:00Z..") && !strings.Contains(link.Href, "T06:00Z..") {
					t.Errorf("%s leads to %s", link.Name, link.Href)
				}
			}
			if left := b.unlinked(".chart"); len(left) > 0 {
				t.Errorf("numbers lead nowhere:\n%s", strings.Join(left, "\n"))
			}
		})
	}
	move := func(selector string) step {
		return stepOf(func(b *tab) {
			at := value[[]float64](b, fmt.Sprintf("(({x, y, width, height}) => [x + width / 2, y + height / 2])($(%q).getBoundingClientRect())", selector))
			b.run(chromedp.MouseEvent(input.MouseMoved, at[0], at[1]))
		}, "move", selector)
	}
	const legend = "$('.legend .requests b').textContent"
	walk("the cursor stays on the way to its numbers, until the pointer leaves the chart",
		open("#/?seg=1h&t="+hours), visible(".u-over"), answered(), note("whole", legend), move(".chart .u-over"),
		holds(legend+" !== seen.whole", "has the numbers of the segment"), move(".legend .requests b"),
		must("$('.legend .requests a.count')?.textContent && "+legend+" !== seen.whole", "the legend has no number of the segment"),
		move(".tile.requests .name"), holds(legend+" === seen.whole", "has the numbers of the whole period again"))
	walk("a share of the dashboard leads to events, the rest of its tile adds the condition",
		open("#/?t="+demoDay), holds(numberOf("blocked")+" > 0", "has the figure"), click(".tile.blocked small a.count", ""),
		holds("location.hash.startsWith('#/events') && $('.event')", "has the events"), back(), click(".tile.blocked button", ""),
		holds("location.hash.startsWith('#/?') && $('#filter').value === 'blocked is true'", "has the condition"))
	walk.run("numbers of an earlier answer lead to what they count", func(t *testing.T, b *tab, s *served) {
		b.do(allow("status of 422"), answers(func(c *call) bool {
			return strings.Contains(c.filters(), "blocked") && c.weighs(costly)
		}), open("#/?panel=standout&t="+demoDay),
			holds("$('.legend .requests a.count') && $$('.list tbody tr').length > 50", "has numbers"), exists(".stand-out li a.link"),
			answered())
		open := value[string](b, sentenceLink)
		b.do(follow("#/?panel=standout&where=human+is+true&f=blocked+is+true&t=2026-01-01T06:00Z..2026-01-01T11:59:59.999Z"),
			exists(".trouble.held"))
		for _, part := range []string{".legend .requests", ".list td:nth-child(3)"} {
			link := b.countLinks(part)[0]
			if strings.Contains(link.Href, "blocked") || !strings.Contains(link.Href, "t="+demoDay) {
				t.Errorf("%s leads to %s", link.Name, link.Href)
			}
		}
		b.do(exists(".stand-out .trouble.held"))
		now := value[string](b, sentenceLink)
		if counted(t, s, now) != counted(t, s, open) {
			t.Errorf("a sentence led to %s, and leads to %s", open, now)
		}
		b.do(click(".tile.human", ""),
			holds(fmt.Sprintf("$('#filter').value === 'human is true' && location.hash.includes(%q)", "t="+demoDay), "has the requests of the tile"))
	})
	walk("a number is reached by keys, and Back leads to it again",
		open("#/?t="+demoDay), moreThan(50, ".list tbody tr"), answered(), focus(".list .value button"), keys(kb.Tab),
		must("document.activeElement.matches('td.blocked a.count')", "the focus is not on the number"),
		note("number", "document.activeElement.textContent"), enter(),
		holds("document.body.innerText.includes(`${seen.number} shown`)", "shows as many"),
		holds("$('#filter').value.endsWith(', blocked is true')", "has the conditions of the number"), back(),
		holds("$('.list a.count') && $('#filter').value === ''", "has the numbers again"))
	walk("the tiles of addresses and bytes lead to events with them",
		open("#/?t="+demoDay), holds(numberOf("clients")+" > 0", "has the figures"), click(".tile.clients", ""),
		holds("$('.event') && $('.facet h4')?.textContent.startsWith('ip ')", "has the addresses"), back(),
		click(".tile.bytes", ""), holds("$$('[role=columnheader]').some((e) => e.textContent === 'bytes_sent')", "has the bytes"))
	walk.run("what stands out leads to its events", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/?panel=standout&t="+demoDay), exists(".stand-out li a.link"))
		sentence := value[string](b, "document.querySelector('.stand-out li').textContent")
		href := value[string](b, sentenceLink)
		if n := strconv.Itoa(counted(t, s, href)); !strings.Contains(sentence, " of these ("+n+"), ") {
			t.Errorf("%q leads to %s events", sentence, n)
		}
		b.do(accessible("what stands out"), click(".stand-out li a", "open"),
			holds("location.hash.startsWith('#/events') && $('.event')", "has the events"))
	})
}

// TestNumbersThatAreNoLinks checks that the README of the console names the numbers that are no links.
func TestNumbersThatAreNoLinks(t *testing.T) {
	readme := strings.Join(strings.Fields(string(read(t, filepath.Join(folder, "README.md")))), " ")
	for _, one := range noLinks {
		if !strings.Contains(readme, one.readme) {
			t.Errorf("the README does not say that these are no links: %s", one.readme)
		}
	}
}
