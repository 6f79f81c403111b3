package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

// walker returns a function that runs walks, each in a tab of its own before a server with the generated day.
func walker(
	t *testing.T, browser context.Context, address string,
) func(name string, run func(t *testing.T, b *tab, s *served)) {
	return walkerAt(t, browser, address, 1280)
}

// walkerAt is like walker, in windows of a width.
func walkerAt(
	t *testing.T, browser context.Context, address string, width int64,
) func(name string, run func(t *testing.T, b *tab, s *served)) {
	return func(name string, run func(t *testing.T, b *tab, s *served)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := behind(t, address)
			b := newTab(t, browser, s.url, width, "light")
			defer b.check() // its faults tell why a walk did not go on
			run(t, b, s)
		})
	}
}

// TestFurtherScreens walks through the screens that are loaded when they are opened.
func TestFurtherScreens(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "3000").address)

	walk("a screen is loaded when it is opened, once", func(t *testing.T, b *tab, s *served) {
		var scripts, styles atomic.Int32
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasPrefix(r.URL.Path, "/console/status-") {
				if strings.HasSuffix(r.URL.Path, ".js") {
					scripts.Add(1)
				} else {
					styles.Add(1)
				}
			}
			return false
		})
		b.open("#/?t=" + demoDay)
		b.sees("Requests over time")
		if n := scripts.Load() + styles.Load(); n > 0 {
			t.Errorf("the first page loads %d files of the status", n)
		}
		b.leads("gs", "#/status")
		b.sees("What it allows")
		b.leads("gd", "#/?")
		b.sees("Requests over time")
		b.click("nav a", "Status")
		b.sees("What it allows")
		if scripts.Load() != 1 || styles.Load() != 1 {
			t.Errorf("the script was loaded %d times, the style %d times", scripts.Load(), styles.Load())
		}
	})
	walk("the first page loads nothing besides what its document names", func(t *testing.T, b *tab, s *served) {
		var mu sync.Mutex
		asked := map[string]int{}
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			if name, ok := strings.CutPrefix(r.URL.Path, "/console/"); ok {
				mu.Lock()
				asked[name]++
				mu.Unlock()
			}
			return false
		})
		b.open("")
		b.holds("document.querySelectorAll('.list tbody tr').length > 20", "has the dashboard")
		b.answered()
		first, _ := loaded(t)
		want := map[string]int{}
		for _, name := range first {
			if filepath.Ext(name) != ".svg" { // a browser without a window shows no icon
				want[name] = 1
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if !maps.Equal(asked, want) {
			t.Errorf("the page asked for %v, want %v", asked, want)
		}
	})
	walk("a screen that cannot be loaded is there after the page was loaded again", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 404", "Failed to load resource", "ERR_", "MIME type"}
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, "/console/status-") {
				return false
			}
			http.NotFound(w, r)
			return true
		})
		b.open("#/status?tz=Europe/Berlin")
		b.sees("This screen could not be loaded")
		b.accessible("not loaded")
		s.answer(nil)
		b.click("button", "Load the page again")
		b.sees("What it allows")
		b.sees("Europe/Berlin")
	})
	walk("a screen is loaded under the prefix of a stage", func(t *testing.T, b *tab, s *served) {
		b.base += "/live"
		b.open("#/status")
		b.sees("What it allows")
		b.holds("document.querySelector('.checks').getBoundingClientRect().width > 0", "has the screen")
		b.base = s.url
	})
	walk("the status has what is well and what is to do", func(t *testing.T, b *tab, s *served) {
		b.open("#/status")
		b.sees("Everything is well")
		b.sees("3,000 records in")
		b.sees("Every line of every imported log is a record")
		b.click("button", "Check the newest day")
		b.sees("of the newest day were read")
		b.click("button", "Show as table")
		b.holds("document.querySelectorAll('.hours tbody tr').length === 24", "has a row for each hour")
		b.click(".hours .link", "2026-01-01 05:00")
		b.holds("location.hash.startsWith('#/events') && location.hash.includes('2026-01-01T05:00Z')", "shows the events of the hour")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.sees("Everything is well")
	})
	walk("the status of a troubled installation", func(t *testing.T, b *tab, s *served) {
		s.answer(troubled)
		b.open("#/status")
		b.sees("4 things ask for a hand")
		b.sees("1,204 lines of imported logs are not records. The newest was rejected because of bad_json.")
		b.sees("orrery quarantine")
		b.sees("Logs wait longer than usual")
		b.sees("It sees only shop, blog.")
		b.accessible("troubled")
		b.screenshot("status-troubled")
	})
	walk("objects that cannot be read are listed", func(t *testing.T, b *tab, s *served) {
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/data/timeline") {
				return false
			}
			body := bodyOf(t, r)
			return body["dry_run"] != true && changed(t, s, w, r, body, func(meta map[string]any) {
				meta["skipped"] = []string{"fresh/2026/01/01/10/a.parquet"}
			})
		})
		b.open("#/status")
		b.click("button", "Check the newest day")
		b.sees("fresh/2026/01/01/10/a.parquet")
		b.sees("1 object could not be read")
	})
	walk("what the server does not know is not known", func(t *testing.T, b *tab, s *served) {
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/status") {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"data":{"version":"dev","engine":"trino","extent":{"from":"2026-01-01T09:59:00Z","to":"2026-01-01T10:04:59.999Z"},`+
				`"complete_through":null,"records":null,"objects":null,"bytes":null,"hours":null,"ingest":null,"price":null,`+
				`"limits":{"filter_bytes":1,"limit":{"logs":2500},"wait_seconds":null},"features":["logs"],"key":null}}`)
			return true
		})
		b.open("#/status")
		b.sees("The number of records is not known")
		b.sees("It is not known to when the data is complete")
		b.sees("This server does not know the imports")
		b.sees("The hours are not known")
		b.sees("Nothing asks for a hand. 4 things are not known.")
	})
	walk("a key without the permission", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 403"}
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/status") {
				return false
			}
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"code":403,"message":"the key may not do this: it needs the scope data:read","request_id":"id"}`)
			return true
		})
		b.open("#/status")
		b.sees("The key does not allow this")
		b.sees("it needs the scope data:read")
	})
}

// troubled answers with the status of an installation in which much is to do.
func troubled(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasSuffix(r.URL.Path, "/status") {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"data":{"version":"1.0.0","engine":"athena","extent":null,"complete_through":"2020-01-02T02:44:05.678Z","records":null,`+
		`"objects":null,"bytes":null,"hours":[],"ingest":{"watching":true,"last_source":"raw/shop/access.log",`+
		`"last_at":"2020-01-02T03:03:05.678Z","quarantined":{"lines":1204,"newest_code":"bad_json"}},`+
		`"price":{"usd_per_tb":5,"minimum_bytes":10000000},"limits":{"filter_bytes":1048576,"limit":{"logs":2500},"wait_seconds":27},`+
		`"features":["logs","status"],"key":{"name":"guest","scopes":["data:read"],"branches":["shop","blog"],"expires":"2020-02-01T00:00:00Z"}}}`)
	return true
}
