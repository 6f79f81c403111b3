package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestReview walks through the review of a change of settings, and through what follows when it is saved.
func TestReview(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	const everybody = `{"address":"0.0.0.0/0","comment":"office"}`
	trusting := func(nets string) string {
		return `{"name":"main","trusted_nets":[` + nets + `],` + challenge + `,"checks":{"bots":true}}`
	}

	walk("what trusts everybody needs the name of the planet: three clicks from the settings, and one to undo it",
		planet("staging"), open("#/planets/staging"), sees("Settings of staging"),
		click("button", "Add a network"), // the first click
		fill("#net-2", "0.0.0.0/0"), sees("trusts every address"), fill("#comment-2", "office"),
		click(".save-bar button", "Review"), // the second one
		sees("0.0.0.0/0 trusts every IPv4 address."), textHas(".meets", "of the data, to 2026-01-02 00:00, in which staging had 111 requests"),
		textHas(".meets dd", "101 requests (91 %) from 69 addresses."), textHas(".meets dd", "11 of them were blocked."),
		must("$('.save-bar .primary').disabled", "saves without the name"), shot("planet-review"),
		fill("#confirm-name", "Main"), must("$('.save-bar .primary').disabled", "saves with another name"),
		fill("#confirm-name", "main"),
		click(".save-bar button", "Save"), // the third one
		textHas(".saved-bar", "Saved as version 2."), focused(".saved-bar"), versions(2), settings("staging", everybody), shot("planet-saved"),
		click(".saved-bar button", "Undo"), textHas(".saved-bar", "Version 1 is back, as version 3."), versions(3),
		settings("staging", `"trusted_nets":[`+saved+`],`),
		fill("#planet-name", "other"), lacks(".saved-bar"))
	walk("the requests that a change meets are a click away, and so is the change then",
		planet("prod"), open("#/planets/prod"), sees("Settings of prod"), fill("#net-0", "128.0.0.0/8"), click(".save-bar button", "Review"),
		exists(".meets dd a.count"), note("n", "$('.meets dd a.count').textContent"), click(".meets dd a.count", "requests"),
		filterIs(`branch="prod", ip in (128.0.0.0/8)`), answered(), holds("$('.over-rows').innerText.includes(parseInt(seen.n))", "lists the requests"),
		back(), sees("2 unsaved changes"))
	walk("a network that nobody uses meets nobody, a comment is nothing to ask about",
		planet("quiet"), open("#/planets/quiet"), sees("Settings of quiet"), fill("#comment-0", "all"), click(".save-bar button", "Review"),
		exists(".difference"), lacks(".meets"), asked("facets", 0), click("[role=tab]", "Form"), fill("#net-1", "192.0.2.0/24"),
		click(".save-bar button", "Review"), textHas(".meets", "quiet had 0 requests"), textHas(".meets dd", "No requests."),
		must("!$('.save-bar .primary').disabled", "waits for a name"))
	walk("a check that is switched off, global filters and other texts of the challenge are named",
		theirs("checks", trusting("")), open("#/planets/checks?tab=json"), exists("textarea.json"),
		fill("textarea.json", strings.Replace(strings.Replace(trusting(`{"source":"global_filter","gf_id":"f1","comment":""}`),
			`"bots":true`, `"bots":false`, 1), `"lang":{}`, `"lang":{"en":"x"}`, 1)),
		click(".save-bar button", "Review"), sees("checks › bots is switched off."), sees("What the global filter f1 matches is trusted, too."),
		textHas(".meets dt", "Shown the interactive challenge"), exists("#confirm-name"))
	walk("a version that trusts everybody is restored with the name of the planet",
		theirs("back", trusting(everybody)), theirs("back", trusting("")), open("#/planets/back/1"), sees("0.0.0.0/0 trusts every IPv4 address."),
		must("$('.save-bar .primary').disabled", "restores without the name"), accessible("version that trusts everybody"),
		fill("#confirm-name", "main"), click(".save-bar button", "Restore version 1"), textHas(".saved-bar", "Version 1 is back, as version 3."),
		click(".saved-bar button", "Undo"), textHas(".saved-bar", "Version 2 is back, as version 4."), settings("back", `"trusted_nets":[],`))
	walk("an undo after somebody else saved takes nothing back",
		allow("status of 412"), planet("late"), open("#/planets/late"), sees("Settings of late"), fill("#planet-name", "mine"),
		click(".save-bar button", "Review"), click(".save-bar button", "Save 1 change"), exists(".saved-bar"),
		theirs("late", trusting("")), keepNotices(), click(".saved-bar button", "Undo"), notices("Somebody else saved first."), lacks(".saved-bar"),
		versions(3), settings("late", `"trusted_nets":[],`))
	walk("mistakes go when they are mended, and so does their box with the last one",
		allow("status of 422"), planet("mended"), open("#/planets/mended"), sees("Settings of mended"), fill("#net-1", "10.0.0.300"),
		fill("#planet-name", " "), click(".save-bar button", "Review"), click(".save-bar button", "Save"),
		sees("2 parts of the settings are not valid"), click(".remove button", "Remove 10.0.0.0/8"),
		textHas("#net-0-wrong", "is not an IP address"), textHas(".trouble.failed", "trusted_nets.0.address"),
		fill("#net-0", "10.0.0.30"), sees("One part of the settings is not valid"), lacks("#net-0-wrong"),
		fill("#planet-name", "main"), lacks(".trouble.failed"))
	walk("the review can be touched",
		planet("touch"), at(390), open("#/planets/touch"), sees("Settings of touch"), fill("#net-1", "0.0.0.0/0"), click(".save-bar button", "Review"),
		exists("#confirm-name"), exists(".meets dd"), answered(), touchable("review"))
	walk("the review is accessible, at all widths",
		planet("wide"), inThemes(func(shot func(name string) step) []step {
			return []step{
				open("#/planets/wide"), sees("Settings of wide"), fill("#net-1", "0.0.0.0/0"), click(".save-bar button", "Review"),
				sees("0.0.0.0/0 trusts every IPv4 address."), exists(".meets dd"), answered(), shot("planet-review"),
				click(".save-bar button", "Discard"), lacks(".save-bar"),
			}
		}))
}

// TestReviewOfALogOfToday: the configuration has no name in the records, so that all of them are its own.
func TestReviewOfALogOfToday(t *testing.T) {
	walk := walksAt(t, serveLog(t, lately(time.Now().UTC())))
	walk("a change counts the requests of the last 24 hours",
		open("#/planets/prod"), sees("Settings of prod"), click("button", "Paste many"), fill("#paste", "192.0.2.0/24 office\n192.0.2.7"),
		click("button", "Add 2 networks"), click(".save-bar button", "Review"),
		textHas(".meets", "In the last 24 hours, in which prod had 30 requests."), textHas(".meets dd", "20 requests (67 %) from 2 addresses."),
		textHas(".meets dd", "5 of them were blocked."), textHas(".meets dd small", "Most of them: 192.0.2.1 (15), 192.0.2.7 (5)"),
		click(".save-bar button", "Save 2 changes"), textHas(".saved-bar", "Saved as version 2."))
}

// lately is a log of the last two hours.
func lately(now time.Time) string {
	var log strings.Builder
	for i := range 30 {
		ip, blocked := "192.0.2.1", i < 5
		switch {
		case i >= 20:
			ip = "198.51.100.7"
		case i >= 15:
			ip = "192.0.2.7"
		}
		fmt.Fprintf(&log, `{"processing_stage":6,"timestamp":%q,"ip":%q,"host":"shop.example","path":"/","result":%q,"blocked":%t}`+"\n",
			now.Add(time.Duration(-i)*4*time.Minute).Format(time.RFC3339), ip, map[bool]string{true: "Blocked", false: "Passed"}[blocked], blocked)
	}
	return log.String()
}

// TestReviewWithoutData: settings may be written with a key that reads no requests.
func TestReviewWithoutData(t *testing.T) {
	walksAt(t, demo.address(t))("a key that may not read requests counts nobody",
		allow("status of 403"), planet("keyless"), answers(refuses("/data/facets", http.StatusForbidden, "the key needs the scope data:read")),
		open("#/planets/keyless"), sees("Settings of keyless"), fill("#net-1", "192.0.2.0/24"), click(".save-bar button", "Review"),
		textHas(".meets", "The key may not read requests"), click(".save-bar button", "Save"), textHas(".saved-bar", "Saved as version 2."))
}
