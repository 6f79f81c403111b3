package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/why"
)

// TestConsole walks through every screen and state against a running server. No walk may violate the policy of the page,
// write an error to the console of the browser, or send a request to another host.
func TestConsole(t *testing.T) {
	server := demo.address(t)
	walk := walksAt(t, server)

	walk("the first visit leads to the newest day of the data",
		open(""), sees("Requests over time"), addressHas("t="+demoDay), is("$('.tile.requests .number').textContent", "3,000"))
	walk("a tile adds its condition, and Back takes it away",
		open("#/?t="+demoDay), click(".tile.blocked", "Blocked"), hashHas("blocked+is+true"), filterIs("blocked is true"), back(),
		filterIs(""), text(".tile.requests .number", "3,000"))
	walk("what the requests of a filter do not have is not zero",
		open("#/?f=blocked+is+true&t="+demoDay), tileOf("blocked", numberOf("requests")), answered(), text(".tile.refused .number", "–"),
		count(".tile", 8), mustNot("$$('[aria-label=\"Lines of the chart\"] button').some((e) => e.textContent === 'Origin')", "offers the origins"))
	walk("only and without by the menu of a value",
		open("#/?t="+demoDay), click(".list .value button", "Germany"), focused("[role=menuitem]"), keys(kb.ArrowDown+kb.Enter),
		filterIs(`country!="Germany"`), holds("$$('.list')[0].innerText.includes('France')", "has the others"),
		click(".list .value button", "France"), click("[role=menuitem]", "Only"), filterIs(`country!="Germany", country="France"`))
	walk("events by keys: move, keep only, open, next, close",
		open("#/events?t="+demoDay), sees("200 of "), must("$('.event') && $$('.event').length <= 60", "other rows are drawn than those in view"),
		focus(".rows"), keys(kb.ArrowDown+kb.ArrowDown+kb.Enter), exists(".record .why"), note("before", "location.hash"), blur(), keys("j"),
		holds("location.hash !== seen.before", "goes to the next record"), answered(), // until then, Esc cancels
		keys(kb.Escape), lacks(".record"), focus(".rows"), keys(kb.ArrowRight+"+"), filterBegins("result="), keys(kb.End))
	walk.run("older events are added until all are shown", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/events?f=blocked+is+true&t="+demoDay), sees("200 of "))
		for range 10 {
			if value[bool](b, "document.body.innerText.includes('all ')") {
				break
			}
			b.do(note("shown", "$('.over-rows span').textContent"), click(".more button", "Load older"),
				holds("$('.over-rows span').textContent !== seen.shown", "adds a page"))
		}
		b.do(sees("all "), note("events", "Number($('.over-rows span').textContent.replace(/[^0-9]/g, ''))"), open("#/?t="+demoDay),
			sees("Requests over time"), must(numberOf("blocked")+" === seen.events", "the tile has another number"))
	})
	walk("why a request was blocked, without its secrets",
		open(`#/events?f=reason~"rate+limit",+session~"."&t=`+demoDay), focus(".rows"), visible(".event"), keys(kb.Enter),
		sees("blocked it: the client is over the limit"), sees("The same rule acted on "), sees("Rate limit"),
		evaluate("$$('.record details').forEach((d) => { d.open = true; })"), sees("••••••"),
		click(".leaf button.small", "Show the value"), sees("Hide the value"))
	walk.run("sensitive values are neither shown nor copied until they are asked for", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `reason~"^Block - content filter \\[", query~"=....", session~"."`)
		secrets := secretsOf(record)
		if len(secrets) < 2 {
			t.Fatalf("the record has the secrets %q, which are too few for the test", secrets)
		}
		b.do(open("#/events/"+record["record_ref"].(string)+"?t="+demoDay), sees("Is it a false positive?"),
			exists(".evidence li"))
		leaks := func(what, expression string) {
			t.Helper()
			text := value[string](b, expression)
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					t.Errorf("%s has the secret %q:\n%s", what, secret, text)
				}
			}
		}
		leaks("the page", "$('.record').outerHTML")
		for _, name := range []string{"Copy as JSON", "Copy as curl"} {
			b.do(keepCopies(), click(".record button", "Copy as…"), click("[role=menuitem]", name), holds("copied", "has copied"))
			leaks(name, "copied")
		}
		b.do(click(".record button", "Show hidden values"), shows(".record", record["session"].(string)),
			click(".record button", "Copy as…"), click("[role=menuitem]", "secrets included"),
			copies(strings.TrimPrefix(record["query"].(string), "?")))
	})
	walk("mistakes are underlined, listed and corrected",
		allow("status of 400"), open(`#/?f=hots="shop.example",+status>=200&t=`+demoDay), sees("1 mistake"),
		sees(`unknown field "hots"`), is("$('.wrong').textContent", "hots"), click(".mistakes button", "Use the corrected filter"),
		filterBegins(`host="shop.example"`), click(".run", "Run"), sees("Requests over time"))
	walk("fields, operators and values are completed",
		allow("status of 400"), // on a slow machine, half a filter is checked
		open("#/?t="+demoDay), sees("Requests over time"), focus("#filter"), keys("coun"), textBegins("[role=option]", "country"),
		keys(kb.Tab), keys("="), moreThan(1, "[role=option]"), keys("Germ"), text("[role=option]", "Germany"), enter(),
		filterIs(`country="Germany"`), keys(kb.Escape), enter(), hashHas("Germany"))
	walk("a pasted filter gives its period to the picker, and JSON becomes a query string",
		open("#/?t="+demoDay), sees("Requests over time"),
		fill("#filter", `[{"field":"timestamp","op":"between","value":["2026-01-01 10:00","2026-01-01 11:00"]},`+
			`{"field":"blocked","op":"is","value":true}]`), click(".run", "Run"), filterIs("blocked is true"),
		sees("2026-01-01 10:00 – 11:00"))
	walk("periods, zones and the share link",
		open("#/?t=2026-01-01T10:00Z..2026-01-01T11:00Z"), sees("Requests over time"), keys("["), sees("2026-01-01 09:00 – 10:00"),
		keys("z"), sees("2026-01-01 08:30 – 10:30"), keys("t"), fill("#zone", "Europe/Berlin"), sees("2026-01-01 09:30 – 11:30"),
		keys(kb.Escape), open("#/?t=30m"), sees("Last 30 minutes"))
	walk("a period without records says where they are",
		open("#/?t=2026-02-01T10:00Z..2026-02-01T11:00Z"), sees("The newest record is of 2026-01-01 23:59"),
		click("button", "Go there"), sees("Requests over time"))
	walk("a filter without requests can be left out",
		open(`#/events?f=host="nobody.example"&t=`+demoDay), sees("No requests in this period match the filter"),
		click("button", "Without the filter"), sees("200 of "))
	walk("another zone in the picker leaves the instants",
		open("#/?t=2026-01-01T10:00Z..2026-01-01T11:00Z"), sees("Requests over time"), click("#period", ""),
		fill("#zone", "Europe/Berlin"), fieldIs(".ends input", "2026-01-01 11:00"), click(".panel .primary", "Apply"),
		lacks(".picker .panel"), addressHas("t=2026-01-01T10:00Z..2026-01-01T11:00Z"))
	walk("a pasted relative period goes to the picker",
		open("#/?t="+demoDay), sees("Requests over time"), fill("#filter", "timestamp between now-3h and now, status=200"),
		click(".run", "Run"), filterIs("status=200"), sees("Last 3 hours"))
	walk("the segments of a chart are announced",
		open("#/?t="+demoDay), visible(".plot"), focus(".plot"), keys(kb.ArrowRight+kb.ArrowRight),
		holds("/2026-01-01 00:05: .*requests [0-9]+, challenged [0-9]+, blocked [0-9]+/.test("+
			"$('.chart [role=status]').textContent)", "announces the second segment of five minutes"))
	walk.run("the evidence is the verdict of the server, and its reasons lead to what they count", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `reason~"^Block - content filter \\["`)
		reference := record["record_ref"].(string)
		e, counted := explanationOf(t, s, reference), firstCounted(t, s, reference)
		b.do(open("#/events/"+reference+"?t="+demoDay), text(".record-head .judged", e.Verdict.Text+": "+e.Cause),
			must("$('.judged').nextElementSibling.matches('.why')", "the verdict is not above the sentence"), keepCopies(), accessible("verdict"),
			textHas(".take-along", e.Exemption.Text), click(".take-along button", "Copy the exemption as Terraform"),
			holds("window.copied", "has copied it"), must(fmt.Sprintf("copied === %q", e.Exemption.Parts[0].Terraform), "the exemption is another one"),
			click(".take-along button", "Copy the exemption as JSON"), holds(fmt.Sprintf("copied === %q", e.Exemption.Parts[0].JSON), "has the JSON"),
			click(".take-along button", "Copy text for the customer"), copies("Our protection against attacks"))
		for _, one := range e.Verdict.Reasons {
			b.do(sees(one.Text))
		}
		count := e.Verdict.Reasons[counted].Counts[0]
		_, conditions, _ := strings.Cut(count.Filter, ", ")
		b.do(click(".evidence li button", "show"), filterIs(conditions), sees(fmt.Sprintf("all %d shown", count.NumOfRequests)))
	})
	var polls atomic.Int32
	var arrives atomic.Bool
	walk("live puts new events above the list, or lets them wait while somebody reads",
		answers(func(c *call) bool {
			if !c.to("/logs") && !c.to("/timeline") {
				return false
			}
			since, polled := c.body["since"]
			if !polled {
				c.body["filters"] = "timestamp between 2026-01-01 and 2026-01-02" // the period that ends now has no data
				return c.changed(unchanged)
			}
			n, results := polls.Add(1), ""
			if arrives.Swap(false) {
				results = fmt.Sprintf(`{"timestamp":"2026-01-02T00:00:00Z","record_ref":"new-%d","result":"Passed","host":"new","path":"/new-%d"}`, n, n)
			}
			if n > 1 && since != fmt.Sprint("head-", n-1) {
				c.t.Errorf("the question %d begins at %v", n, since)
			}
			return c.say(fmt.Sprintf(`{"data":{"results":[%s]},"meta":{"head":"head-%d","next":null,"engine":"scan","bytes_scanned":1000,
				"elapsed_ms":1,"period":{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"},"newest":null,"complete_through":null}}`, results, n))
		}), open("#/events?t=30m&live=1"), sees("200 of "), sets(&arrives, true), shows(".event", "/new-"),
		evaluate("$('.rows').scrollTop = 600"), sets(&arrives, true), sees("1 new – show"), click("button", "1 new"),
		holds("$$('.event')[1].innerText.includes('/new-')", "has both above the list"), fill(".over-rows select", "0"), hashLacks("live"))
	walk("a chart is a table, too",
		open("#/?t=2026-01-01T10:00Z..2026-01-01T11:00Z"), click(".chart button", "Show as table"),
		moreThan(30, ".numbers tbody tr"), accessible("table"))
	walk("the theme is kept",
		open("#/?t="+demoDay), sees("Requests over time"), fill(".top select", "dark"), reload(), sees("Requests over time"),
		is("getComputedStyle(document.documentElement).colorScheme", "dark"), evaluate("localStorage.clear()"))
	walk("under the prefix of a stage",
		under("/live"), open("#/?t="+demoDay), sees("Requests over time"), click(".top .api", "API"),
		sees("Top values per category"), under(""))

	walk("a heavy question waits until it is run, also after a reload",
		answers(heavy()), open("#/?t="+demoDay), sees("This is a heavy question"), sees("$12.00–$16.00"), // of eight questions
		askedNothing(), click("button", "Run it"), sees("Requests over time"), reload(), sees("This is a heavy question"))
	for _, route := range []string{"timeline", "facets", "topx"} {
		walk("a dashboard waits if only its "+route+" is heavy",
			answers(func(c *call) bool { return c.estimate(route) && c.changed(large) }), open("#/?t="+demoDay),
			sees("This is a heavy question"), askedNothing())
	}
	for _, failing := range []struct{ route, kept string }{
		{"topx", "$('.tile.requests .number').textContent === '3,000' && $('.plot')"},
		{"timeline", "$$('.list tbody tr').length > 20"},
		{"facets", "$('.tile.requests .number').textContent === '3,000' && $('.plot') && $('.tile.clients .number').textContent === '–' && " +
			"$$('.list').length > 5"},
	} {
		askAgain := "$('.trouble button')?.click()" // figures of several questions are asked for again together
		walk("a dashboard without its "+failing.route+" has the rest",
			allow("status of 500"), answers(fails(failing.route)), open("#/?t="+demoDay), sees("id-of-the-request"),
			holds(failing.kept, "has the rest"), answers(), evaluate(askAgain), answered(), evaluate(askAgain), answered(), lacks(".trouble"))
	}
	walk("a query that outlives its request is followed",
		allow("status of 504"), runs("topx"), open("#/?t="+demoDay), sees("The query has been running"), polled(), releases(),
		moreThan(0, ".list tbody tr"))
	var refused atomic.Bool
	seen := make(chan struct{})
	walk("a busy service is asked again by itself",
		allow("status of 503"), answers(func(c *call) bool {
			if !c.question("topx") {
				return false
			}
			if refused.Swap(true) {
				c.wait(seen)
				return false
			}
			return c.busy(1)
		}), open("#/?t="+demoDay), sees("The service is busy"), closes(seen), moreThan(20, ".list tbody tr"))
	walk("an error has its request id, and the question can be asked again",
		allow("status of 500"), answers(func(c *call) bool { return c.to("/data/logs") && c.fail() }),
		open("#/events?t="+demoDay), sees("id-of-the-request"), answers(), click("button", "Ask again"), sees("200 of "))
	walk("a server that is gone",
		allow("ERR_"), open("#/?t="+demoDay), sees("Requests over time"), answered(), evaluate(endlessPauses), // it would ask by itself
		answers(gone), click(".run", "Run"), sees("The server does not answer"), sees("Requests over time"), answers(),
		click("button", "Ask again"), lacks(".trouble"))
	walk("what is missing in an answer is said beside it",
		answers(func(c *call) bool {
			return c.to("/data/logs") && c.changed(func(meta map[string]any) {
				meta["skipped"] = []string{"fresh/2026/01/01/10/a.parquet"}
				meta["truncated"] = map[string]string{"reason": "bytes"}
				meta["cached"] = map[string]int{"age_seconds": 40}
			})
		}), open("#/events?t="+demoDay), sees("1 object could not be read"), sees("the answer was too large and was cut"),
		sees("answer of 40 s ago"))
}

// TestConsoleOfAnAccessLog walks through records that have no request ids, and of which several have the same time.
func TestConsoleOfAnAccessLog(t *testing.T) {
	var log strings.Builder
	for i := range 210 { // more than a page
		fmt.Fprintf(&log, "192.0.2.%d - - [01/Jan/2026:10:00:%02d +0000] \"GET /page/%d HTTP/1.1\" 200 5 \"-\" \"test\"\n", i, i/100, i)
	}
	walk := walksAt(t, serveLog(t, log.String()))
	const line = ".record .line-of-request"
	walk("what happened to a request is not known, in the list, in the record and of a pasted address",
		open("#/events?t=2026-01-01T10:00Z..2026-01-01T11:00Z"), sees("200 of "), lacks(".event .verdict"),
		mustNot("$$('.rows [role=columnheader]').some((e) => /Result|Country|Reason/.test(e.textContent))", "a column is empty"),
		focus(".rows"), enter(), text(".record-head .verdict", "–"),
		sees("The log does not say how the request was judged."), answered(), keys(kb.Escape), lacks(".record"),
		fill("#filter", "192.0.2.1"), enter(), text(".pasted .verdict", "–"), answered())
	walk("records are opened one after the other, over the end of the page",
		open("#/events?t=2026-01-01T10:00Z..2026-01-01T11:00Z"), sees("200 of "), focus(".rows"), enter(), textHas(line, "/page/209"),
		keys("j"), textHas(line, "/page/208"), blur(), keys("j"), textHas(line, "/page/207"), keys("k"), textHas(line, "/page/208"),
		reload(), textHas(line, "/page/208"), answered(), // until then, Esc cancels
		keys(kb.Escape), focus(".rows"), keys(kb.End), enter(), textEnds(line, "/page/10"), keys("j"), textEnds(line, "/page/9"))
}

// TestWhatALogHas walks through the dashboard of an access log, which has no decisions of a gateway, no humans and no origins.
func TestWhatALogHas(t *testing.T) {
	var log strings.Builder
	for i := range 120 {
		status := 200
		switch {
		case i%4 == 0:
			status = 404
		case i%10 == 1:
			status = 403
		case i%15 == 2:
			status = 502
		}
		fmt.Fprintf(&log, "192.0.2.%d - - [01/Jan/2026:10:%02d:00 +0000] \"GET /page/%d HTTP/1.1\" %d 5 \"-\" \"test\"\n", i%7, i/3, i%5, status)
	}
	walk := walksAt(t, serveLog(t, log.String()))
	const hour = "t=2026-01-01T10:00Z..2026-01-01T11:00Z"
	const events = "$$('.events .series li').map((e) => e.textContent.slice(0, 3)).join()"
	const names = "$$('.tile .name').map((e) => e.textContent).join()"
	walk.run("what an access log does not have is not zero", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/?"+hour), holds(names+" === 'Requests,Answers 4xx,Answers 5xx,Missing pages,Addresses,Sent'", "has the tiles of the log"),
			answered(), textHas(".whole", "newest record 2026-01-01 10:39"), tile("requests", 120),
			tile("missing", 30), tile("clients", 7), textHas(".incidents p", "120 requests."),
			is("$$('[aria-label=\"Lines of the chart\"] button').map((e) => e.textContent).join()", "Status"),
			holds("$$('.series li').some((e) => e.textContent.startsWith('4xx'))", "draws the statuses"),
			is("$$('.lists thead')[0].innerText.includes('blocked')", false), sees("No values in this period: Countries"),
			is("['country', 'reason', 'blocked', 'result', 'human'].some((e) => $(`#split [value=${e}]`))", false),
			is("['ip', 'status', 'method'].every((e) => $(`#split [value=${e}]`))", true),
			is("$$('.questions button').map((e) => e.textContent).join()", "Which pages are missing?,Which answers are errors?"),
			mustNot("$$('.tile .number').some((e) => /^0/.test(e.textContent))", "a figure is zero"), accessible("access log"), screenshot("access-log"))
		b.lead(s, ".dashboard")
		b.do(click(".tile.missing .name", ""), filterIs("status=404"), tile("requests", 30))
	})
	walk("a chart has no numbers before the data begins",
		open("#/?t=2026-01-01T08:00Z..2026-01-01T11:00Z&seg=15m"), visible(".plot canvas"), answered(),
		sees("data from 2026-01-01 10:00"), focus(".plot"), keys(kb.ArrowRight), text(".series li b", "–"), keys(kb.End),
		text(".series li b", "0"), screenshot("no-data"))
	walk("the report about an access log has only what the log has",
		open("#/?panel=report&"+hour), exists(".report-page .plot canvas"), answered(),
		is(names+".replaceAll('\u00a0', ' ')", "Requests,Sent"),
		mustNot("/blocked|unknown|human/i.test($('.report-page').innerText)", "it has what the log does not have"))
	walk("an access log is accessible, at all widths",
		inThemes(func(shot func(name string) step) []step {
			return []step{
				open("#/?" + hour), exists(".list tbody tr"), visible(".plot canvas"), answered(),
				shot("log-dashboard"),
				open("#/events?" + hour), visible(".event"), holds(events+" === '2xx,4xx,5xx'", "draws the statuses"), answered(), shot("log-events"),
				click(".event", ""), sees("The log does not say how the request was judged."), answered(),
				shot("log-record"),
				open("#/?panel=report&" + hour), exists(".report-page .plot canvas"), answered(), shot("log-report"),
			}
		}))
}

// TestConsoleWithKeys enters a key, which stays in the tab.
func TestConsoleWithKeys(t *testing.T) {
	walk := walksAt(t, locked.address(t))
	walk("a key stays in the tab until it is forgotten",
		allow("status of 401"), open("#/events"), sees("This server needs an API key"), accessible("key"), focus("#key"),
		keys("wrong"+kb.Enter), sees("The server does not know this key"), fill("#key", "Bearer the-key-of-the-test "),
		click("button", "Use the key"), sees("200 of "), is("JSON.stringify(sessionStorage)", `{"orrery.key":"the-key-of-the-test"}`),
		mustNot("JSON.stringify([localStorage, document.cookie]).includes('the-key')", "the key is kept beyond the tab"), reload(),
		sees("200 of "), evaluate(`sessionStorage.setItem("orrery.planet.prod", "{}")`), // a draft
		click("button", "Forget the key"), sees("This server needs an API key"),
		mustNot("$('.event')", "the page still has the answers to the key"),
		is("JSON.stringify([sessionStorage, localStorage])", "[{},{}]"))
}

// TestConsoleIsAccessible checks every screen with axe-core in both themes at all widths, and what opens above
// them at two.
func TestConsoleIsAccessible(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range allWidths {
			if !shown(scheme, width) {
				continue
			}
			check := shots(scheme, width)
			steps := []step{
				does(window(width), theme(scheme)), open("#/?t=" + demoDay), sees("Requests over time"), check("dashboard"),
				open("#/events?f=blocked+is+true&t=" + demoDay), visible(".event"), check("events"), click(".event", ""),
				sees("Is it a false positive?"), exists(".evidence li"), check("record"), open("#/status"), sees("What it allows"),
				check("status"), open("#/compare?where=blocked+is+true&t=" + demoDay), sees("What differs"), check("compare"),
				open("#/planets/prod"), sees("Settings of prod"), check("planets"),
			}
			if width != 820 && width != 1920 { // the layout of the rest is that of one of the other widths
				steps = append(steps, open("#/?t="+demoDay), sees("Requests over time"), click(".list .value button", "Germany"),
					exists("[role=menu]"), check("menu"), keys(kb.Escape), click("#period", ""), exists("#zone"), check("period"),
					allow("status of 400"), open(`#/?f=hots="shop.example",+status>4OO&t=`+demoDay), sees("2 mistakes"), check("mistakes"),
					open("#/?t=2026-02-01T10:00Z..2026-02-01T11:00Z"), sees("The newest record is of"), check("nothing"),
					click("button", "Keyboard shortcuts"), exists("dialog[open]"), check("help"), keys(kb.Escape), lacks("dialog"))
			}
			walk(fmt.Sprint(scheme, " ", width), steps...)
		}
	}
}

// firstRecord returns the newest record that matches conditions, with its reference.
func firstRecord(t *testing.T, s *served, conditions string) map[string]any {
	t.Helper()
	ask := func(fields ...string) map[string]any {
		t.Helper()
		question := map[string]any{"filters": "timestamp between 2026-01-01 and 2026-01-02, " + conditions, "limit": 1}
		if fields != nil {
			question["fields"] = fields
		}
		text, err := json.Marshal(question)
		if err != nil {
			t.Fatal(err)
		}
		recorder := httptest.NewRecorder()
		request := httptest.NewRequest(http.MethodPost, "/api/v4.0/data/logs", strings.NewReader(string(text)))
		request.Host = "localhost"
		request.Header.Set("Content-Type", "application/json")
		s.direct.ServeHTTP(recorder, request)
		var answer struct {
			Data struct{ Results []map[string]any }
		}
		if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || len(answer.Data.Results) != 1 {
			t.Fatalf("no record matches %s: %s", conditions, recorder.Body)
		}
		return answer.Data.Results[0]
	}
	record := ask()
	maps.Copy(record, ask("record_ref"))
	return record
}

// secretsOf returns values of a record that its copies must not have. Short ones could be in it by chance.
func secretsOf(record map[string]any) []string {
	var secrets []string
	add := func(value any) {
		if text, ok := value.(string); ok && len(text) > 5 {
			secrets = append(secrets, text)
		}
	}
	add(record["session"])
	for _, name := range []string{"cookies", "arguments"} {
		members, _ := record[name].(map[string]any)
		for _, value := range members {
			add(value)
		}
	}
	trigger, _ := record["cf_triggers"].(map[string]any)
	add(trigger["value"])
	return secrets
}

// explanationOf returns what the server says about a record.
func explanationOf(t *testing.T, s *served, reference string) why.Explanation {
	t.Helper()
	text := conf(t, s, http.MethodPost, "/api/v4.0/data/why", fmt.Sprintf(`{"record_ref":%q}`, reference))
	answer, err := client.DecodeWhy([]byte(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return answer.Results[0]
}

// firstCounted returns the index of the first reason that counts requests, few enough for one page.
func firstCounted(t *testing.T, s *served, reference string) int {
	t.Helper()
	i := slices.IndexFunc(explanationOf(t, s, reference).Verdict.Reasons, func(one why.Reason) bool {
		return one.Counts[0].NumOfRequests > 0
	})
	if i < 0 {
		t.Fatal("no reason counts requests")
	}
	return i
}
