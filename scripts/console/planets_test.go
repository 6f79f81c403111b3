package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const planetBase = "/api/v4.0/conf/%s/planets"

// conf sends a request about a planet, and returns the answer.
func conf(t *testing.T, s *served, method, path, body string) string {
	t.Helper()
	return confBy(t, s, "", method, path, body)
}

// confBy is like conf, with a key; "" for none.
func confBy(t *testing.T, s *served, key, method, path, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s %s", method, path, response.Status, text)
	}
	return string(text)
}

const challenge = `"ichallenge":{"attrs":{},"lang":{},"palette":["#0072b2"],"position":{}}`

// newPlanet saves settings of a configuration of its own.
func newPlanet(t *testing.T, s *served, config string) {
	t.Helper()
	conf(t, s, http.MethodPut, fmt.Sprintf(planetBase, config)+"/__default__", `{"name":"main","trusted_nets":[`+
		`{"address":"10.0.0.0/8","comment":"office"},{"address":"10.1.0.0/16","comment":"lab"}],`+challenge+`,"newer":[1.0]}`)
}

// versions waits until a planet has a number of versions.
func (b *tab) versions(n int) {
	b.t.Helper()
	b.holds(fmt.Sprintf("document.querySelectorAll('.versions li').length === %d", n), fmt.Sprint("has the versions ", n))
}

// TestPlanets walks through the screen of the planets. Each walk has a configuration of its own.
func TestPlanets(t *testing.T) {
	browser := chromium(t)
	walk := walker(t, browser, serve(t, "200").address)
	settings := func(t *testing.T, s *served, config string) string {
		return conf(t, s, http.MethodGet, fmt.Sprintf(planetBase, config), "")
	}

	walk("configurations are listed, and others can be opened", func(t *testing.T, b *tab, s *served) {
		newPlanet(t, s, "shop")
		b.open("#/planets")
		b.sees("Choose a configuration")
		b.holds("[...document.querySelectorAll('.configurations li')].map((e) => e.textContent).join() === 'prod,staging'",
			"lists the configurations of the data")
		b.fill("#config", "a b")
		b.sees("Letters, digits")
		b.fill("#config", "shop")
		b.click(".configurations button", "Open")
		b.sees("Planet of shop")
		b.holds("location.hash === '#/planets/shop'", "has the configuration in its address")
		b.versions(1)
	})
	walk("a change is shown before it is saved, and what the form does not know is kept", func(t *testing.T, b *tab, s *served) {
		newPlanet(t, s, "blog")
		b.open("#/planets/blog")
		b.sees("is inside 10.0.0.0/8")
		b.sees("16,777,216 IPv4 addresses")
		b.fill("#planet-name", "the blog")
		b.fill("#comment-0", "all offices")
		b.sees("2 changes are not saved")
		b.click(".save-bar button", "Review")
		b.sees("trusted_nets › 10.0.0.0/8 › comment")
		b.screenshot("planet-difference")
		b.click(".save-bar button", "Save 2 changes")
		b.versions(2)
		want := `{"id":"__default__","name":"the blog","trusted_nets":[{"address":"10.0.0.0/8","comment":"all offices"},` +
			`{"address":"10.1.0.0/16","comment":"lab"}],` + challenge + `,"newer":[1.0]}`
		if got := settings(t, s, "blog"); got != want {
			t.Errorf("the settings are %s\nwant %s", got, want)
		}
		b.holds("!document.querySelector('.save-bar')", "has nothing left to save")
	})
	walk("rows are added, pasted, sorted and removed", func(t *testing.T, b *tab, s *served) {
		newPlanet(t, s, "rows")
		b.open("#/planets/rows")
		b.sees("Planet of rows")
		b.click("button", "Paste many")
		b.fill("#paste", "9.0.0.0/8 nine\n2001:db8::/32")
		b.click("button", "Add 2 networks")
		b.holds("document.querySelectorAll('.nets tbody tr').length === 4", "has the pasted rows")
		b.click("button", "Sort")
		b.holds("document.querySelector('#net-0').value === '9.0.0.0/8'", "is sorted")
		b.click(".remove button", "Remove 10.1.0.0/16")
		b.click("button", "Add a network")
		b.holds("document.querySelectorAll('.nets tbody tr').length === 4", "has a new row")
		b.fill(".nets tbody tr:last-child select", "global_filter")
		b.fill("#net-3", "f1")
		b.fill("#comment-3", "partners")
		b.click(".save-bar button", "Review")
		b.click(".save-bar button", "Save")
		b.versions(2)
		if got := settings(t, s, "rows"); !strings.Contains(got, `[{"address":"9.0.0.0/8","comment":"nine"},`+
			`{"address":"10.0.0.0/8","comment":"office"},{"address":"2001:db8::/32","comment":""},`+
			`{"comment":"partners","source":"global_filter","gf_id":"f1"}]`) {
			t.Errorf("the settings are %s", got)
		}
	})
	walk("what is not valid is shown at its field", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 422"}
		newPlanet(t, s, "wrong")
		b.open("#/planets/wrong")
		b.sees("Planet of wrong")
		b.fill("#net-1", "10.0.0.300")
		b.fill("#planet-name", " ")
		b.click(".save-bar button", "Review")
		b.click(".save-bar button", "Save")
		b.sees("2 parts of the settings are not valid")
		b.holds("document.querySelector('#net-1').ariaInvalid === 'true' && document.querySelector('#planet-name').ariaInvalid === 'true'",
			"marks the fields")
		b.holds("document.querySelector('#net-1-wrong').textContent.includes('is not an IP address')", "has the reason at the field")
		b.screenshot("planet-wrong")
		b.accessible("wrong settings")
		b.fill("#net-1", "10.3.0.0/16")
		b.holds("!document.querySelector('#net-1-wrong') && document.querySelector('#planet-name-wrong')",
			"forgets what is mended, and only that")
	})
	walk("unsaved changes survive a reload", func(t *testing.T, b *tab, s *served) {
		chromedp.ListenTarget(b.ctx, func(event any) {
			if _, ok := event.(*page.EventJavascriptDialogOpening); ok {
				go func() { _ = chromedp.Run(b.ctx, page.HandleJavaScriptDialog(true)) }() // the browser asks before it leaves
			}
		})
		b.allowed = []string{"'beforeunload' confirmation"} // it does not ask before the reader has done anything with the mouse
		newPlanet(t, s, "kept")
		b.open("#/planets/kept")
		b.sees("Planet of kept")
		b.fill("#planet-name", "a new name")
		b.sees("1 change is not saved")
		b.run(chromedp.Reload())
		b.sees("1 change is not saved")
		b.holds("document.querySelector('#planet-name').value === 'a new name'", "has the change")
		b.click(".save-bar button", "Discard")
		b.holds("document.querySelector('#planet-name').value === 'main'", "has the saved name again")
	})
	walk("json with a mistake cannot be saved", func(t *testing.T, b *tab, s *served) {
		newPlanet(t, s, "json")
		b.open("#/planets/json")
		b.click("[role=tab]", "JSON")
		b.holds("document.querySelector('textarea.json').value.includes('\"newer\": [')", "has the settings")
		b.fill("textarea.json", "{\n  \"name\": \"x\",\n}")
		b.sees("Line 3, column 1")
		b.holds("document.querySelector('.save-bar .primary').disabled", "does not save")
		b.click("[role=tab]", "Form")
		b.sees("The JSON has a mistake")
	})
	walk("two who save at once are joined", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 412"}
		newPlanet(t, s, "both")
		b.open("#/planets/both")
		b.sees("Planet of both")
		b.fill("#planet-name", "mine")
		b.fill("#comment-0", "my office")
		conf(t, s, http.MethodPut, fmt.Sprintf(planetBase, "both")+"/__default__", `{"name":"theirs","trusted_nets":[`+
			`{"address":"10.0.0.0/8","comment":"office"},{"address":"192.0.2.1","comment":"new"}],`+challenge+`,"newer":[1.0]}`)
		b.click(".save-bar button", "Review")
		b.click(".save-bar button", "Save 2 changes")
		b.sees("Somebody else saved first")
		b.holds("document.querySelectorAll('.choice').length === 1", "asks only about what both changed")
		b.holds("document.querySelector('.merge .primary').disabled", "waits for the choice")
		b.screenshot("planet-merge")
		b.accessible("merge")
		b.click(".choice label", "Theirs")
		b.click("button", "Use the joined settings")
		b.sees("1 change is not saved")
		b.click(".save-bar button", "Save 1 change")
		b.versions(3)
		want := `{"id":"__default__","name":"theirs","trusted_nets":[{"address":"10.0.0.0/8","comment":"my office"},` +
			`{"address":"192.0.2.1","comment":"new"}],` + challenge + `,"newer":[1.0]}`
		if got := settings(t, s, "both"); got != want {
			t.Errorf("the settings are %s\nwant %s", got, want)
		}
	})
	walk("a server that misses the condition of a change says so, and the change is kept", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 428"}
		newPlanet(t, s, "strict")
		before := settings(t, s, "strict")
		b.open("#/planets/strict")
		b.sees("Planet of strict")
		b.fill("#comment-0", "all offices")
		s.answer(func(w http.ResponseWriter, r *http.Request) bool { // as if a proxy left out If-Match
			return r.Method == http.MethodPut && refuse(w, http.StatusPreconditionRequired, "send If-Match with the ETag of what you read")
		})
		b.click(".save-bar button", "Review")
		b.click(".save-bar button", "Save 1 change")
		b.sees("send If-Match with the ETag of what you read")
		b.sees("id-of-the-request")
		b.accessible("precondition required")
		if got := settings(t, s, "strict"); got != before {
			t.Errorf("the settings are %s", got)
		}
		s.answer(nil)
		b.click(".save-bar button", "Save 1 change")
		b.versions(2)
	})
	walk("restoring shows the difference first", func(t *testing.T, b *tab, s *served) {
		newPlanet(t, s, "old")
		first := settings(t, s, "old")
		conf(t, s, http.MethodPut, fmt.Sprintf(planetBase, "old")+"/__default__", `{"name":"main","trusted_nets":[],`+challenge+`}`)
		b.open("#/planets/old")
		b.click(".versions li:last-child button", "")
		b.sees("What restoring it changes")
		b.sees("trusted_nets › 10.0.0.0/8")
		b.accessible("version")
		b.screenshot("planet-version")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.sees("Planet of old")
		b.run(chromedp.Evaluate("history.forward()", nil))
		b.click("button", "Restore version 1")
		b.versions(3)
		if got := settings(t, s, "old"); got != first {
			t.Errorf("the settings are %s\nwant %s", got, first)
		}
	})
	walk("a configuration without settings gets them when they are saved", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 404"}
		b.open("#/planets/fresh")
		b.sees("has no settings yet")
		b.fill("#planet-name", "fresh")
		b.click(".save-bar button", "Review")
		b.click(".save-bar button", "Create the settings")
		b.versions(1)
	})
	walk("while settings are read-only, the reason is shown and nothing is lost", func(t *testing.T, b *tab, s *served) {
		b.allowed = []string{"status of 403"}
		newPlanet(t, s, "closed")
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPut {
				return false
			}
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"code":403,"message":"System is under maintenance.","request_id":"id-of-it"}`)
			return true
		})
		b.open("#/planets/closed")
		b.sees("Planet of closed")
		b.fill("#planet-name", "later")
		b.click(".save-bar button", "Review")
		b.click(".save-bar button", "Save 1 change")
		b.sees("System is under maintenance")
		b.sees("id-of-it")
		b.sees("1 change is not saved")
	})
	walk("the text of the challenge stays as it is typed", func(t *testing.T, b *tab, s *served) {
		chromedp.ListenTarget(b.ctx, func(event any) {
			if _, ok := event.(*page.EventJavascriptDialogOpening); ok {
				go func() { _ = chromedp.Run(b.ctx, page.HandleJavaScriptDialog(true)) }() // the browser asks before it leaves
			}
		})
		b.allowed = []string{"'beforeunload' confirmation"}
		newPlanet(t, s, "typed")
		b.open("#/planets/typed")
		b.sees("Planet of typed")
		has := func(text, meaning string) {
			t.Helper()
			b.holds(fmt.Sprintf("document.querySelector('#challenge')?.value === %q", text), meaning)
		}
		const valid, broken = `{"attrs": {},"lang":{"en":"x"}, "palette":[],"position":{}}`, `{"attrs": {},"lang":{"en":`
		b.fill("#challenge", valid)
		b.sees("2 changes are not saved")
		has(valid, "has the text as it was typed")
		b.fill("#challenge", broken)
		b.sees("Line 1, column 27")
		b.fill("#planet-name", "another")
		b.click("[role=tab]", "JSON")
		b.holds("document.querySelector('#tab-panel > textarea.json')", "has the JSON")
		b.click("[role=tab]", "Form")
		has(broken, "has the text with the mistake")
		b.run(chromedp.Reload())
		has(broken, "has the text with the mistake after a reload")
		b.click("[role=tab]", "Difference")
		b.sees("The text of the interactive challenge has a mistake")
		b.holds("document.querySelector('.save-bar .primary').disabled", "does not save something else")
		b.click("[role=tab]", "Form")
		b.fill("#challenge", valid)
		b.click(".save-bar button", "Review")
		b.click(".save-bar button", "Save 3 changes")
		b.versions(2)
		if got := settings(t, s, "typed"); !strings.Contains(got, `"lang":{"en":"x"}`) || !strings.Contains(got, `"name":"another"`) {
			t.Errorf("the settings are %s", got)
		}
	})
	walk("what is typed while settings are saved stays", func(t *testing.T, b *tab, s *served) {
		newPlanet(t, s, "slow")
		begun, end := make(chan struct{}, 2), make(chan struct{})
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut {
				readAll(t, r)
				begun <- struct{}{}
				<-end
			}
			return false
		})
		b.open("#/planets/slow")
		b.sees("Planet of slow")
		b.fill("#planet-name", "first")
		b.click(".save-bar button", "Review")
		b.click(".save-bar button", "Save 1 change")
		<-begun
		b.click("[role=tab]", "Form")
		b.fill("#comment-0", "typed meanwhile")
		b.sees("2 changes are not saved")
		close(end)
		b.versions(2)
		b.sees("1 change is not saved")
		b.holds("document.querySelector('#comment-0').value === 'typed meanwhile' && document.querySelector('#planet-name').value === 'first'",
			"has both texts")
		b.click(".save-bar button", "Review")
		b.click(".save-bar button", "Save 1 change")
		b.versions(3)
		if got := settings(t, s, "slow"); !strings.Contains(got, `"comment":"typed meanwhile"`) || !strings.Contains(got, `"name":"first"`) {
			t.Errorf("the settings are %s", got)
		}
	})
	walk("the networks have their number of addresses, and the challenge what its members are, its logo and its colours",
		func(t *testing.T, b *tab, s *served) {
			conf(t, s, http.MethodPut, fmt.Sprintf(planetBase, "looks")+"/__default__", `{"name":"main","trusted_nets":[`+
				`{"address":"192.0.2.0/24","comment":""},{"address":"192.0.2.7","comment":""},{"address":"2001:db8::/32","comment":""}],`+
				`"ichallenge":{"attrs":{"logo":"data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="},"lang":{},"palette":["#0072b2"],`+
				`"position":{}}}`)
			b.open("#/planets/looks")
			b.holds("document.querySelector('.networks h3 small')?.textContent === '256 IPv4 addresses, 1 IPv6 network'",
				"counts the addresses once")
			b.fill("#net-0", "192.0.2.0/25")
			b.holds("document.querySelector('.networks h3 small').textContent === '128 IPv4 addresses, 1 IPv6 network'", "counts again")
			b.sees("lang has its texts by language, palette its colours in hexadecimal, position the places of its parts")
			b.holds("document.querySelector('.challenge img[alt=Logo]')?.src.startsWith('data:image/gif')", "shows the logo")
			b.holds("document.querySelector('.challenge .colours [title=\"#0072b2\"]')", "shows the colours")
			b.answered()
		})
	walk("another order alone can be saved", func(t *testing.T, b *tab, s *served) {
		conf(t, s, http.MethodPut, fmt.Sprintf(planetBase, "order")+"/__default__", `{"name":"main","trusted_nets":[`+
			`{"address":"192.0.2.1","comment":""},{"address":"10.0.0.0/8","comment":""}],`+challenge+`}`)
		b.open("#/planets/order")
		b.sees("Planet of order")
		b.click("button", "Sort")
		b.sees("1 change is not saved")
		b.click(".save-bar button", "Review")
		b.sees("trusted_nets in another order")
		b.sees("10.0.0.0/8, 192.0.2.1")
		b.click(".save-bar button", "Save 1 change")
		b.versions(2)
		if got := settings(t, s, "order"); !strings.Contains(got, `[{"address":"10.0.0.0/8","comment":""},{"address":"192.0.2.1"`) {
			t.Errorf("the settings are %s", got)
		}
	})
	walk("another layout of the same JSON is no change", func(t *testing.T, b *tab, s *served) {
		newPlanet(t, s, "layout")
		b.open("#/planets/layout?tab=json")
		b.holds("document.querySelector('textarea.json')", "has the JSON")
		text := value[string](b, "document.querySelector('textarea.json').value.replace('{', '{\\n')")
		b.fill("textarea.json", text)
		b.holds("document.querySelector('textarea.json').value.startsWith('{\\n\\n')", "has the text as it was typed")
		b.holds("!document.querySelector('.save-bar')", "has nothing to save")
	})
	walk("the page asks before it is left as long as something is not saved, on every screen", func(t *testing.T, b *tab, s *served) {
		newPlanet(t, s, "guarded")
		const asks = "!dispatchEvent(new Event('beforeunload', {cancelable: true}))"
		b.open("#/planets/guarded")
		b.sees("Planet of guarded")
		b.holds("!("+asks+")", "does not ask without a change")
		b.fill("#planet-name", "mine")
		b.sees("1 change is not saved")
		b.click("nav a", "Status")
		b.sees("What it allows")
		b.holds(asks, "asks on another screen")
		b.run(chromedp.Evaluate("history.back()", nil))
		b.click(".save-bar button", "Discard")
		b.holds("!("+asks+")", "does not ask when it is discarded")
	})
	walk("tabs and configurations by keys", func(t *testing.T, b *tab, s *served) {
		newPlanet(t, s, "keys")
		b.open("#/planets/keys")
		b.sees("Planet of keys")
		b.run(chromedp.Focus("#tab-form"))
		b.keys(kb.ArrowRight)
		b.holds("document.activeElement.id === 'tab-json' && document.querySelector('textarea.json')", "has the JSON")
		b.keys(kb.ArrowRight)
		b.sees("Nothing is changed")
	})
}

// TestPlanetsOfAKeyForSettings opens the screen with a key that may not read data.
func TestPlanetsOfAKeyForSettings(t *testing.T) {
	browser := chromium(t)
	program, err := program()
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	create := exec.Command(program, "key", "create", "settings", "--scope", "conf:read", "--scope", "conf:write", "--data", data)
	create.Env = environment()
	key, err := create.Output()
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, program, data)
	b := newTab(t, browser, s.url, 1280, "light")
	b.allowed = []string{"status of 401", "status of 403", "status of 404"}
	b.open("#/planets")
	b.sees("This server needs an API key")
	b.fill("#key", strings.TrimSpace(string(key)))
	b.click("button", "Use the key")
	b.sees("Open yours by its name")
	b.accessible("planets of a key for settings")
	b.fill("#config", "shop")
	b.click(".configurations button", "Open")
	b.sees("has no settings yet")
	b.fill("#planet-name", "shop")
	b.click(".save-bar button", "Review")
	b.click(".save-bar button", "Create the settings")
	b.versions(1)
	b.check()
}
