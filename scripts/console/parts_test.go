package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// dragAcross presses the mouse at a part of the width of an element, and releases it at another one.
func (b *tab) dragAcross(selector string, from, to float64) {
	b.t.Helper()
	x, y, width, height := b.box(fmt.Sprintf("document.querySelector(%q)", selector))
	b.drag(x+from*width, y+height/2, x+to*width, y+height/2)
}

// manualTouch lets a test touch the cells of the first row, and end the pauses of long touches by itself. touch(kind, cell)
// returns whether the browser would go on with the touch.
const manualTouch = `{
	window.longTouches = new Map();
	const [set, clear] = [setTimeout, clearTimeout];
	window.setTimeout = (run, ms, ...rest) => {
		if (ms !== 500) return set(run, ms, ...rest);
		longTouches.set(-1 - longTouches.size, run);
		return -longTouches.size;
	};
	window.clearTimeout = (timer) => { longTouches.delete(timer); clear(timer); };
	window.touch = (kind, cell) => document.querySelector('#cell-0-' + cell).dispatchEvent(new Event(
		'ontouchstart' in document.body ? kind.toLowerCase() : kind, {bubbles: true, cancelable: true})); // as the library names them
}`

// TestParts walks through parts of a page that depend on each other.
func TestParts(t *testing.T) {
	browser := chromium(t)
	server := serve(t, "3000")
	walk := walker(t, browser, server.address)

	walk("a split chart stays while the cursor moves, and dragging selects a period", func(t *testing.T, b *tab, s *served) {
		b.open("#/?by=country&t=" + demoDay)
		b.holds("document.querySelector('.split .plot canvas')", "has the chart")
		b.run(chromedp.Evaluate("document.querySelector('.split .plot canvas').dataset.first = 'yes'", nil), chromedp.Focus(".split .plot"))
		b.keys(kb.ArrowRight + kb.ArrowRight)
		b.holds("document.querySelector('.split .moment').textContent !== ''", "names the segment at the cursor")
		if !value[bool](b, "document.querySelector('.split .plot canvas').dataset.first === 'yes'") {
			t.Error("the chart was drawn anew")
		}
		b.dragAcross(".split .u-over", 0.25, 0.75)
		b.holds("!location.hash.includes('t=2026-01-01T00:00Z') && location.hash.includes('t=2026-01-01T0')", "has a shorter period")
		b.sees("Requests over time by country")
	})
	walk("a split chart leaves out a segment of which the period has a part", func(t *testing.T, b *tab, s *served) {
		b.open("#/?by=country&seg=5m&t=2026-01-01T10:00Z..2026-01-01T11:02Z")
		b.run(chromedp.WaitVisible(".split .u-over"), chromedp.Focus(".split .plot"))
		b.keys(kb.End)
		b.holds("document.querySelector('.split .moment').textContent === '2026-01-01 11:00'", "names the last segment")
		b.holds("[...document.querySelectorAll('.split .series b')].every((e) => e.textContent === '–')", "has no numbers for it")
	})
	walk("a dashboard with a split chart says that its figures failed", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 500"}
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			return isQuestion(t, r, "timeline") && !strings.Contains(bodyOf(t, r)["filters"].(string), "2025-12-31") &&
				refuse(w, http.StatusInternalServerError, "something went wrong on our side")
		})
		b.open("#/?by=country&t=" + demoDay)
		b.holds("document.querySelector('.trouble.failed')?.textContent.includes('Figures: The question failed')", "names the figures")
		b.sees("id-of-the-request")
		s.answer(nil)
		b.click(".trouble button", "Ask again")
		b.holds(numberOf("requests")+" === 3000 && !document.querySelector('.trouble')", "has the figures")
	})
	walk("parts that fail apart are asked again by themselves", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"ERR_"}
		var gone atomic.Bool
		gone.Store(true)
		shown, failed := make(chan struct{}), make(chan struct{}, 8)
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case !gone.Load():
			case isQuestion(t, r, "facets"): // only the beginning of the answer arrives
				w.Header().Set("Content-Length", "1000")
				_, _ = w.Write([]byte(`{"data":`))
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			case isQuestion(t, r, "timeline") && strings.Contains(bodyOf(t, r)["filters"].(string), "2025-12-31"):
				<-shown
				failed <- struct{}{}
				panic(http.ErrAbortHandler)
			}
			return false
		})
		b.open("#/?t=" + demoDay)
		b.sees("Figures: The server does not answer")
		close(shown)
		<-failed
		gone.Store(false)
		b.holds(numberOf("clients")+" > 0 && !document.querySelector('.trouble')", "has all figures by itself")
	})
	walk("one form asks for the key, however many parts need it", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 401"}
		b.open("#/?panel=standout&t=" + demoDay)
		b.holds("document.querySelectorAll('.list tbody tr').length > 20 && document.querySelector('.stand-out li')", "has its answers")
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			return strings.HasPrefix(r.URL.Path, "/api/") && bodyOf(t, r)["dry_run"] != true &&
				r.Header.Get("Authorization") != "Bearer the-new-key" && refuse(w, http.StatusUnauthorized, "an API key is needed")
		})
		b.keys("r")
		b.sees("This server needs an API key")
		b.answered()
		if n := value[int](b, "document.querySelectorAll('.trouble.key').length"); n != 1 {
			t.Errorf("%d forms ask for the key", n)
		}
		b.accessible("key of several parts")
		b.fill("#key", "the-new-key")
		b.click("button", "Use the key")
		b.holds("document.querySelector('.stand-out li') && !document.querySelector('.trouble')", "has the answers")
	})
	walk("another screen does not take over the field that splits the chart", func(t *testing.T, b *tab, s *served) {
		b.open("#/?by=country&t=" + demoDay)
		b.holds(numberOf("requests")+" === 3000", "has the figures")
		b.click(".tile.requests", "")
		b.sees("200 of ")
		if at := b.fragment(); strings.Contains(at, "by=") {
			t.Errorf("the address is %s", at)
		}
	})
	walk("a period that is chosen before the first answer stays", func(t *testing.T, b *tab, s *served) {
		var estimates atomic.Bool
		asked, released, estimated := make(chan struct{}, 8), make(chan struct{}), make(chan struct{})
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			switch {
			case isQuestion(t, r, "timeline"):
				asked <- struct{}{}
				<-released
			case estimates.Load() && strings.HasSuffix(r.URL.Path, "/data/timeline") && bodyOf(t, r)["dry_run"] == true:
				<-estimated
			}
			return false
		})
		b.open("")
		<-asked
		<-asked
		estimates.Store(true)
		b.click("#period", "")
		b.click(".presets button", "24h")
		b.holds("location.hash.includes('t=24h')", "has the period")
		close(released)
		b.sees("No requests in this period")
		close(estimated)
		b.answered()
		if at := b.fragment(); !strings.Contains(at, "t=24h") {
			t.Errorf("the address is %s", at)
		}
	})
	walk("a query is followed after a reload although the address shows it in another zone", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 504"}
		query := newLongQuery("topx")
		s.answer(query.answer(t))
		b.loadAtOnce()
		b.open("#/?f=status=200&t=30m")
		b.sees("The query has been running")
		b.run(chromedp.Evaluate("location.hash += '&tz=Europe/Berlin'", nil))
		b.run(chromedp.Reload())
		b.sees("The query has been running")
		b.holds("document.querySelector('.trouble')", "has the other answers")
		if n := query.asked.Load(); n != 1 {
			t.Errorf("the query was asked %d times", n)
		}
		close(query.released)
		b.answered()
	})
	walk("the links of the evidence have the period of what was counted", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `blocked is true, reason~"."`)
		var period atomic.Value
		held := make(chan struct{})
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			if isQuestion(t, r, "facets") {
				if asked := strings.SplitN(bodyOf(t, r)["filters"].(string), ",", 2); strings.HasPrefix(asked[1], " reason=") {
					period.Store(asked[0])
				}
				<-held
			}
			return false
		})
		b.open("#/events/" + record["record_ref"].(string) + "?t=900d")
		b.sees("Is it a false positive?")
		b.holds("Date.now() > performance.timeOrigin + 2500", "shows a later second")
		close(held)
		b.click(".evidence li button", "show")
		b.holds("location.hash.includes('..')", "has an absolute period")
		at := b.fragment()
		ends := strings.Split(strings.SplitN(at[strings.Index(at, "t=")+2:], "&", 2)[0], "..")
		want := period.Load().(string)
		for _, end := range ends {
			if text := strings.TrimSuffix(strings.Replace(end, "T", " ", 1), "Z"); !strings.Contains(want, text) {
				t.Errorf("the link begins or ends at %s, and what was counted is %s", end, want)
			}
		}
	})
	walk("what each part of a page rests on is said beside it", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `blocked is true, reason~"."`)
		b.open("#/events/" + record["record_ref"].(string) + "?panel=facets&t=" + demoDay)
		for _, part := range []string{".facets", ".record-pane .record", ".evidence"} {
			b.holds(fmt.Sprintf("document.querySelector('%s > .line .honesty')", part), "has it in "+part)
		}
		b.accessible("what parts rest on")
		b.open("#/?panel=standout&t=" + demoDay)
		b.holds(`/% of them \([0-9,]+\) have .*% of the other requests \([0-9,]+\)/.test(document.querySelector('.stand-out li')?.textContent)`,
			"has the numbers of requests")
	})
	walk("a long touch opens the menu of a value, and its end no record", func(t *testing.T, _ *tab, s *served) {
		b := newTab(t, browser, s.url, 360, "light")
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.evaluate(manualTouch)
		for _, step := range []struct {
			cell int // in the first row
			item string
			want string // pattern of the filter
		}{
			{1, "Only", `^(result="\w+"|upstream_status>=400)$`}, {2, "Without", `, status!=\d+$`},
		} {
			b.evaluate(fmt.Sprintf("touch('TouchStart', %d)", step.cell))
			b.holds("longTouches.size === 1", "waits for a long touch")
			b.evaluate("for (const run of [...longTouches.values()]) run(); longTouches.clear()")
			b.holds("document.activeElement.role === 'menuitem'", "has the focus in the menu")
			if value[bool](b, fmt.Sprintf("touch('TouchEnd', %d)", step.cell)) {
				t.Error("the end of a long touch is also a click")
			}
			b.click("[role=menuitem]", step.item)
			b.holds(fmt.Sprintf("new RegExp(%q).test(document.querySelector('#filter').value)", step.want), "has the condition")
			b.answered()
		}
		b.holds("!document.querySelector('.record')", "shows the list")
		b.check()
	})
	walk("a touch that moves does not act, also if its cell is drawn again", func(t *testing.T, b *tab, s *served) {
		b.open("#/events?t=" + demoDay)
		b.sees("200 of ")
		b.evaluate(manualTouch)
		b.evaluate("touch('TouchStart', 1)")
		b.holds("longTouches.size === 1", "waits for a long touch")
		b.run(chromedp.Focus(".rows"))
		b.keys(kb.ArrowRight)
		b.holds("document.querySelector('#cell-0-1.active')", "has drawn the cell again")
		b.evaluate("touch('TouchMove', 1)")
		if n := value[int](b, "longTouches.size"); n != 0 {
			t.Error("the touch acts although it moved")
		}
	})
}
