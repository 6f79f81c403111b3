package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

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
	server := demo.address(t)
	walk := walksAt(t, server)

	walk("a split chart stays while the cursor moves, and what is dragged over is zoomed to",
		open("#/?by=country&t="+demoDay), exists(".split .plot canvas"),
		evaluate("$('.split .plot canvas').dataset.first = 'yes'"), focus(".split .plot"), keys(kb.ArrowRight+kb.ArrowRight),
		holds("$('.split .moment').textContent !== ''", "names the segment at the cursor"),
		must("$('.split .plot canvas').dataset.first === 'yes'", "the chart was drawn anew"),
		dragAcross(".split .u-over", 0.25, 0.75), click(selected+" button", "Zoom"),
		holds("!location.hash.includes('t=2026-01-01T00:00Z') && location.hash.includes('t=2026-01-01T0')", "has a shorter period"),
		sees("Requests over time by country"))
	walk("a split chart leaves out a segment of which the period has a part",
		open("#/?by=country&seg=5m&t=2026-01-01T10:00Z..2026-01-01T11:02Z"), visible(".split .u-over"), focus(".split .plot"),
		keys(kb.End), text(".split .moment", "2026-01-01 11:00"),
		holds("$$('.split .series b').every((e) => e.textContent === '–')", "has no numbers for it"))
	walk("a dashboard with a split chart says that its figures failed",
		allow("status of 500"), answers(func(c *call) bool {
			return c.question("timeline") && !strings.Contains(c.filters(), "2025-12-31") &&
				c.fail()
		}), open("#/?by=country&t="+demoDay), textHas(".trouble.failed", "Figures: The question failed"), sees("id-of-the-request"),
		answers(), click(".trouble button", "Ask again"),
		holds(numberOf("requests")+" === 3000 && !$('.trouble')", "has the figures"))
	walk.run("parts that fail apart are asked again by themselves", func(t *testing.T, b *tab, s *served) {
		b.do(allow("ERR_"))
		var gone atomic.Bool
		b.do(sets(&gone, true))
		shown, failed := make(chan struct{}), make(chan struct{}, 8)
		b.do(answers(func(c *call) bool {
			switch {
			case !gone.Load():
			case c.question("facets"): // only the beginning of the answer arrives
				c.w.Header().Set("Content-Length", "1000")
				_, _ = c.w.Write([]byte(`{"data":`))
				_ = http.NewResponseController(c.w).Flush()
				return c.hangUp()
			case c.question("timeline") && strings.Contains(c.filters(), "2025-12-31"):
				<-shown
				failed <- struct{}{}
				return c.hangUp()
			}
			return false
		}), open("#/?t="+demoDay), sees("Figures: The server does not answer"), closes(shown), receives(failed), sets(&gone, false),
			holds(numberOf("clients")+" > 0 && !$('.trouble')", "has all figures by itself"))
	})
	walk("one form asks for the key, however many parts need it",
		allow("status of 401"), open("#/?panel=standout&t="+demoDay),
		holds("$$('.list tbody tr').length > 20 && $('.stand-out li')", "has its answers"), answers(func(c *call) bool {
			return c.api() && c.body["dry_run"] != true &&
				c.r.Header.Get("Authorization") != "Bearer the-new-key" && c.refuse(http.StatusUnauthorized, "an API key is needed")
		}), keys("r"), sees("This server needs an API key"), answered(), is("$$('.trouble.key').length", 1),
		accessible("key of several parts"), fill("#key", "the-new-key"), click("button", "Use the key"),
		holds("$('.stand-out li') && !$('.trouble')", "has the answers"))
	walk("another screen does not take over the field that splits the chart",
		open("#/?by=country&t="+demoDay), tile("requests", 3000), click(".tile.requests", ""), sees("200 of "),
		addressLacks("by="))
	walk.run("a period that is chosen before the first answer stays", func(t *testing.T, b *tab, s *served) {
		var estimates atomic.Bool
		asked, released, estimated := make(chan struct{}, 8), make(chan struct{}), make(chan struct{})
		b.do(answers(func(c *call) bool {
			switch {
			case c.question("timeline"):
				asked <- struct{}{}
				<-released
			case estimates.Load() && c.estimate("timeline"):
				<-estimated
			}
			return false
		}), open(""), receives(asked), receives(asked), sets(&estimates, true), click("#period", ""), click(".presets button", "24h"),
			hashHas("t=24h"), closes(released), sees("No requests in this period"), closes(estimated), answered(),
			addressHas("t=24h"))
	})
	walk("a query is followed after a reload although the address shows it in another zone",
		allow("status of 504"), runs("topx"), loadAtOnce(), open("#/?f=status=200&t=30m"), sees("The query has been running"),
		evaluate("location.hash += '&tz=Europe/Berlin'"), reload(), sees("The query has been running"), exists(".trouble"), sentOnce(),
		releases(), answered())
	walk.run("the links of the evidence have the period of what was counted", func(t *testing.T, b *tab, s *served) {
		reference := firstRecord(t, s, `blocked is true, reason~"."`)["record_ref"].(string)
		reason := explanationOf(t, s, reference).Verdict.Reasons[firstCounted(t, s, reference)]
		b.do(open("#/events/"+reference+"?t=900d"), sees(reason.Text), click(".evidence li button", "show"), hashHas(".."))
		at := b.fragment()
		ends := strings.Split(strings.SplitN(at[strings.Index(at, "t=")+2:], "&", 2)[0], "..")
		want, _, _ := strings.Cut(reason.Counts[0].Filter, ", ")
		for _, end := range ends {
			if text := strings.TrimSuffix(strings.Replace(end, "T", " ", 1), "Z"); !strings.Contains(want, text) {
				t.Errorf("the link begins or ends at %s, and what was counted is %s", end, want)
			}
		}
	})
	walk.run("what each part of a page rests on is said beside it", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `blocked is true, reason~"."`)
		b.do(open("#/events/" + record["record_ref"].(string) + "?panel=facets&t=" + demoDay))
		for _, part := range []string{".facets", ".record-pane .record", ".evidence"} {
			b.holds(fmt.Sprintf("document.querySelector('%s > .line .honesty')", part), "has it in "+part)
		}
		b.do(accessible("what parts rest on"), open("#/?panel=standout&t="+demoDay),
			holds(`/: .*% of these \([0-9,]+\), .*% of the rest \([0-9,]+\)/.test($('.stand-out li')?.textContent)`, "has the numbers of requests"))
	})
	// touched ends a long touch of a cell of the first row, and takes an item of its menu. The filter is then one of a pattern.
	touched := func(cell int, item, want string) step {
		return together(evaluate(fmt.Sprintf("touch('TouchStart', %d)", cell)), holds("longTouches.size === 1", "waits for a long touch"),
			evaluate("for (const run of [...longTouches.values()]) run(); longTouches.clear()"), focused("[role=menuitem]"),
			mustNot(fmt.Sprintf("touch('TouchEnd', %d)", cell), "the end of a long touch is also a click"), click("[role=menuitem]", item),
			holds(fmt.Sprintf("new RegExp(%q).test($('#filter').value)", want), "has the condition"), answered())
	}
	walk("a long touch opens the menu of a value, and its end no record",
		at(360), open("#/events?t="+demoDay), sees("200 of "), evaluate(manualTouch),
		touched(1, "Only", `^(result="\w+"|upstream_status>=400)$`), touched(2, "Without", `, status!=\d+$`), lacks(".record"))
	walk("a touch that moves does not act, also if its cell is drawn again",
		open("#/events?t="+demoDay), sees("200 of "), evaluate(manualTouch), evaluate("touch('TouchStart', 1)"),
		holds("longTouches.size === 1", "waits for a long touch"), focus(".rows"), keys(kb.ArrowRight), exists("#cell-0-1.active"),
		evaluate("touch('TouchMove', 1)"), is("longTouches.size", 0))
}
