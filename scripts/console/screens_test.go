package main

import (
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFurtherScreens walks through the screens that are loaded when they are opened.
func TestFurtherScreens(t *testing.T) {
	walk := walksAt(t, demo.address(t))

	// files checks how many files of the status were loaded whose names end so.
	files := func(n int, end string) step {
		return calls(n, func(one sent) bool {
			return strings.HasPrefix(one.path, "/console/status-") && strings.HasSuffix(one.path, end)
		})
	}
	walk("a screen is loaded when it is opened, once",
		open("#/?t="+demoDay), sees("Requests over time"), files(0, ".js"), files(0, ".css"), leads("gs", "#/status"), sees("What it allows"),
		leads("gd", "#/?"), sees("Requests over time"), click("nav a", "Status"), sees("What it allows"), files(1, ".js"), files(1, ".css"))
	walk.run("the first page loads nothing besides what its document names, before its answers are there", func(t *testing.T, b *tab, s *served) {
		b.do(open(""), moreThan(20, ".list tbody tr"), answered(), asked("histogram", 1))
		first, _ := loaded(t)
		var names []string
		answering := map[string]bool{} // routes that the page has asked for more than an estimate
		// The answers tell whether changes of settings can be marked, and whether there are slow targets.
		after := map[string]string{"changes": "facets", "slow": "topx"}
		s.count(func(one sent) bool {
			if one.body["dry_run"] != true {
				answering[path.Base(one.path)] = true
			}
			name, file := strings.CutPrefix(one.path, "/console/")
			part, _, _ := strings.Cut(name, "-")
			if file && !answering[after[part]] {
				names = append(names, name)
			}
			return file
		})
		first = slices.DeleteFunc(first, func(name string) bool { return filepath.Ext(name) == ".svg" }) // a browser without a window shows no icon
		slices.Sort(first)
		if slices.Sort(names); !slices.Equal(names, first) {
			t.Errorf("the page asked for %v, want %v", names, first)
		}
	})
	walk("a screen that cannot be loaded is there after the page was loaded again",
		allow("status of 404", "Failed to load resource", "ERR_", "MIME type"), answers(func(c *call) bool {
			return strings.HasPrefix(c.r.URL.Path, "/console/status-") && c.notFound()
		}), open("#/status?tz=Europe/Berlin"), sees("This screen could not be loaded"), accessible("not loaded"), answers(),
		click("button", "Load the page again"), sees("What it allows"), sees("Europe/Berlin"))
	walk("a screen is loaded under the prefix of a stage",
		under("/live"), open("#/status"), sees("What it allows"),
		holds("$('.checks').getBoundingClientRect().width > 0", "has the screen"), under(""))
	walk("the status has what is well and what is to do",
		open("#/status"), sees("Everything is well"), sees("3,000 records in"),
		sees("Every line of every imported log is a record"), click("button", "Check the newest day"),
		sees("of the newest day were read"), click("button", "Show as table"), count(".hours tbody tr", 24),
		click(".hours .link", "2026-01-01 05:00"),
		holds("location.hash.startsWith('#/events') && location.hash.includes('2026-01-01T05:00Z')", "shows the events of the hour"),
		back(), sees("Everything is well"))
	walk("the status says how long records are kept",
		answers(func(c *call) bool {
			return c.to("/status") && c.say(`{"data":{"version":"dev","engine":"scan","extent":{"from":"2025-12-01T09:59:00Z","to":"2026-01-01T10:04:59.999Z"},`+
				`"complete_through":null,"kept":{"hours":2160,"from":"2025-10-03T10:00:00Z"},"records":5,"objects":3,"bytes":4096,"hours":[],"ingest":null,`+
				`"price":null,"limits":{"filter_bytes":1,"limit":{"logs":2500},"wait_seconds":null},"features":["logs"],"key":null}}`)
		}), open("#/status"), sees("Records are kept for 90 days. Those from before 2025-10-03 10:00 UTC are removed."))
	walk("the status of a troubled installation",
		answers(troubled), open("#/status"), sees("4 things ask for a hand"),
		sees("1,204 lines of imported logs are not records. The newest was rejected because of bad_json."),
		sees("orrery quarantine"), sees("Logs wait longer than usual"), sees("It sees only shop, blog."), accessible("troubled"),
		screenshot("status-troubled"))
	walk("objects that cannot be read are listed",
		answers(func(c *call) bool { return c.question("timeline") && c.changed(skipped) }), open("#/status"), click("button", "Check the newest day"), sees("fresh/2026/01/01/10/a.parquet"),
		sees("1 object could not be read"))
	walk("what the server does not know is not known",
		answers(func(c *call) bool {
			return c.to("/status") && c.say(`{"data":{"version":"dev","engine":"trino","extent":{"from":"2026-01-01T09:59:00Z","to":"2026-01-01T10:04:59.999Z"},`+
				`"complete_through":null,"records":null,"objects":null,"bytes":null,"hours":null,"ingest":null,"price":null,`+
				`"limits":{"filter_bytes":1,"limit":{"logs":2500},"wait_seconds":null},"features":["logs"],"key":null}}`)
		}), open("#/status"), sees("The number of records is not known"), sees("It is not known to when the data is complete"),
		sees("This server does not know the imports"), sees("The hours are not known"),
		sees("Nothing asks for a hand. 4 things are not known."))
	walk("a key without the permission",
		allow("status of 403"), answers(refuses("/status", http.StatusForbidden, "the key may not do this: it needs the scope data:read")), open("#/status"), sees("The key does not allow this"), sees("it needs the scope data:read"))
}

// troubled answers with the status of an installation in which much is to do.
func troubled(c *call) bool {
	return c.to("/status") && c.say(`{"data":{"version":"1.0.0","engine":"athena","extent":null,"complete_through":"2020-01-02T02:44:05.678Z","records":null,`+
		`"objects":null,"bytes":null,"hours":[],"ingest":{"watching":true,"last_source":"raw/shop/access.log",`+
		`"last_at":"2020-01-02T03:03:05.678Z","quarantined":{"lines":1204,"newest_code":"bad_json"}},`+
		`"price":{"usd_per_tb":5,"minimum_bytes":10000000},"limits":{"filter_bytes":1048576,"limit":{"logs":2500},"wait_seconds":27},`+
		`"features":["logs","status"],"key":{"name":"guest","scopes":["data:read"],"branches":["shop","blog"],"expires":"2020-02-01T00:00:00Z"}}}`)
}
