package api

import (
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/runs"
)

// Maker makes the reports of the examples. The package that makes reports imports this one, so a test outside of it
// sets the variable.
var Maker answering.Reports

func init() {
	specials["reports at once"] = func(_ testing.TB, c *Config) { c.Reports = Maker }
	specials["short requests"] = func(_ testing.TB, c *Config) { c.ReportTimeout = time.Millisecond }
	specials["weekly report"] = func(t testing.TB, c *Config) { scheduleWeekly(t, c) }
	specials["deleted report"] = func(t testing.TB, c *Config) {
		change := document.Change{By: "console", At: planettest.At}
		if err := document.Delete(t.Context(), c.Documents, weeklyReport, change); err != nil {
			t.Fatal(err)
		}
	}
	specials["run of a report"] = func(t testing.TB, c *Config) { runWeekly(t, c.Runs, runs.Refused) }
	specials["delivered run of a report"] = func(t testing.TB, c *Config) { runWeekly(t, c.Runs, runs.Sent) }
}

var weeklyReport = definition.DocumentOf(planet.FirstConfig, "weekly")

// The versions of the weekly report.
var weeklyTexts = []string{
	`{"period":"week","deliver":[{"to":"archive"}]}`,
	`{"title":"The shop","filters":"host=\"shop.example\"","period":"week","tz":"Europe/Berlin",` +
		`"deliver":[{"mail":["ops@example.com"]},{"to":"chat"}]}`,
}

func weeklyDefinition(t testing.TB, text string) definition.Stored {
	t.Helper()
	d, err := definition.Parse([]byte(text), 0, definition.Rules{
		Domains: []string{"example.com"}, Destinations: []string{"archive", "chat"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return definition.Stored{Definition: d}
}

func scheduleWeekly(t testing.TB, c *Config) {
	t.Helper()
	for _, text := range weeklyTexts {
		change := document.Change{Text: weeklyDefinition(t, text).Text(), By: "console", At: planettest.At}
		if _, err := document.Put(t.Context(), c.Documents, weeklyReport, change); err != nil {
			t.Fatal(err)
		}
	}
}

// weeklyRun is a run of the second version that one destination has refused.
func weeklyRun(t testing.TB) runs.Run {
	t.Helper()
	from := time.Date(2025, 12, 21, 23, 0, 0, 0, time.UTC) // in Berlin, the week begins
	due := time.Date(2025, 12, 29, 6, 0, 0, 0, time.UTC)
	return runs.New(planet.FirstConfig, "weekly", 2, weeklyDefinition(t, weeklyTexts[1]), from, from.AddDate(0, 0, 7), due)
}

func runWeekly(t testing.TB, store runs.Store, chat runs.DeliveryState) {
	t.Helper()
	run := weeklyRun(t)
	if err := store.Create(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	at := run.Due.Add(20 * time.Second)
	run.State, run.Verdict, run.Attempts, run.Ended = runs.Delivered, "quiet", 1, at
	for i := range run.Deliveries {
		d := &run.Deliveries[i]
		d.State, d.Attempts, d.At = runs.Sent, 1, at
	}
	if chat == runs.Refused {
		run.Deliveries[1].State, run.Deliveries[1].Reason = chat, "Slack answers 404 Not Found: no_service"
	}
	if err := store.Update(t.Context(), run); err != nil {
		t.Fatal(err)
	}
}
