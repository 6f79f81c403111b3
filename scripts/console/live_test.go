package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// arriving is a log to which events are added while it is followed.
type arriving struct {
	pending atomic.Int32 // events that the next question finds
	sent    atomic.Int32
}

func (a *arriving) answer(c *call) bool {
	if !c.to("/logs") && !c.to("/timeline") {
		return false
	}
	if _, followed := c.body["since"]; !followed {
		c.body["filters"] = "timestamp between 2026-01-01 and 2026-01-02" // the period that ends now has no data
		return c.changed(unchanged)
	}
	limit := int32(c.body["limit"].(float64))
	n := a.pending.Swap(0)
	meta := map[string]any{
		"head": "head", "next": nil, "engine": "scan", "bytes_scanned": 1000, "elapsed_ms": 1,
		"period": map[string]any{"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z"},
	}
	if n > limit {
		n, meta["next"] = limit, "cursor"
	}
	results := make([]map[string]any, n)
	first := a.sent.Add(n)
	for i := range results {
		number := int(first) - i
		results[i] = map[string]any{
			"timestamp": "2026-01-02T00:00:00Z", "record_ref": fmt.Sprint("new-", number), "result": "Passed", "host": "new",
			"path": fmt.Sprint("/new-", number),
		}
	}
	if err := json.NewEncoder(c.w).Encode(map[string]any{"data": map[string]any{"results": results}, "meta": meta}); err != nil {
		c.t.Error(err)
	}
	return true
}

// followed opens a list to which events are added, asked for each second unless the address says otherwise. Other answers come first.
func followed(rate string, first ...func(c *call) bool) step {
	return stepOf(func(b *tab) {
		b.live = &arriving{}
		b.s.answer(append(first, b.live.answer)...)
		b.do(open("#/events?t=30m"+cmp.Or(rate, "&live=1")), sees("200 of "))
	}, "followed")
}

// arrive adds events to the list.
func arrive(n int32) step {
	return stepOf(func(b *tab) { b.live.pending.Store(n) }, "arrive", n)
}

// activeRow is the text of the row that the keys act on.
const activeRow = `document.getElementById(document.querySelector('.rows').getAttribute('aria-activedescendant'))?.parentElement.innerText`

// TestLive walks through lists to which events are added.
func TestLive(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	walk("more new events than a page are put above, and the list stays",
		followed(""), arrive(300), sees("500 of "), shows(".event", "/new-300"),
		calls(1, func(one sent) bool {
			return strings.HasSuffix(one.path, "/logs") && one.body["since"] == nil && one.body["dry_run"] == nil
		}))
	var broken atomic.Bool
	walk("live goes on after the server has failed, and asks nothing while the tab is hidden",
		allow("status of 500"), takeClock(), followed("&live=7", func(c *call) bool { return c.body["since"] != nil && broken.Load() && c.fail() }),
		waiting(), sets(&broken, true), tick(), sees("something went wrong on our side"), waiting(), sets(&broken, false), arrive(1), tick(),
		shows(".event", "/new-1"), holds("!document.body.innerText.includes('something went wrong')", "has forgotten the failure"), waiting(),
		forgetCalls(), arrive(1), evaluate(hide), tick(), tick(), evaluate("hidden = false"), tick(), shows(".event", "/new-2"),
		asked("logs", 1)) // when it is no longer hidden
	walk("the active row stays the same record",
		followed(""), focus(".rows"), keys(kb.ArrowDown+kb.ArrowDown), note("before", activeRow), arrive(1), shows(".event", "/new-1"),
		must(activeRow+" === seen.before", "another row is active"), arrive(1), shows(".event", "/new-2"),
		must(activeRow+" === seen.before", "another row is active"), arrive(100),
		holds(activeRow+" === seen.before && $('.rows').scrollTop > 0", "keeps the row in view"))
	walk("the active row stays while a record is open and events are put above",
		followed(""), focus(".rows"), keys(kb.ArrowDown), enter(), exists(".record .why"), focus(".rows"),
		keys(kb.ArrowDown+kb.ArrowDown), note("before", activeRow), arrive(3), click("button", "3 new"), shows(".event", "/new-3"),
		must(activeRow+" === seen.before", "another row is active"))
	walk("the newest events are kept, and the page says that others are left out",
		followed(""), arrive(2600), sees("Live keeps the newest 2,500. Older events are left out here."), sees("2,500 of "),
		lacks(".more"), accessible("cut"), click("button", "Show the older ones"), hashHas("..2026-01-02T00:00Z"), hashLacks("live"),
		sees("200 of "))
}
