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

	walk.run("the other requests of the session lead to their records", func(t *testing.T, b *tab, s *served) {
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
	walk("what a rule matched is marked in the part of the request",
		openRecord(`reason~"^Block - content filter \\["`, "t="+demoDay), textHas(".leaf.matched", "a rule matched it"),
		click(".record button", "Show hidden values"),
		holds("$('.leaf.matched mark')?.textContent === seen.record.cf_triggers.value", "marks the text"), accessible("what a rule matched"))
	walk("the rules that acted are a table, and its values have their menus",
		openRecord(`reason~"^Block - acl"`, "t="+demoDay),
		holds("$('.triggers')?.checkVisibility() && $('.triggers caption').textContent === 'Access control'",
			"has the rules of the access control in view"),
		exists(".triggers .value button"),
		evaluate("$$('.triggers .value button').find((e) => e.textContent.includes(seen.record.acl_triggers.trigger_name)).click()"), click("[role=menuitem]", "Only"),
		holds("$('#filter').value === `acl_triggers[\"trigger_name\"]=\"${seen.record.acl_triggers.trigger_name}\"`", "has the requests of the rule"),
		sees("shown"))
	walk.run("what to do has the requests to look at, and a ticket has the sentence and the link", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `reason~"^Block - content filter \\["`)
		reference, reason := record["record_ref"].(string), record["reason"].(string)
		verdict := explanationOf(t, s, reference).Verdict.Text
		b.do(open("#/events/"+reference+"?t="+demoDay), sees("What to do"), sees("If it should have passed: exempt the "), exists(".evidence li"),
			sees(verdict),
			keepCopies(), click(".take-along button", "Copy for a ticket"), holds("window.copied", "has copied it"))
		ticket := value[string](b, "window.copied")
		for _, want := range []string{
			"Result: Blocked\nWhy: Content filter ", "\nTime: 2026-01-01 ", " UTC\n", "\nAddress: " + record["ip"].(string),
			"\nRule: content filter ", "\nRecord: " + s.url + "/#/events/" + reference, "\nFilter: record_ref=\"" + reference + "\"\nVerdict: " + verdict + "\nReason: ",
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
	walk.run("a ticket is copied once its verdict is there", func(t *testing.T, b *tab, s *served) {
		released := make(chan struct{})
		ticket := "$$('.record button').find((e) => e.textContent === 'Copy for a ticket')"
		b.do(answers(func(c *call) bool {
			if c.question("why") {
				select {
				case <-released:
				case <-c.r.Context().Done():
				}
			}
			return false
		}), openRecord("blocked is true", "t="+demoDay),
			holds(ticket+"?.disabled && "+ticket+".title.startsWith('The ticket has the verdict')", "says what it waits for"),
			closes(released), holds("!"+ticket+".disabled", "can be copied"))
	})
	walk("a ticket is not copied without the catalogue, and the button says why",
		allow("status of 500"), answers(refuses("/data/fields", http.StatusInternalServerError, "no fields now")),
		openRecord("blocked is true", "t="+demoDay),
		holds(`$$('.record button').some((e) => e.textContent === 'Copy for a ticket' && e.disabled &&
			e.title.startsWith('Not possible without the list of fields'))`, "says why"))
	walk("tags are in groups by what they are about",
		openRecord(`tags="geo-country:germany", blocked is true`, "t="+demoDay), moreThan(1, ".tags"),
		holds("$$('.tags').find((e) => e.textContent.includes('geo-country:germany')).querySelector('dt').textContent === 'tags of geography'",
			"has the country in its group"), must("$$('.tags .value').length === seen.record.tags.length", "some tags are not shown"))
	walk("where the time of a request went is a bar",
		openRecord("upstream_status=200, request_time>0.01", "t="+demoDay), click(".group summary", "Timing"),
		holds("/It took .*gateway .*origin [0-9]/.test($('.timing figcaption')?.textContent)", "has the times in words"),
		holds("$('.times .of-origin').offsetWidth > $('.times .of-service').offsetWidth", "has the bar"), accessible("times"))
	walk("the link that a record copies has a period that stays",
		openRecord("blocked is true", "t=24h"), keepCopies(), click(".record button", "Copy link"),
		holds("copied.includes(seen.record.record_ref) && copied.includes('..') && !copied.includes('24h')", "has copied it"))
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

	record := together(openRecord("blocked is true", "t="+demoDay), count(".session .verdict", 41)) // the nearest requests of the session
	const titles = "[...document.querySelectorAll('.session .verdict')].map((e) => e.title.replace(/.*\\//, '')).join()"
	var around []string
	for i := 980; i <= 1020; i++ {
		around = append(around, strconv.Itoa(i))
	}
	walk("the record is among the requests of its session, and the others are reached from there",
		record, is(titles, strings.Join(around, ",")), holds("$('.session [aria-current]')?.title.endsWith('/1000')", "marks its own"),
		sees("Before, the session sent 1,000 requests, and 999 of them passed."), accessible("long session"),
		click(".session button.link", "earlier"), filterIs(`session="long"`),
		textBegins(".event .target", "shop.example/980"), // where the strip began
		back(), click(".session button.link", "later"), sees("200 of "), addressHas("t=2026-01-01T10:17Z..2026-01-01T10:46:40Z"))
	walk("the session is a table, too, whose times lead to their records",
		record, holds("$('.evidence .honesty') && !$('.evidence .line button')", "offers no copy of questions with the id of the session"),
		click(".evidence button", "Show as table"), count(".evidence tbody tr", 41),
		holds("$('.evidence [aria-current=true]').closest('tr').textContent.endsWith('shop.example/1000')", "marks its own"),
		accessible("the session as a table"), note("before", "location.hash"), count(".evidence ul.session button", 2),
		click(".evidence tbody tr:nth-child(20) a", ""),
		holds("$('.evidence [aria-current]')?.closest('tr').textContent.endsWith('shop.example/999')", "has the one before"),
		must("location.hash !== seen.before && location.hash.includes('as=table')", "the address is another one"))
	walk("the focus stays in the session from record to record",
		record, note("before", "location.hash"), focus(".session [title$='/999']"), keys(kb.Enter),
		holds("document.activeElement.ariaCurrent === 'true' && document.activeElement.title.endsWith('/999')",
			"has the focus on the other request"), must("location.hash !== seen.before", "the record is the same"))
}
