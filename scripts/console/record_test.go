package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
)

// TestRecord walks through what a record has beside the sentence and the numbers.
func TestRecord(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)

	walk("the other requests of the session lead to their records", func(t *testing.T, b *tab, s *served) {
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
		b.open("#/events/" + reference + "?t=" + demoDay)
		b.holds("document.querySelectorAll('.session button').length > 1", "has the requests of the session")
		b.holds("document.querySelectorAll('.session [aria-current]').length === 1", "marks its own")
		b.accessible("session")
		b.click(".session button:not([aria-current])", "")
		b.holds(fmt.Sprintf("!location.hash.includes(%q) && document.querySelector('.record .why')", reference), "has another record")
	})
	walk("the part of the request that a rule matched is marked", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `reason~"^Block - content filter \\["`)
		b.open("#/events/" + record["record_ref"].(string) + "?t=" + demoDay)
		b.holds("document.querySelector('.leaf.matched')?.textContent.includes('a rule matched it')", "marks the part")
	})
}
