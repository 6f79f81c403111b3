package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// TestPeriods walks through the periods that the picker names.
func TestPeriods(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	const picker = "#period"

	walk("all data, a day, and the time around a moment",
		open("#/events?t="+demoDay), exists(".event"), click(picker, ""), click(".picker .panel button", "All data"),
		addressHas("t=2026-01-01T00:0"), addressHas("..2026-01-01T23:5"), lacks(".picker .panel"), exists(".event"),
		click(picker, ""), fill("#around", "soon"), sees("Not a time. Write 02:00"), fill("#around",
			"2026-01-01 02:00"), focus("#around"), keys(kb.Enter),
		addressHas("t=2026-01-01T01:45Z..2026-01-01T02:15Z"), lacks(".picker .panel"),
		click(picker, ""), click(".picker .panel button", "Yesterday"),
		holds("/T00:00Z\\.\\.[-0-9]+T23:59:59.999Z/.test(location.hash)", "has the day"))
	walk("the panel of the periods is accessible, at all widths",
		inThemes(func(shot func(name string) step) []step {
			return []step{open("#/events?t=" + demoDay), exists(".event"), click(picker, ""), exists("#around"),
				answered(), shot("periods")}
		}))
}

// TestPaste walks through what the bar makes of a text that is no filter.
func TestPaste(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	const quiet = "2026-01-01T00:00Z..2026-01-01T00:01Z" // in which nobody was blocked

	walk.run("a customer's mail: one click to the verdict and the remedy", func(t *testing.T, b *tab, s *served) {
		blocked := firstRecord(t, s, `reason~"^Block - content filter \\["`)
		at, err := time.Parse(time.RFC3339, blocked["timestamp"].(string))
		if err != nil {
			t.Fatal(err)
		}
		ip, reference := blocked["ip"].(string), blocked["record_ref"].(string)
		mail := fmt.Sprintf("Hello,\n\nI was blocked on %s at about %s. My address is %s.\n\nRegards\nAnna Beispiel\n", at.Format("2 January 2006"),
			at.Format("3:04 pm"), ip)
		told := func() bool { // whether the text was sent, as one or in parts
			return s.count(func(one sent) bool {
				body, err := json.Marshal(one.body)
				return err != nil || strings.Contains(string(body)+one.url, "Beispiel")
			}) > 0
		}
		b.do(open("#/?t="+quiet), exists(".tile.requests"), answered(), note("before", "location.hash"),
			focus("#filter"), fill("#filter", mail),
			sees("Enter shows what this text can mean"), enter(), text(".pasted ol > li:first-child > a",
				"Requests of "+ip),
			exists(".pasted ol > li:first-child .verdict"), answered(), focused(".pasted a"), accessible("a mail"),
			screenshot("paste-mail"),
			must("location.hash === seen.before", "the address has changed"),
			mustNot("(JSON.stringify(localStorage) + JSON.stringify(sessionStorage)).includes('"+ip+"')",
				"the storage has the text"))
		if told() {
			t.Error("the text was sent")
		}
		b.do(click(".pasted ol > li:first-child ul a", ""), // the only click
			exists(".record .evidence"), sees("What to do"), lacks(".pasted"), addressHas(fmt.Sprintf("f=ip=%q", ip)),
			filterIs(fmt.Sprintf("ip=%q", ip)), hashHas("#/events/"))
		if told() {
			t.Errorf("the text was sent after a record of %s was chosen", reference)
		}
	})
	walk.run("an address that the period lacks leads to the nearest time at which it was blocked",
		func(t *testing.T, b *tab, s *served) {
			ip := firstRecord(t, s, "blocked is true")["ip"].(string)
			b.do(open("#/?t="+quiet), exists(".tile.requests"), answered(), fill("#filter", ip), enter(),
				textBegins(".pasted li p", "None in 2026-01-01 00:00 – 00:01. The nearest: "),
				exists(".pasted .verdict.blocked"), answered(), click(".pasted ol > li > a", ip), hashHas("#/events"),
				filterIs(fmt.Sprintf("ip=%q", ip)),
				hashLacks("t="+quiet), exists(".event"), lacks(".pasted"))
		})
	walk.run("the id of a request leads to its record, also from a line of a log", func(t *testing.T, b *tab,
		s *served) {
		record := firstRecord(t, s, "blocked is true")
		id, reference := record["request_id"].(string), record["record_ref"].(string)
		b.do(open("#/events?t="+quiet), exists("#filter"), fill("#filter",
			fmt.Sprintf(`{"msg":"denied","request_id":%q,"path":"/x"}`, id)), enter(),
			text(".pasted ol > li:first-child > a", "Request "+id), click(".pasted ul a", ""),
			hashHas("#/events/"+reference), exists(".record"))
	})
	walk("a time leads to the requests around it, and keeps no text",
		open("#/events?t="+quiet), exists("#filter"), fill("#filter", "2026-01-01 10:05 UTC"), enter(),
		click(".pasted ol > li > a", "All requests of 2026-01-01 09:50 – 10:20"),
		addressHas("t=2026-01-01T09:50Z..2026-01-01T10:20Z"), filterIs(""), exists(".event"))
	walk("a text without a meaning is not run by itself, and stays in the bar",
		allow("status of 400"), open("#/events?t="+demoDay), exists(".event"), answered(), note("before",
			"location.hash"),
		fill("#filter", "Hello, please help me."), enter(), sees("The text has no address"),
		must("location.hash === seen.before", "it was run"),
		keys(kb.Escape), lacks(".pasted"), filterIs("Hello, please help me."), focused("#filter"), enter(),
		click(".pasted button", "Run it as a filter"), hashHas("Hello"))
	walk("the meanings of a text are accessible, at all widths",
		inThemes(func(shot func(name string) step) []step {
			return []step{
				open("#/?t=" + demoDay), exists(".tile.requests"), answered(), evaluate("window.scrollTo(0, 0)"),
				fill("#filter",
					"Blocked at 10:05 on 2026-01-01: https://shop.example/cart and 203.0.113.7, 2001:db8::1 or /login"),
				enter(),
				count(".pasted ol > li", 5), answered(), shot("paste"),
			}
		}))
}
