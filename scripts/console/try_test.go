package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// triedHour is the period of the records of limitedHour.
const triedHour = "t=2026-01-01T10:00Z..2026-01-01T11:00Z"

// tried is what the walks read of what a rule would have done.
type tried struct {
	Sentence    string
	NumOfNew    int `json:"num_of_new_requests"`
	NumOfHumans int `json:"num_of_human_requests"`
}

// TestTry walks through the screen that tries rules on past requests.
func TestTry(t *testing.T) {
	walk := walksAt(t, serveLog(t, limitedHour()))
	const headline, reading, line = ".verdict-of h2", ".reading", "#rule-curve"
	const harmless = "It would newly block no known person, only 200 requests of others, from 1 address."

	walk("a newcomer finds the limit that stops the attack and nobody else: three clicks",
		open("#/?"+triedHour), exists(".tile.requests"), answered(),
		click("nav a", "Try"), text(headline, harmless), // 1
		sees("Nothing is sent to a gateway."), visible(".picture"), textHas(".curve p.quiet", "From 10 on, no known person is stopped."),
		click(".curve p.quiet button", "Try 10"), addressHas("rule=limit 10 per 1m by ip"), // 2
		text(headline, "It would newly block no known person, only 540 requests of others, from 1 address."), answered(),
		count(".clients-of tbody tr", 1), textHas(".clients-of tbody th", "203.0.113.7"),
		click(".clients-of tbody a", "record"), hashHas("#/events/"), textHas(".record .line-of-request", "/login")) // 3
	walk("a newcomer sees whom blocking a country would meet: two clicks",
		open("#/?"+triedHour), click(".list .value button", "Germany"), exists("[role=menu]"), // 1
		click("[role=menuitem]", "Try to block these"), addressHas(`rule=block where country="Germany"`), // 2
		textBegins(headline, "It would newly block 5,280 requests of people, from 16 addresses."), exists(".verdict-of.people"),
		lacks(".curve"), count(".clients-of tbody tr", 10), exists(".clients-of .of-people"), filterIs(""), answered(),
		click(".clients-of button", "Show 6 more"), count(".clients-of tbody tr", 16))
	walk.run("the verdict and the figures are those of the server", func(t *testing.T, b *tab, s *served) {
		ask := func(rule string) tried {
			t.Helper()
			return answerTo[tried](t, s, "whatif", `{"filters":"timestamp between 2026-01-01 10:00 and 2026-01-01 11:00","rule":"`+rule+`"}`).Data.Results[0]
		}
		strict, loose := ask("limit 6 per 1m by ip"), ask("limit 30 per 1m by ip")
		if strict.NumOfHumans == 0 || strict.NumOfNew <= loose.NumOfNew {
			t.Fatalf("the rules do not differ: %+v %+v", strict, loose)
		}
		b.do(forgetCalls(), open("#/try?rule=limit+6+per+1m+by+ip&"+triedHour), text(".verdict-of p", strict.Sentence), answered(), asked("whatif", 1),
			click(".rule button", "Try another rule beside it"), addressHas("rule2=limit 12 per 1m by ip"), exists(".figures-of"),
			fill("#other-threshold", "30"), click(".trial:last-child .primary", "Try it"), addressHas("rule2=limit 30 per 1m by ip"),
			holds(fmt.Sprintf("$$('.figures-of tbody tr')[0].innerText.replace(/\\s+/g, ' ').trim() === 'Requests of people, newly %s %s'",
				grouped(strict.NumOfHumans), grouped(loose.NumOfHumans)), "has the figures of people"),
			holds(fmt.Sprintf("$$('.figures-of tbody tr')[2].innerText.replace(/\\s+/g, ' ').trim() === 'Requests, newly %s %s'",
				grouped(strict.NumOfNew), grouped(loose.NumOfNew)), "has the figures"),
			count(".figures-of .best", 2), answered(), asked("whatif", 3),
			click(".trial:last-child button", "Take the other rule away"), lacks(".figures-of"), hashLacks("rule2"))
	})
	walk("the line is moved by keys: nothing is asked until Enter",
		open("#/try?"+triedHour), exists(line), answered(), asked("whatif", 1), focus(line), keys(strings.Repeat(kb.ArrowLeft, 3)),
		textBegins(reading, "At 54: It would newly block no known person"), is("$('.knob').textContent", "54"),
		must(`$("#rule-curve").getAttribute('aria-valuetext').startsWith('At 54: It would')`, "screen readers do not learn what the threshold would do"),
		keys(kb.Home), textBegins(reading, "At 1: It would newly block 5,400 requests of people, from 20 addresses"), hashLacks("rule="),
		asked("whatif", 1), keys(strings.Repeat(kb.ArrowRight, 5)), enter(), addressHas("rule=limit 6 per 1m by ip"),
		textBegins(headline, "It would newly block 1,200 requests of people"), fieldIs("#rule-threshold", "6"), answered(),
		asked("whatif", 2), back(), fieldIs("#rule-threshold", "60"), text(headline, harmless))
	walk("the line is dragged: the rule changes when it is let go",
		open("#/try?"+triedHour), exists(line), exists(".plot canvas"), answered(), dragAcross(line, .8, .2),
		holds("/rule=limit\\+1?\\d\\+per/.test(location.hash)", "has the new threshold in its address"),
		holds("$('#rule-threshold').value < 20 && $('.knob').textContent === $('#rule-threshold').value", "has it in the form, too"))
	walk("the form writes every kind of rule",
		open("#/try?"+triedHour), fill("#rule-per", "10m"), addressHas("limit 60 per 10m by ip"), fill("#rule-by", "ip, path"),
		addressHas("by ip, path"), fill("#rule-above", "ban 10m"), addressHas("ban 10m"), exists(headline), answered(), lacks(".curve"),
		fill("#rule-counted", "path"), addressHas("by ip, path with path ban 10m"), fill("#rule-where", `path="/login"`), focus("#rule-where"), keys(kb.Enter),
		addressHas(`with path ban 10m where path="/login"`), answered(),
		open("#/try?"+triedHour), exists(headline), answered(), forgetCalls(), fill("#rule-kind", "block"), focused("#rule-where"),
		sees("Type which requests."), askedNothing(), keys(`path~"^/log"`+kb.Enter), addressHas(`rule=block where path~"^/log"`),
		text(headline, "It would newly block no known person, only 600 requests of others, from 1 address."),
		fill("#rule-kind", "challenge"), text(headline, "It would newly challenge no known person, only 600 requests of others, from 1 address."),
		fill("#rule-kind", "enforce"), focused("#rule-name"), keys("Far countries"+kb.Enter), addressHas("rule=enforce Far countries"),
		textBegins(headline, "It would newly block 1,320 requests of people, from 4 addresses."), answered(),
		fill("#rule-kind", "text"), fieldIs("#rule-text", "enforce Far countries"),
		fill("#rule-text", `{"threshold":6,"timeframe":60,"key":[{"attrs":"ip"}]}`), click(".rule .primary", "Try it"),
		textBegins(headline, "It would newly block 1,200 requests of people"), exists(".curve"), answered())
	walk("the filter of the page becomes a condition of the rule",
		open("#/try?f=path~\"^/login\",+blocked+is+false&"+triedHour), exists(headline), answered(), textHas(".only-on code", "blocked is false"),
		click(".only-on button", "Make it a condition of the rule"), addressHas(`rule=limit 60 per 1m by ip where path~"^/login"`), filterIs(""),
		lacks(".only-on"), answered(), open("#/try?f=path~\"^/login\"&"+triedHour), exists(headline),
		fill("#rule-kind", "block"), addressHas(`rule=block where path~"^/login"`), filterIs(""), answered(),
		open("#/try?f=path~\"^/login\"&"+triedHour), click(".only-on button", "Try it on all requests"), filterIs(""), answered())
	walk("the ways to the screen",
		open("#/?f=country=\"Malta\",+blocked+is+false&"+triedHour), click(".chips button", "try a rule"),
		addressHas(`#/try?t=2026-01-01T10:00Z..2026-01-01T11:00Z&rule=limit 60 per 1m by ip where country="Malta"`), exists(headline), answered(),
		open("#/?panel=facets&facets=monitor_reasons,status&"+triedHour), click(".facet .value button", "Far countries"),
		click("[role=menuitem]", "Try to block by this rule"), addressHas("rule=enforce Far countries"), exists(headline), answered(),
		open("#/?panel=facets&facets=status&"+triedHour), click(".facet .value button", "403"), exists("[role=menuitem]"),
		mustNot("$('.menu').textContent.includes('Try')", "a rule cannot go by the status"), keys(kb.Escape),
		openRecord(`path="/shop/0", country="Germany"`, triedHour), click(".steps li", "What would have stopped it?"), click(".steps li:last-child button", "try it"),
		holds("decodeURIComponent(location.hash.replaceAll('+', ' ')).includes(`f=ip=\"${seen.record.ip}\"`)", "tries it on its address"), exists(headline),
		openRecord(`monitor is true`, triedHour), click(".steps li:last-child button", "try it"), addressHas("rule=enforce Far countries"),
		exists(headline), answered())
	walk("a rule is copied, and the picture is a table, too",
		open("#/try?"+triedHour), exists(headline), keepCopies(), click(".copies button", "Copy as JSON"), copies(`"threshold": 60`),
		click(".copies button", "Copy as text"), copies("limit 60 per 1m by ip"),
		click(".copies button", "Copy as Terraform"), copies(`resource "link11waap_rate_limit_rule"`), answered(), click(".curve button", "Show as table"),
		hashHas("as=table"), moreThan(20, ".curve tbody tr"), lacks(".picture"), asked("whatif", 1))
	walk("a rule of two parts is copied in every form of the server",
		answers(func(c *call) bool {
			return c.question("whatif") && c.rewritten(func(data, _ map[string]any) {
				data["results"].([]any)[0].(map[string]any)["forms"] = []map[string]string{
					{"to": "a filter", "json": "{1}", "terraform": "resource 1", "curl": "curl 1"},
					{"to": "a limit", "json": "{2}", "terraform": "resource 2", "curl": "curl 2"},
				}
			})
		}), open("#/try?"+triedHour), exists(headline), keepCopies(), click(".copies button", "Terraform"), copies("resource 1\nresource 2"),
		click(".copies button", "curl"), copies("curl 1\ncurl 2"), click(".copies button", "JSON"), copies("{1}\n{2}"))
	const knee = "At 10 a minute: 88.9 % of the attack and 0 of 20 other people."
	walk("a limit is compared with an attack, and the best threshold is two clicks away",
		open("#/try?rule=limit+30+per+1m+by+ip&"+triedHour), exists(headline), lacks(".compared"), fill("#attack", `path="/login"`),
		click(".attack button", "Compare with it"), addressHas(`attack=path="/login"`), // 1
		textHas(".compared", "Best is another threshold. "+knee), click(".compared button", "Try 10"), // 2
		addressHas("rule=limit 10 per 1m by ip"), textHas(".compared", "No other threshold is better."), answered(),
		click(".attack button", "No attack"), hashLacks("attack"), lacks(".compared"))
	walk("a mistake of a rule is shown at the form",
		allow("status of 422"), open("#/try?rule=limit+60+per+1m+by+ipp&"+triedHour), textHas("#rule-wrong", "ipp"), exists(".trouble.failed"),
		open("#/try?rule=limit+60+per+1m+by+ip+where+hots=a&"+triedHour), textHas("#rule-wrong", `did you mean "host"?`),
		is("$('#rule-where').ariaInvalid", "true"), accessible("a mistake"))
	walk("a period without records leads to the newest ones",
		open("#/try?t=2026-02-01T10:00Z..2026-02-01T11:00Z"), text(headline, "It would have done nothing in this period."),
		sees("The newest record is of 2026-01-01 10:59"), click(".warning button", "Try it on the day before"), text(headline, harmless))
	walk("a limit that does nothing leads to one that does",
		open("#/try?rule=limit+500+per+1m+by+ip&"+triedHour), text(headline, "It would have done nothing in this period."),
		textHas(".curve p.quiet", "The limit would have acted up to a threshold of 88."), click(".curve p.quiet button", "Try 88"),
		text(headline, "It would newly block no known person, only 20 requests of others, from 1 address."))
	walk("a heavy question waits",
		allow("status of 422"), answers(heavy("whatif")), open("#/try?"+triedHour), sees("This is a heavy question"), asked("whatif", 1),
		click("button", "Run it"),
		text(headline, harmless))
	var asks atomic.Int32
	var arrives atomic.Bool
	walk("an answer that takes longer than one request is asked for until it is there",
		allow("status of 504"), answers(func(c *call) bool {
			if !c.question("whatif") {
				return false
			}
			asks.Add(1)
			return !arrives.Load() && c.runsOn(http.StatusGatewayTimeout)
		}), open("#/try?"+triedHour), until(func() bool { return asks.Load() > 1 }, "asks again"), sees("The query has been running"),
		sets(&arrives, true), text(headline, harmless))
	walk("the screen is accessible, at all widths, and for fingers",
		inThemes(func(shot func(name string) step) []step {
			return []step{
				open("#/try?attack=path%3D%22/login%22&" + triedHour), exists(".compared"), exists(".plot canvas"), answered(), shot("try"),
				open("#/try?as=table&rule=limit+6+per+1m+by+ip&rule2=limit+30+per+1m+by+ip&" + triedHour), exists(".figures-of"), answered(), shot("try-two"),
			}
		}), at(360), open("#/try?rule=limit+6+per+1m+by+ip&rule2=enforce+Far+countries&f=path~\"^/\"&"+triedHour), exists(".figures-of"), touchable("try"))
}

// TestTryAnIncident tries a limit at the target of an incident.
func TestTryAnIncident(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	walk("an incident leads to a limit at its target",
		open("#/?t="+demoDay), exists(".incidents tbody tr"), answered(), click(".incidents tbody .try-it", "try a limit"),
		addressHas(`rule=limit 60 per 1m by ip where host="`), addressHas("not human is true"),
		holds(`!new URLSearchParams(location.hash.split("?")[1]).get("rule").includes("ip in (")`, "has a rule without addresses"), textHas(".flat", "nobody sent a second request"), answered())
}

// limitedHour returns a log of an hour. Twenty people send up to ten requests a minute. A client that is no person tries passwords
// 90 times a minute for ten minutes; the gateway blocks every third of these requests. A rule only monitors the clients of a country.
func limitedHour() string {
	var log strings.Builder
	begin := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	write := func(at time.Duration, members string) {
		fmt.Fprintf(&log, `{"processing_stage":6,"timestamp":%q,"host":"shop.example",%s}`+"\n",
			begin.Add(at).Format(time.RFC3339Nano), members)
	}
	for minute := range 60 {
		for person := range 20 {
			for i := range 1 + (minute*7+person*3)%10 {
				country, monitored := "Germany", ""
				if person < 4 {
					country = "Malta"
					monitored = `,"monitor":true,"monitor_reasons":["Monitor - global filter [\"gf14\"] - Far countries - [country]"]`
				}
				write(time.Duration(minute)*time.Minute+time.Duration(person*100+i*2500)*time.Millisecond,
					fmt.Sprintf(`"ip":"192.0.2.%d","country":%q,"path":"/shop/%d","human":true,"result":"Passed","blocked":false%s`, person+1, country, i, monitored))
			}
		}
		if minute < 20 || minute >= 30 {
			continue
		}
		for i := range 90 {
			decision := `"result":"Passed","blocked":false`
			if i%3 == 0 {
				decision = `"result":"Blocked","blocked":true,"status":403,"reason":"Block - acl Deny [\"all\"] - acl3 - [request]"`
			}
			write(time.Duration(minute)*time.Minute+time.Duration(i*600)*time.Millisecond,
				`"ip":"203.0.113.7","country":"France","path":"/login","human":false,`+decision)
		}
	}
	return log.String()
}
