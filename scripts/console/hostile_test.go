package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// hostileLog is a log whose texts try to be markup, to turn what is around them around, and to be larger than their place.
func hostileLog(t *testing.T) string {
	t.Helper()
	long := strings.Repeat("long-", 400)
	var log strings.Builder
	for i := range 60 {
		text := []string{`"><img src=x onerror="document.title='owned'">`, "\u202eevil\u2066", long, "line\nbreak\tand\u0000zero", "${7*7}{{7*7}}"}[i%5]
		line, err := json.Marshal(map[string]any{
			"processing_stage": 6, "timestamp": fmt.Sprintf("2026-01-01T10:%02d:00Z", i), "ip": "192.0.2.7", "host": text, "path": "/" + text,
			"method": "GET" + text, "user_agent": text, "country": text, "organization": text, "reason": text, "referer": text, "status": 403,
			"result": "Blocked", "blocked": true, "request_time": 1e9, "upstream_response_time": "1000000000.5", "bytes_sent": 9e15,
		})
		if err != nil {
			t.Fatal(err)
		}
		log.Write(append(line, '\n'))
	}
	return log.String()
}

// TestHostileRecords walks through screens whose texts come from attackers.
func TestHostileRecords(t *testing.T) {
	walk := walksAt(t, serveLog(t, hostileLog(t)))
	const hour = "t=2026-01-01T10:00Z..2026-01-01T11:00Z"
	harmless := together(must("!$('main img') && !document.title.includes('owned')", "a text became markup"), fits("hostile"))
	walk("hostile texts are texts, and stay in their places",
		inThemes(func(shot func(name string) step) []step {
			return []step{
				open("#/?" + hour), exists(".list tbody tr"), answered(), harmless, shot("hostile-dashboard"),
				open("#/events?" + hour), visible(".event"), answered(), harmless, shot("hostile-events"),
				click(".event", ""), exists(".evidence li"), answered(), harmless, shot("hostile-record"),
				open("#/compare?where=blocked+is+true&" + hour), sees("There are no others"), answered(), harmless,
			}
		}))
}
