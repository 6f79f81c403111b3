package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"
)

const (
	selected   = ".selected-part"
	selectedAt = selected + " p b" // its period
)

// figure is an expression for a figure of the selection in a chart.
func figure(name string) string {
	return fmt.Sprintf("[...$$('%s p span')].find((e) => e.textContent.startsWith(%q))?.querySelector('b').textContent", selected, name)
}

// TestSelection walks through what can be asked about a part of a chart.
func TestSelection(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	const hour = "t=2026-01-01T10:00Z..2026-01-01T11:00Z"
	const middle = "2026-01-01 10:15 – 10:45" // of the hour, in segments of 15 minutes

	walk.run("a drag offers what to ask, with figures that need no question", func(t *testing.T, b *tab, s *served) {
		n := numOfRequests(t, conf(t, s, http.MethodPost, "/api/v4.0/data/facets",
			`{"filters":"timestamp between 2026-01-01 10:15:00 and 2026-01-01 10:44:59.999","by":"method"}`))
		b.do(open("#/?"+hour+"&seg=15m"), exists(".u-over"), answered(), asked("timeline", 2), dragAcross(".u-over", .4, .8),
			text(selectedAt, middle), is(figure("requests"), fmt.Sprint(n)), asked("timeline", 2), addressLacks("10:15"),
			is("$$('"+selected+" .row button').map((e) => e.textContent).join()", "Zoom,What is different here,Requests,Report,×"),
			accessible("selection"), screenshot("selection"), keys(kb.Escape), lacks(selected), addressHas(hour))
		b.do(dragAcross(".u-over", .8, .4), click(selected+" a.count", ""), hashHas("#/events"), sees(fmt.Sprintf("all %d shown", n)))
	})
	walk("a selection is zoomed to, compared with the rest, listed and reported on",
		open("#/?"+hour+"&seg=15m"), exists(".u-over"), dragAcross(".u-over", .4, .8), click(selected+" button", "Zoom"),
		addressHas("t=2026-01-01T10:15Z..2026-01-01T10:44:59.999Z"), lacks(selected), back(), addressHas(hour), exists(".u-over"), answered(),
		dragAcross(".u-over", .4, .8), click(selected+" button", "What is different here"), hashHas("#/compare"), addressHas(hour),
		holds(fmt.Sprintf("$('#compare-what')?.selectedOptions[0].textContent === %q", middle), "names the selection"), textHas(".one-side.selected .quiet", "10:00 – 11:00"), answered(),
		exists(".overlay .u-over"), screenshot("selection-compared"), back(), exists(".u-over"), answered(),
		dragAcross(".u-over", .4, .8), click(selected+" button", "Requests"), hashHas("#/events"), addressHas("T10:15Z.."), visible(".event"), answered(),
		dragAcross(".u-over", .3, .6), exists(selected), lacks(selected+" [title='Show these requests']"), click(selected+" button", "Report"),
		exists(".report-page"), hashHas("#/?"), addressHas("panel=report"), addressHas("T10:"))
	walk("all of a chart is compared with the period before",
		open("#/?"+hour+"&seg=15m"), exists(".u-over"), dragAcross(".u-over", .01, 1.1), text(selectedAt, "2026-01-01 10:00 – 11:00"),
		click(selected+" button", "What is different here"), addressHas("vs=previous"), addressLacks("where="))
	walk("keys select segments, Enter zooms to them",
		open("#/?"+hour+"&seg=15m"), exists(".u-over"), focus(".plot"), keys(kb.ArrowRight+kb.ArrowRight),
		chord("ArrowRight", "ArrowRight", input.ModifierShift), text(selectedAt, middle), keys(kb.ArrowRight), lacks(selected),
		chord("ArrowLeft", "ArrowLeft", input.ModifierShift), text(selectedAt, "2026-01-01 10:30 – 11:00"), keys(kb.Tab),
		is("document.activeElement.textContent.length > 0 && Boolean(document.activeElement.closest('"+selected+"'))", true), keys(kb.Escape),
		lacks(selected), focused(".plot"), chord("ArrowLeft", "ArrowLeft", input.ModifierShift), exists(selected), enter(),
		addressHas("t=2026-01-01T10:15Z..2026-01-01T10:44:59.999Z"))
	walk("Esc closes a selection as soon as it can be seen",
		open("#/?"+hour+"&seg=15m"), exists(".u-over"), focus(".plot"), keys(kb.ArrowRight), // its script is loaded with the first
		chord("ArrowRight", "ArrowRight", input.ModifierShift), exists(selected), keys(kb.Escape), lacks(selected),
		evaluate(`(() => {
			const press = (key, shiftKey) => $('.plot').dispatchEvent(new KeyboardEvent('keydown', { key, shiftKey, bubbles: true, cancelable: true }));
			const seen = new MutationObserver(() => {
				if (!$('`+selected+`')) return;
				seen.disconnect();
				press('Escape', false);
				Promise.resolve().then(() => Promise.resolve()).then(() => { window.closedAtOnce = !$('`+selected+`'); });
			});
			seen.observe($('.chart'), { childList: true });
			press('ArrowLeft', true);
		})()`), holds("'closedAtOnce' in window", "has had a selection"), is("window.closedAtOnce", true))
	walk.run("a finger selects to the side, and scrolls up and down", func(t *testing.T, b *tab, s *served) {
		b.do(at(390), open("#/?"+hour+"&seg=15m"), exists(".u-over"), answered(), evaluate("$('.plot').scrollIntoView({block: 'center'})"))
		x, y, width, height := b.box("document.querySelector('.u-over')")
		touch := func(kind input.TouchType, x, y float64) step {
			points := []*input.TouchPoint{{X: x, Y: y}}
			if kind == input.TouchEnd {
				points = []*input.TouchPoint{}
			}
			return does(input.DispatchTouchEvent(kind, points))
		}
		from, to, middleY := x+width*.4, x+width*.8, y+height/2
		b.do(touch(input.TouchStart, from, middleY), touch(input.TouchMove, (from+to)/2, middleY), touch(input.TouchMove, to, middleY),
			touch(input.TouchEnd, 0, 0), text(selectedAt, middle), touchable("selection"), fits("selection"), screenshot("selection-touch"),
			click(selected+" .icon", ""), lacks(selected))
	})
	walk("a drag in the heatmap has the figures of its classes",
		open("#/?chart=heatmap&t="+demoDay), exists(".lines .u-over"), dragAcross(".lines .u-over", .2, .8), exists(selected),
		holds("Number("+figure("30 ms – 100 ms")+".replaceAll(',', '')) > 0", "has a figure"), click(selected+" button", "Zoom"),
		holds(`/t=2026-01-01T0[45][0-9:.]+Z\.\.2026-01-01T19[0-9:.]+Z/.test(decodeURIComponent(location.hash))`, "has the period of the drag"))
	for _, chart := range []struct{ at, figure string }{
		{"/?chart=status", "2xx"}, {"/?chart=latency", "half are faster"}, {"/?by=host", "shop.example"}, {"/compare?vs=previous", "These"},
		{"/try?rule=limit+1+per+1h+by+ip", "would act"}, {"/?panel=report", "Blocked"},
	} {
		walk("the other charts are asked, too: "+chart.at,
			open("#"+chart.at+"&t="+demoDay), exists("main .u-over"), answered(), dragAcross("main .u-over", .3, .6), exists(selected),
			must("$$('"+selected+" p span').length > 0", "there are no figures"), screenshot("selection "+chart.figure))
	}
}
