package main

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	consolefiles "github.com/orrery/orrery/shared/console"
	"github.com/orrery/orrery/shared/testkit/browser"
)

// testConsoleFiles checks that the deployment serves the files of the console as the server does, below the path of its
// stage and without a key.
func testConsoleFiles(t *testing.T, s *targets) {
	anonymous := &targets{deployed: s.deployed, local: s.local}
	names, err := fs.Glob(consolefiles.Files, "*")
	if err != nil || len(names) < 10 {
		t.Fatalf("the console has the files %q: %v", names, err)
	}
	for _, name := range names {
		path, status := "/console/"+name, http.StatusOK
		if name == "index.html" {
			path = "/"
		}
		if got, _ := anonymous.ask(t, apiRequest{method: "GET", path: path}); got != status {
			t.Errorf("%s: %d", path, got)
		}
	}
	anonymous.ask(t, apiRequest{method: "GET", path: "/", header: map[string]string{"Accept-Encoding": "gzip"}})
	anonymous.ask(t, apiRequest{method: "GET", path: "/console/main-aaaaaaaa.js"})
	anonymous.ask(t, apiRequest{method: "POST", path: "/"})
}

// testConsole walks through the console of the deployment in a browser: a key is entered, the dashboard leads to the
// events, an event to its record, and a planet is saved.
func testConsole(t *testing.T, s *targets) {
	if os.Getenv(browser.Variable) == "" {
		t.Skip(browser.Variable + " names no browser, see scripts/tools/chromium.sh")
	}
	path, err := browser.Find(os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	session, end, err := browser.Start(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	began := time.Now()
	w := newWalk(t, session, s.deployed+"/")
	w.expected = []string{"status of 401", "status of 404", "status of 504"} // no key, a new planet, a slow machine

	w.open("#/?t=2026-01-01T00:00Z..2026-01-02T00:00Z")
	w.sees("This server needs an API key")
	w.do(chromedp.SendKeys("#key", s.key+kb.Enter))
	w.sees("Requests over time")
	w.holds("has the figures of the day", "document.querySelector('.tile.requests .number')?.textContent !== '–'")
	w.holds("has its answers", "document.querySelectorAll('.list tbody tr').length > 20 && !document.querySelector('[data-cancel]')")
	answeredBy := func(engine string) string {
		return "[...document.querySelectorAll('.honesty')].some((one) => one.textContent.includes('" + engine + "'))"
	}
	w.holds("was answered by the scan of a function", answeredBy("scan"))

	w.click("a tile", ".tile.blocked")
	w.holds("has the condition in its address", "location.hash.includes('blocked+is+true')")
	w.click("the events", "nav a[href*='#/events']")
	w.holds("lists events", "document.querySelectorAll('.event').length > 5")
	w.holds("has events from the scan of a function", answeredBy("scan"))
	w.click("an event", ".event")
	w.holds("shows why the request was blocked", "document.querySelector('.record .why')?.textContent.length > 10")

	w.open("#/planets/walked")
	w.sees("has no settings yet")
	w.do(chromedp.SendKeys("#planet-name", "walked")) // after the name that a planet has at first
	w.click("the difference", ".save-bar button.primary")
	w.sees("Create the settings")
	w.click("saving", ".save-bar button.primary")
	w.holds("has the saved version", "document.querySelectorAll('.versions li').length === 1")
	w.check()
	t.Logf("the walk took %.1f s", time.Since(began).Seconds())

	const saved = "/api/v4.0/conf/walked/planets"
	if r, body := s.askOne(t, s.deployed, apiRequest{method: "GET", path: saved}); r.StatusCode != http.StatusOK ||
		!strings.Contains(string(body), `"name":"__default__walked"`) {
		t.Errorf("%s: %d %s", saved, r.StatusCode, body)
	}
}

// walk is a walk through the console in a tab.
type walk struct {
	t        *testing.T
	tab      context.Context
	base     string
	faults   *browser.Faults
	expected []string // parts of faults that belong to the walk
}

func newWalk(t *testing.T, session context.Context, base string) *walk {
	t.Helper()
	tab, end := chromedp.NewContext(session)
	t.Cleanup(end)
	w := &walk{t: t, tab: tab, base: base}
	w.faults = browser.Watch(tab, func(url string) bool { return strings.HasPrefix(url, base) })
	if err := chromedp.Run(tab, w.faults.Begin()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *walk) do(actions ...chromedp.Action) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.tab, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		w.t.Fatalf("%v\nthe page has: %s", err, w.text())
	}
}

func (w *walk) open(fragment string) {
	w.t.Helper()
	w.do(chromedp.Navigate("about:blank"), chromedp.Navigate(w.base+fragment))
}

// holds waits until an expression is true. Questions that the estimate calls heavy are run.
func (w *walk) holds(meaning, expression string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.tab, patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var ok bool
		run := "document.querySelector('.trouble.held button')?.click(), !!(" + expression + ")"
		if err := chromedp.Run(ctx, chromedp.Evaluate(run, &ok)); err == nil && ok { // fails while the page is loaded
			return
		}
		select {
		case <-ctx.Done():
			w.t.Fatalf("the page never %s\nit has: %s", meaning, w.text())
		case <-tick.C:
		}
	}
}

func (w *walk) sees(text string) {
	w.t.Helper()
	w.holds("shows "+text, fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

func (w *walk) click(what, selector string) {
	w.t.Helper()
	w.holds("has "+what, fmt.Sprintf("document.querySelector(%q)", selector))
	w.do(chromedp.Evaluate(fmt.Sprintf("document.querySelector(%q).click()", selector), nil))
}

// text returns what the page shows, for messages.
func (w *walk) text() string {
	ctx, cancel := context.WithTimeout(w.tab, 2*time.Second)
	defer cancel()
	var text string
	if err := chromedp.Run(ctx, chromedp.Evaluate("document.body.innerText", &text)); err != nil {
		return err.Error()
	}
	return text
}

// check fails the test for each fault that the walk does not expect.
func (w *walk) check() {
	w.t.Helper()
faults:
	for _, fault := range w.faults.Take() {
		for _, part := range w.expected {
			if strings.Contains(fault, part) {
				continue faults
			}
		}
		w.t.Error(fault)
	}
}
