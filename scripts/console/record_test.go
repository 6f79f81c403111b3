package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// TestRecord walks through what a record has beside the sentence and the numbers.
func TestRecord(t *testing.T) {
	walk := walksAt(t, demo.address(t))

	walk.through("the other requests of the session lead to their records", func(t *testing.T, b *tab, s *served) {
		var found struct {
			Data struct {
				Results []struct {
					Values []struct {
						Condition            string
						NumOfRequests        int `json:"num_of_requests"`
						NumOfBlockedRequests int `json:"num_of_blocked_requests"`
					}
				}
			}
		}
		answer := conf(t, s, http.MethodPost, "/api/v4.0/data/facets",
			`{"filters":"timestamp between 2026-01-01 and 2026-01-02","by":"session","order":"blocked","limit":80}`)
		if err := json.Unmarshal([]byte(answer), &found); err != nil {
			t.Fatal(err)
		}
		condition := ""
		for _, one := range found.Data.Results[0].Values {
			if one.NumOfBlockedRequests > 0 && one.NumOfRequests > 1 && one.NumOfRequests < 40 {
				condition = one.Condition
				break
			}
		}
		if condition == "" {
			t.Fatal("no session of the data has several requests, one of them blocked")
		}
		blocked := firstRecord(t, s, condition+", blocked is true") // the newest of them: others of the session are before it, or soon after
		reference := blocked["record_ref"].(string)
		b.do(open("#/events/"+reference+"?t="+demoDay), moreThan(1, ".session .verdict"), count(".session [aria-current]", 1),
			accessible("session"), click(".session .verdict:not([aria-current])", ""),
			holds(fmt.Sprintf("!location.hash.includes(%q) && $('.record .why')", reference), "has another record"))
	})
	walk.through("what a rule matched is marked in the part of the request", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `reason~"^Block - content filter \\["`)
		matched := record["cf_triggers"].(map[string]any)["value"].(string)
		b.do(open("#/events/"+record["record_ref"].(string)+"?t="+demoDay), textHas(".leaf.matched", "a rule matched it"),
			click(".record button", "Show hidden values"),
			holds(fmt.Sprintf("$('.leaf.matched mark')?.textContent === %q", matched), "marks the text"),
			accessible("what a rule matched"))
	})
	walk.through("the rules that acted are a table, and its values have their menus", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `reason~"^Block - acl"`)
		rule := record["acl_triggers"].(map[string]any)["trigger_name"].(string)
		b.do(open("#/events/"+record["record_ref"].(string)+"?t="+demoDay),
			holds("$('.triggers')?.checkVisibility() && $('.triggers caption').textContent === 'Access control'", "has the rules of the access control in view"),
			click(".triggers .value button", rule), click("[role=menuitem]", "Only"),
			holds(fmt.Sprintf(`$('#filter').value === 'acl_triggers["trigger_name"]=%q'`, rule), "has the requests of the rule"),
			sees("shown"))
	})
	walk.through("what to do has the requests to look at, and a ticket has the sentence and the link", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `reason~"^Block - content filter \\["`)
		reference, reason := record["record_ref"].(string), record["reason"].(string)
		b.do(open("#/events/"+reference+"?t="+demoDay), sees("What to do"), sees("If it should have passed: exempt the "),
			keepCopies(), click(".record button", "Copy for a ticket"), holds("window.copied", "has copied it"))
		ticket := value[string](b, "window.copied")
		for _, want := range []string{
			"Result: Blocked\nWhy: Content filter ", "\nTime: 2026-01-01 ", " UTC\n", "\nAddress: " + record["ip"].(string),
			"\nRule: content filter ", "\nRecord: " + s.url + "/#/events/" + reference, "\nFilter: record_ref=\"" + reference + "\"\n",
		} {
			if !strings.Contains(ticket, want) {
				t.Errorf("the ticket lacks %q:\n%s", want, ticket)
			}
		}
		for _, secret := range secretsOf(record) {
			if strings.Contains(ticket, secret) {
				t.Errorf("the ticket has the secret %q:\n%s", secret, ticket)
			}
		}
		b.do(accessible("what to do"), click(".steps button", "show"),
			holds(fmt.Sprintf("$('#filter').value === 'reason=' + JSON.stringify(%q) + ', human is true'", reason), "has the people whom the rule stopped"))
	})
	walk.through("a ticket is not copied without the catalogue, and the button says why", func(t *testing.T, b *tab, s *served) {
		b.do(allow("status of 500"))
		record := firstRecord(t, s, "blocked is true")
		b.do(answers(func(c *call) bool {
			return c.to("/data/fields") && c.refuse(http.StatusInternalServerError, "no fields now")
		}),
			open("#/events/"+record["record_ref"].(string)+"?t="+demoDay),
			holds(`$$('.record button').some((e) => e.textContent === 'Copy for a ticket' && e.disabled &&
			e.title.startsWith('Not possible without the list of fields'))`, "says why"))
	})
	walk.through("tags are in groups by what they are about", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `tags="geo-country:germany", blocked is true`)
		b.do(open("#/events/"+record["record_ref"].(string)+"?t="+demoDay), moreThan(1, ".tags"),
			holds("$$('.tags').find((e) => e.textContent.includes('geo-country:germany'))"+
				".querySelector('dt').textContent === 'tags of geography'", "has the country in its group"))
		if shown, all := value[int](b, "document.querySelectorAll('.tags .value').length"), len(record["tags"].([]any)); shown != all {
			t.Errorf("%d of %d tags are shown", shown, all)
		}
	})
	walk.through("where the time of a request went is a bar", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `upstream_status=200, request_time>0.01`)
		b.do(open("#/events/"+record["record_ref"].(string)+"?t="+demoDay), click(".group summary", "Timing"),
			holds("/It took .*gateway .*origin [0-9]/.test($('.timing figcaption')?.textContent)", "has the times in words"),
			holds("$('.times .of-origin').offsetWidth > $('.times .of-service').offsetWidth", "has the bar"), accessible("times"))
	})
	walk.through("the link that a record copies has a period that stays", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `blocked is true`)
		reference := record["record_ref"].(string)
		b.do(open("#/events/"+reference+"?t=24h"), keepCopies(), click(".record button", "Copy link"),
			holds(fmt.Sprintf("window.copied?.includes(%q) && window.copied.includes('..') && !window.copied.includes('24h')", reference), "has copied it"))
	})
}

// longSession returns a log with a session of many requests, one a second, of which two are blocked.
func longSession(requests, blocked int) string {
	var log strings.Builder
	begin := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	for i := range requests {
		members := `"result":"Passed","blocked":false`
		if i == blocked || i == blocked-1 {
			members = `"result":"Blocked","blocked":true,"reason":"Block - acl Deny [\"all\"] - acl1 - [request]"`
		}
		fmt.Fprintf(&log, `{"processing_stage":6,"timestamp":%q,"ip":"192.0.2.1","session":"long","host":"shop.example","path":"/%d",%s}`+"\n",
			begin.Add(time.Duration(i)*time.Second).Format(time.RFC3339), i, members)
	}
	return log.String()
}

// TestLongSession walks through a record in the middle of a session of thousands of requests.
func TestLongSession(t *testing.T) {
	walk := walksAt(t, serveLog(t, longSession(3000, 1000)))

	open := func(t *testing.T, b *tab, s *served) {
		t.Helper()
		b.open("#/events/" + firstRecord(t, s, "blocked is true")["record_ref"].(string) + "?t=" + demoDay)
		b.holds("document.querySelectorAll('.session .verdict').length === 41", "has the nearest requests of the session")
	}
	const titles = "[...document.querySelectorAll('.session .verdict')].map((e) => e.title.replace(/.*\\//, '')).join()"
	walk.through("the record is among the requests of its session, and the others are reached from there", func(t *testing.T, b *tab, s *served) {
		open(t, b, s)
		var want []string
		for i := 980; i <= 1020; i++ {
			want = append(want, strconv.Itoa(i))
		}
		b.do(is(titles, strings.Join(want, ",")), holds("$('.session [aria-current]')?.title.endsWith('/1000')", "marks its own"),
			sees("The same session before: 1,000 requests, 999 of them passed."), accessible("long session"),
			click(".session button.link", "earlier"), filterIs(`session="long"`), textBegins(".event .target", "shop.example/980"),
			back(), click(".session button.link", "later"), sees("200 of "),
			addressHas("t=2026-01-01T10:17Z..2026-01-01T10:46:40Z"))
	})
	walk.through("the session is a table, too, whose times lead to their records", func(t *testing.T, b *tab, s *served) {
		open(t, b, s)
		b.do(holds("$('.evidence .honesty') && !$('.evidence .line button')", "offers no copy of questions with the id of the session"),
			click(".evidence button", "Show as table"), count(".evidence tbody tr", 41),
			holds("$('.evidence [aria-current=true]').closest('tr').textContent.endsWith('shop.example/1000')", "marks its own"),
			accessible("the session as a table"))
		before := b.fragment()
		b.do(count(".evidence ul.session button", 2), click(".evidence tbody tr:nth-child(20) a", ""),
			holds("$('.evidence [aria-current]')?.closest('tr').textContent.endsWith('shop.example/999')", "has the one before"))
		if after := b.fragment(); after == before || !strings.Contains(after, "as=table") {
			t.Errorf("the address is %s", after)
		}
	})
	walk.through("the focus stays in the session from record to record", func(t *testing.T, b *tab, s *served) {
		open(t, b, s)
		before := b.fragment()
		b.do(focus(".session [title$='/999']"), keys(kb.Enter),
			holds("document.activeElement.ariaCurrent === 'true' && document.activeElement.title.endsWith('/999')", "has the focus on the other request"))
		if b.fragment() == before {
			t.Error("the record is the same")
		}
	})
}
