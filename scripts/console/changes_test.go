package main

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// TestChanges walks through the changes of settings on the dashboard, and what they did.
func TestChanges(t *testing.T) {
	walk := walksAt(t, serveLog(t, changedSettings()))
	const day, changes = "t=2026-01-01T10:00Z..2026-01-01T12:00Z", ".changes li button"

	walk("the chart marks the changes without a click, and a click lists them",
		open("#/?"+day), visible(".plot canvas"), answered(), text(".legend .settings .hidden", ": 11:00 revision new"),
		asked("histogram", 1), lacks(".changes"), focus(".plot"), keys(kb.Home),
		holds("!$('.legend .settings.here')", "names no change at the beginning"), keys(strings.Repeat(kb.ArrowRight, 60)),
		text(".legend .settings.here", "11:00 revision new"),
		click(".over-rows button", "Changes of settings"), text(changes, "11:00 revision new"), sees("before: revision old"),
		asked("histogram", 1), hashHas("panel=changes"))
	var estimates atomic.Int32
	walk("changes that are heavy to find wait for a click",
		answers(func(c *call) bool {
			if c.estimate("histogram") {
				estimates.Add(1)
			}
			return heavy("histogram")(c)
		}), open("#/?"+day), visible(".plot canvas"), answered(), until(func() bool { return estimates.Load() > 0 }, "estimates the marks"),
		asked("histogram", 0), lacks(".trouble"), lacks(".legend .settings"), click(".over-rows button", "Changes of settings"),
		sees("This is a heavy question"), asked("histogram", 0), click("button", "Run it"), text(changes, "11:00 revision new"),
		exists(".legend .settings"))
	walk("a change says what it did, by keys",
		open("#/?panel=changes&"+day), exists(changes), answered(), asked("effect", 0), focus(changes), keys(kb.Enter),
		focused("[role=menuitem]"), keys(kb.Enter), text("#effect", "Effect of the change: 11:00 revision new"),
		exists(".effect tbody th"), asked("effect", 1), accessible("an effect"), screenshot("effect-1280"),
		click(".effect tbody a", ""), hashHas("#/events"), exists(".event"))
	walk("a change leads to the two hours around it",
		open("#/?panel=changes&"+day), click(changes, ""), click("[role=menuitem]", "Show the two hours"),
		addressHas("t=2026-01-01T10:00Z..2026-01-01T11:59:59.999Z"))
	walk("the chart of the events marks the changes, too, after a click",
		open("#/events?"+day), visible(".plot canvas"), exists(".event"), answered(), asked("histogram", 0), lacks(".changes"),
		click(".over-rows button", "Changes of settings"), text(changes, "11:00 revision new"), hashHas("panel=changes"),
		textBegins(".legend .settings", "Changes of settings"), asked("histogram", 1), asked("logs", 1), asked("timeline", 1),
		focus(".plot"), keys(kb.Home+strings.Repeat(kb.ArrowRight, 60)), text(".legend .settings.here", "11:00 revision new"),
		click(".over-rows button", "Changes of settings"), lacks(".changes"), lacks(".legend .settings"), hashLacks("panel="))
	walk("a period without changes says so",
		open("#/?panel=changes&t=2026-01-01T10:00Z..2026-01-01T10:30Z"),
		sees("No change of settings in this period."), lacks(".legend .settings"))
	walk("the changes and what they did are accessible, at all widths",
		inThemes(func(shot func(name string) step) []step {
			return []step{
				open("#/events?panel=changes&" + day), exists(changes), exists(".event"), answered(), shot("events-changes"),
				open("#/?panel=changes&" + day), click(changes, ""), click("[role=menuitem]",
					"What did this change do?"), exists(".effect tbody tr"),
				answered(), evaluate("$('.changes').scrollIntoView()"), shot("changes"),
			}
		}))
}

// changedSettings returns a log of two hours. In the second one, a new revision of the settings blocks more.
func changedSettings() string {
	var log strings.Builder
	begin := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	for i := range 2400 {
		revision, members := "old", `"result":"Passed","blocked":false`
		if i >= 1200 {
			revision = "new"
		}
		if i%100 == 0 || i >= 1200 && i%4 == 0 {
			members = `"result":"Blocked","blocked":true,"reason":"Block - acl Deny [\"all\"] - acl3 - [request]"`
		}
		fmt.Fprintf(&log,
			`{"processing_stage":6,"timestamp":%q,"ip":"192.0.2.%d","host":"shop.example","path":"/","human":true,"security_config":{"revision":%q},%s}`+"\n",
			begin.Add(time.Duration(i)*3*time.Second).Format(time.RFC3339), i%50, revision, members)
	}
	return log.String()
}
