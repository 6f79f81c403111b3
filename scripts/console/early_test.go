package main

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// holdEffects keeps what the page does after it was drawn from being done, until late() lets it: what a slow machine does for
// a moment. Preact waits for a frame, or at most 35 ms.
const holdEffects = `{
	const { setTimeout, clearTimeout, requestAnimationFrame } = window;
	const held = [];
	window.requestAnimationFrame = () => 0;
	window.setTimeout = (run, ms, ...rest) => (ms === 35 ? held.push(run) : setTimeout(run, ms, ...rest));
	window.late = () => {
		Object.assign(window, { setTimeout, requestAnimationFrame });
		held.forEach((run) => run());
	};
}`

// TestControlsActAtOnce walks through pages whose controls are used as soon as they can be seen.
func TestControlsActAtOnce(t *testing.T) {
	walk := walksAt(t, demo.address(t))

	walk("shortcuts act when the page is drawn",
		everyPage(holdEffects), open("#/?t="+demoDay), exists("#period"), shortcut("t"), exists("#period[aria-expanded=true]"),
		evaluate("late()"), exists("#zone"), keys(kb.Escape), answered())
	walk("a question that is seen can be cancelled",
		answers(func(c *call) bool { return c.estimate() && c.leaves() }), everyPage(holdEffects), open("#/?t="+demoDay), click("[data-cancel]", "Cancel"), sees("Cancelled."), evaluate("late()"),
		answers(), click(".progress button", "Ask again"), moreThan(20, ".list tbody tr"))
	walk("an answer is used as soon as its button can be clicked again",
		open("#/events?t="+demoDay), sees("200 of "), answered(), evaluate(holdEffects), forgetCalls(), click(".more button", "Load older"),
		textBegins(".over-rows span", "400 of "), evaluate("late()"), asked("logs", 1))
}

// TestSignsOfAValue: the signs beside a value are for keys and the mouse, and not left over after a click.
func TestSignsOfAValue(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	const signs = "$$('.acts').filter((e) => e.checkVisibility())"
	walk("the signs of a value",
		open("#/?t="+demoDay), moreThan(20, ".list tbody tr"), answered(), press(".list .value button"), focused("[role=menuitem]"),
		holds(signs+".length === 0", "shows no signs below the menu"), does(chromedp.MouseClickXY(5, 400)),
		holds("!$('[role=menu]') && "+signs+".length === 0", "shows none after the menu"), tabTo("at.matches('.list .value .plain')", 80),
		holds(signs+".length === 1 && "+signs+"[0].previousElementSibling === document.activeElement", "shows the signs of the focused value"),
		open("#/events?t="+demoDay), sees("200 of "), answered(), focus(".rows"), keys(kb.ArrowDown+kb.ArrowRight),
		holds("$('.cell.active .acts')?.checkVisibility() && "+signs+".length === 1", "shows the signs of the active cell"))
}
