package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// triedHour is the period of the records of limitedHour.
const triedHour = "t=2026-01-01T10:00Z..2026-01-01T11:00Z"

// TestTry walks through the screen that tries rules on past requests.
func TestTry(t *testing.T) {
	walk := walksAt(t, serveLog(t, limitedHour()))

	walk("the screen is accessible, at all widths",
		inThemes([]int64{390, 1280}, func(shot func(name string) step) []step {
			return []step{
				open("#/try?" + triedHour), exists(".verdict-of"), exists(".plot canvas"), answered(), shot("try"),
				stepOf(func(b *tab) { b.wholePage("try-whole-" + fmt.Sprint(value[int](b, "innerWidth"))) }, "whole"),
				open("#/try?as=table&rule=limit+6+per+1m+by+ip&rule2=limit+30+per+1m+by+ip&" + triedHour), exists(".figures-of"), answered(), shot("try-two"),
				stepOf(func(b *tab) { b.wholePage("try-two-whole-" + fmt.Sprint(value[int](b, "innerWidth"))) }, "whole"),
			}
		}))
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
