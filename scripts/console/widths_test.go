package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestNarrowWindows walks through what is different in windows that are not wide.
func TestNarrowWindows(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	const copyAsCurl = "$$('.line button').some((e) => e.textContent === 'copy as curl' && e.checkVisibility())"

	walk("a phone has a menu of what was asked",
		at(360), open("#/?t="+demoDay), sees("Requests over time"), moreThan(20, ".list tbody tr"), keepCopies(),
		holds("$('.line summary')?.getBoundingClientRect().height >= 44", "has a target for fingers"), click(".line summary", ""),
		holds(copyAsCurl, "offers the copy"), accessible("tools"), screenshot("tools-360"), fits("the menu"),
		click(".line button", "copy as curl"), copies("/data/timeline"), holds("!"+copyAsCurl, "closes the menu"),
		click(".line summary", ""), click(".line button", "explain"), sees("What it would read and cost"))
	for _, width := range []int64{360, 768} {
		walk(fmt.Sprint("the focus goes into a record that covers the list, and back, at ", width),
			at(width), open("#/events?t="+demoDay), sees("200 of "), focus(".rows"), keys(kb.ArrowDown), enter(), exists(".record .why"),
			holds("document.activeElement?.closest('.events > :last-child')?.querySelector('.record')", "has the focus in the record"),
			answered(), // until then, Esc cancels
			keys(kb.Tab), holds("document.activeElement.textContent.includes('Back to the events')", "goes to the first button"),
			keys(kb.Escape), lacks(".record"), focused(".rows"), keys(kb.ArrowUp), enter(), exists(".record .why"),
			click(".record button", "Back to the events"), focused(".rows"))
	}
	walk("the header of a tablet is one line, also with a key",
		at(768), open("#/?t="+demoDay), evaluate("sessionStorage.setItem('orrery.key', 'any')"), reload(), sees("Forget the key"),
		holds("$('.top').offsetHeight < 56", "has one line"))
}
