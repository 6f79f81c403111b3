package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// The day of the tour in the README, as the requests of the API name it.
const tourDay = `"filters":"timestamp between 2026-01-01 00:00:00 and 2026-01-02 00:00:00`

// answerTo returns what the API answers to a question.
func answerTo[T any](t *testing.T, s *served, route, body string) (answer struct {
	Data struct{ Results []T }
	Meta struct {
		NumOfRequests int `json:"num_of_requests"`
		Estimate      struct {
			Objects, Rows int
			Reused        int `json:"objects_reused"`
		}
		Diff struct {
			Selected, Baseline struct {
				NumOfRequests int `json:"num_of_requests"`
			}
		}
	}
},
) {
	t.Helper()
	if err := json.Unmarshal([]byte(conf(t, s, http.MethodPost, "/api/v4.0/data/"+route, body)), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// grouped is a number as the page writes it.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// TestTour compares what the screens show of the data of the tour with what the API answers.
func TestTour(t *testing.T) {
	program, data := generated(t, "20000", "7")
	configureReports(t, data)
	walk := walksAt(t, start(t, program, data))
	// cells are the texts of the first row of a table.
	cells := func(b *tab, row string) []string {
		b.t.Helper()
		b.holds(fmt.Sprintf("document.querySelector(%q)", row), "has "+row)
		return value[[]string](b, fmt.Sprintf("[...document.querySelectorAll(%q)].map((e) => e.innerText.trim())", row+" > *"))
	}

	walk.run("the figures and the top values of the dashboard", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/?t="+demoDay), moreThan(20, ".list tbody tr"), answered())
		for tile, condition := range map[string]string{
			"requests": "", "blocked": ", blocked is true", "challenged": `, result=\"Challenged\"`, "monitored": ", monitor is true",
			"human": ", human is true", "refused": ", upstream_status>=400",
		} {
			want := answerTo[any](t, s, "facets", `{`+tourDay+condition+`","by":["method"]}`).Meta.NumOfRequests
			if got := b.figure(tile); got != want || want == 0 {
				t.Errorf("the tile %s has %d, the API %d", tile, got, want)
			}
		}
		type top struct {
			Label, Key           string
			NumOfRequests        int `json:"num_of_requests"`
			NumOfBlockedRequests int `json:"num_of_blocked_requests"`
		}
		for _, one := range answerTo[top](t, s, "topx", `{`+tourDay+`","limit":8}`).Data.Results {
			if one.Label != "country" {
				continue
			}
			row := value[[]string](b, fmt.Sprintf("[...[...document.querySelectorAll('.list tbody tr')].find((e) => e.querySelector('button')?.title === %q)"+
				"?.querySelectorAll('td') ?? []].map((e) => e.textContent)", one.Key))
			if len(row) != 3 || row[0] != grouped(one.NumOfBlockedRequests) || row[1] != grouped(one.NumOfRequests) {
				t.Errorf("the row of %s is %q, the API has %d of %d", one.Key, row, one.NumOfBlockedRequests, one.NumOfRequests)
			}
		}
	})
	walk.run("the events, and the newest of them as a record", func(t *testing.T, b *tab, s *served) {
		record := firstRecord(t, s, `blocked is true`)
		b.do(open("#/events?f=blocked+is+true&t="+demoDay), sees("200 of "))
		row := strings.Join(cells(b, ".event"), " ")
		for _, member := range []string{"method", "ip", "country"} {
			if !strings.Contains(row, record[member].(string)) {
				t.Errorf("the first row is %s, the newest record has %v", row, record[member])
			}
		}
		b.do(click(".event", ""),
			holds(fmt.Sprintf("location.hash.includes(%q)", record["record_ref"]), "has the reference in its address"),
			sees("Is it a false positive?"), answered())
		line := value[string](b, "document.querySelector('.record .line-of-request').textContent")
		if want := fmt.Sprintf("%s %s%s", record["method"], record["host"], record["path"]); !strings.HasPrefix(line, want) {
			t.Errorf("the record is of %s, want %s", line, want)
		}
	})
	walk.run("the sides of a comparison, and what differs most", func(t *testing.T, b *tab, s *served) {
		type side struct {
			NumOfRequests int `json:"num_of_requests"`
		}
		type finding struct {
			By, Condition      string
			Selected, Baseline side
		}
		answer := answerTo[finding](t, s, "diff", `{`+tourDay+`","select":"blocked is true"}`)
		first := answer.Data.Results[0]
		b.do(open("#/compare?where=blocked+is+true&t=" + demoDay))
		row := cells(b, fmt.Sprintf(".findings tr:has([aria-label=%q])", "Only "+first.Condition))
		if row[0] != first.By || row[3] != grouped(first.Selected.NumOfRequests) || row[4] != grouped(first.Baseline.NumOfRequests) {
			t.Errorf("the first finding is %q, the API has %+v", row, first)
		}
		b.do(sees(grouped(answer.Meta.Diff.Selected.NumOfRequests)+" requests"),
			sees(grouped(answer.Meta.Diff.Baseline.NumOfRequests)+" requests"), answered())
	})
	walk("the settings of a planet",
		planet("prod"), open("#/planets/prod"),
		holds("$('#planet-name')?.value === 'main' && $$('.nets tbody tr').length === 2", "has the settings"), answered())
	walk.run("the report of the day", func(t *testing.T, b *tab, s *served) {
		b.do(report("prod", "weekly", `{"title":"The tour","period":"day","deliver":[{"to":"archive"}]}`), open("#/reports/prod"),
			sees("The tour"), open("#/reports/prod/weekly?tab=preview"), fill("#about-from", "2026-01-01"),
			fill("#about-to", "2026-01-02"), click(".about button", "Preview"))
		all := answerTo[any](t, s, "facets", `{`+tourDay+`","by":["method"]}`).Meta.NumOfRequests
		blocked := answerTo[any](t, s, "facets", `{`+tourDay+`, blocked is true","by":["method"]}`).Meta.NumOfRequests
		b.do(holds(fmt.Sprintf("/^Requests\\s+%s$[^]*^Blocked\\s+%s$/m.test($('.report-page')?.innerText ?? '')",
			grouped(all), grouped(blocked)), "has the figures of the report"), answered())
	})
	walk.run("the status, and the hours", func(t *testing.T, b *tab, s *served) {
		var status struct {
			Data struct {
				Records, Objects int
				Hours            []struct{ Records int }
			}
		}
		if err := json.Unmarshal([]byte(conf(t, s, http.MethodGet, "/api/v4.0/status", "")), &status); err != nil {
			t.Fatal(err)
		}
		b.do(open("#/status"), sees(fmt.Sprintf("%s records in %d objects", grouped(status.Data.Records), status.Data.Objects)),
			click("button", "Show as table"), count(".hours tbody tr", 24))
		hours := value[string](b, "document.querySelector('.hours tbody').textContent")
		for _, hour := range status.Data.Hours {
			if !strings.Contains(hours, grouped(hour.Records)) {
				t.Errorf("no hour has %d records", hour.Records)
			}
		}
		b.do(answered())
	})
	walk.run("the explanation of what the dashboard reads", func(t *testing.T, b *tab, s *served) {
		answerTo[any](t, s, "topx", `{`+tourDay+`","limit":8}`) // so that its figures are kept, whatever other walks ask
		estimate := answerTo[any](t, s, "topx", `{`+tourDay+`","limit":8,"dry_run":true}`).Meta.Estimate
		b.do(open("#/?panel=explain&t="+demoDay), count(".explain tbody tr", 10), answered())
		row := value[[]string](b, "[...[...document.querySelectorAll('.explain tbody tr')]"+
			".find((e) => e.textContent.startsWith('Top values')).querySelectorAll('td')].map((e) => e.textContent)")
		objects := fmt.Sprintf("%s (and %d counted before)", grouped(estimate.Objects), estimate.Reused)
		if row[1] != objects || row[2] != grouped(estimate.Rows) || estimate.Reused == 0 {
			t.Errorf("the row of the top values is %q, the API has %+v", row, estimate)
		}
	})
	walk.run("a list of more than 10,000 events draws at most 60 rows wherever it is scrolled", func(t *testing.T, b *tab, s *served) {
		const half, height = "2026-01-01T12:00Z..2026-01-02T00:00Z", 28
		n := answerTo[any](t, s, "facets", `{"filters":"timestamp between 2026-01-01 12:00:00 and 2026-01-02 00:00:00","by":["method"]}`).Meta.NumOfRequests
		if n < 10_000 {
			t.Fatalf("only %d events", n)
		}
		b.do(open("#/events?cols=timestamp,status&t="+half), sees("200 of "), answered())
		var most int
		b.run(evaluated(`(async () => {
			let most = 0;
			for (let button, n = 0; (button = document.querySelector('.more button')) && n < 5000; n++) {
				document.querySelector('.rows').scrollTop = document.querySelector('.rows').scrollHeight;
				if (!button.disabled) button.click();
				await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
				most = Math.max(most, document.querySelectorAll('.event').length);
			}
			return most;
		})()`, &most))
		if most == 0 || most > 60 {
			t.Errorf("up to %d rows were drawn while the pages came", most)
		}
		b.do(sees("all " + grouped(n) + " shown"))
		for _, part := range []float64{0, .25, .5, .75, 1} {
			b.evaluate(fmt.Sprintf("{ const e = document.querySelector('.rows'); e.scrollTop = %v * (e.scrollHeight - e.clientHeight); }", part))
			b.holds(fmt.Sprintf("document.querySelector(`.event[aria-rowindex='${Math.floor(document.querySelector('.rows').scrollTop / %d) + 2}']`)",
				height), "draws the first row in view")
			if rows := value[int](b, "document.querySelectorAll('.event').length"); rows == 0 || rows > 60 {
				t.Errorf("at %v of the list, %d rows are drawn", part, rows)
			}
		}
		b.do(holds(fmt.Sprintf("$('.event:last-child').ariaRowIndex === '%d'", n+1), "ends with the oldest event"))
	})
}
