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

// saved are the networks of newPlanet.
const saved = `{"address":"10.0.0.0/8","comment":"office"},{"address":"10.1.0.0/16","comment":"lab"}`

// newPlanet saves settings of a configuration of its own.
func newPlanet(t *testing.T, s *served, config string) {
	t.Helper()
	conf(t, s, http.MethodPut, fmt.Sprintf(planetBase, config)+"/__default__", `{"name":"main","trusted_nets":[`+saved+`],`+challenge+`,"newer":[1.0]}`)
}

// settings checks that the settings of a configuration have some parts.
func settings(config string, parts ...string) step {
	return stepOf(func(b *tab) {
		got := conf(b.t, b.s, http.MethodGet, fmt.Sprintf(planetBase, config), "")
		for _, part := range parts {
			if !strings.Contains(got, part) {
				b.t.Errorf("%sthe settings are %s\nwant %s", b.where(), got, part)
			}
		}
	}, "settings", config)
}

// whole is the text of settings from their first brace to the last.
func whole(name, nets string) string {
	return `{"id":"__default__","name":"` + name + `","trusted_nets":[` + nets + `],` + challenge + `,"newer":[1.0]}`
}

// theirs saves settings as somebody else does.
func theirs(config, body string) step {
	return sends(http.MethodPut, fmt.Sprintf(planetBase, config)+"/__default__", body)
}

// leaves lets the page be left when the browser asks about it. It does not ask before the reader has done anything with the mouse.
func leaves() step {
	return stepOf(func(b *tab) {
		b.allowed = append(b.allowed, "'beforeunload' confirmation")
		chromedp.ListenTarget(b.ctx, func(event any) {
			if _, ok := event.(*page.EventJavascriptDialogOpening); ok {
				go func() { _ = chromedp.Run(b.ctx, page.HandleJavaScriptDialog(true)) }()
			}
		})
	}, "leaves")
}

// TestPlanets walks through the screen of the planets. Each walk has a configuration of its own.
func TestPlanets(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	const asks = "!dispatchEvent(new Event('beforeunload', {cancelable: true}))"

	walk("configurations are listed, and others can be opened",
		planet("shop"), open("#/planets"), sees("Choose a configuration"),
		holds("$$('.configurations li').map((e) => e.textContent).join() === 'prod,staging'", "lists the configurations of the data"),
		fill("#config", "a b"), sees("Letters, digits"), fill("#config", "shop"), click(".configurations button", "Open"),
		sees("Settings of shop"), holds("location.hash === '#/planets/shop'", "has the configuration in its address"), versions(1))
	walk("a change is shown before it is saved, and what the form does not know is kept",
		planet("blog"), open("#/planets/blog"), sees("is inside 10.0.0.0/8"), sees("16,777,216 IPv4 addresses"),
		fill("#planet-name", "the blog"), fill("#comment-0", "all offices"), sees("2 unsaved changes"),
		click(".save-bar button", "Review"), sees("trusted_nets › 10.0.0.0/8 › comment"), screenshot("planet-difference"),
		click(".save-bar button", "Save 2 changes"), versions(2),
		settings("blog", whole("the blog", `{"address":"10.0.0.0/8","comment":"all offices"},{"address":"10.1.0.0/16","comment":"lab"}`)),
		lacks(".save-bar"))
	walk("rows are added, pasted, sorted and removed",
		planet("rows"), open("#/planets/rows"), sees("Settings of rows"), click("button", "Paste many"),
		fill("#paste", "9.0.0.0/8 nine\n2001:db8::/32"), click("button", "Add 2 networks"), count(".nets tbody tr", 4),
		click("button", "Sort"), fieldIs("#net-0", "9.0.0.0/8"), click(".remove button", "Remove 10.1.0.0/16"),
		click("button", "Add a network"), count(".nets tbody tr", 4), focused("#net-3"), fill(".nets tbody tr:last-child select", "global_filter"),
		fill("#net-3", "f1"), fill("#comment-3", "partners"), click(".save-bar button", "Review"),
		click(".save-bar button", "Save"), versions(2),
		settings("rows", `[{"address":"9.0.0.0/8","comment":"nine"},`+
			`{"address":"10.0.0.0/8","comment":"office"},{"address":"2001:db8::/32","comment":""},`+
			`{"comment":"partners","source":"global_filter","gf_id":"f1"}]`))
	walk("what is not valid is shown at its field",
		allow("status of 422"), planet("wrong"), open("#/planets/wrong"), sees("Settings of wrong"), fill("#net-1", "10.0.0.300"),
		fill("#planet-name", " "), click(".save-bar button", "Review"), click(".save-bar button", "Save"),
		sees("2 parts of the settings are not valid"),
		holds("$('#net-1').ariaInvalid === 'true' && $('#planet-name').ariaInvalid === 'true'", "marks the fields"),
		textHas("#net-1-wrong", "is not an IP address"), screenshot("planet-wrong"), accessible("wrong settings"),
		fill("#net-1", "10.3.0.0/16"),
		holds("!$('#net-1-wrong') && $('#planet-name-wrong')", "forgets what is mended, and only that"))
	walk("unsaved changes survive a reload",
		leaves(), planet("kept"), open("#/planets/kept"), sees("Settings of kept"), fill("#planet-name", "a new name"),
		sees("1 unsaved change"), reload(), sees("1 unsaved change"), fieldIs("#planet-name", "a new name"),
		click(".save-bar button", "Discard"), fieldIs("#planet-name", "main"))
	walk("json with a mistake cannot be saved",
		planet("json"), open("#/planets/json"), click("[role=tab]", "JSON"),
		holds(`$('textarea.json').value.includes('"newer": [')`, "has the settings"),
		fill("textarea.json", "{\n  \"name\": \"x\",\n}"), sees("Line 3, column 1"),
		holds("$('.save-bar .primary').disabled", "does not save"), click("[role=tab]", "Form"), sees("The JSON has a mistake"))
	walk("two who save at once are joined",
		allow("status of 412"), planet("both"), open("#/planets/both"), sees("Settings of both"), fill("#planet-name", "mine"),
		fill("#comment-0", "my office"),
		theirs("both", `{"name":"theirs","trusted_nets":[`+
			`{"address":"10.0.0.0/8","comment":"office"},{"address":"192.0.2.1","comment":"new"}],`+challenge+`,"newer":[1.0]}`),
		click(".save-bar button", "Review"), click(".save-bar button", "Save 2 changes"), sees("Somebody else saved first"),
		count(".choice", 1), holds("$('.merge .primary').disabled", "waits for the choice"), screenshot("planet-merge"),
		accessible("merge"), click(".choice label", "Theirs"), click("button", "Use the joined settings"),
		sees("1 unsaved change"), click(".save-bar button", "Save 1 change"), versions(3),
		settings("both", whole("theirs", `{"address":"10.0.0.0/8","comment":"my office"},{"address":"192.0.2.1","comment":"new"}`)))
	walk("a server that misses the condition of a change says so, and the change is kept",
		allow("status of 428"), planet("strict"),
		open("#/planets/strict"), sees("Settings of strict"), fill("#comment-0", "all offices"), answers(func(c *call) bool { // as if a proxy left out If-Match
			return c.writes() && c.refuse(http.StatusPreconditionRequired, "send If-Match with the ETag of what you read")
		}), click(".save-bar button", "Review"), click(".save-bar button", "Save 1 change"),
		sees("send If-Match with the ETag of what you read"), sees("id-of-the-request"), accessible("precondition required"),
		settings("strict", whole("main", saved)),
		answers(), click(".save-bar button", "Save 1 change"), versions(2))
	walk("restoring shows the difference first",
		planet("old"),
		theirs("old", `{"name":"main","trusted_nets":[],`+challenge+`}`),
		open("#/planets/old"), click(".versions li:last-child button", ""), sees("What restoring it changes"),
		sees("trusted_nets › 10.0.0.0/8"), accessible("version"), screenshot("planet-version"), back(), sees("Settings of old"),
		forward(), click("button", "Restore version 1"), versions(3),
		settings("old", whole("main", saved)))
	walk("a configuration without settings gets them when they are saved",
		allow("status of 404"), open("#/planets/fresh"), sees("has no settings yet"), fill("#planet-name", "fresh"),
		click(".save-bar button", "Review"), click(".save-bar button", "Create the settings"), versions(1))
	walk("while settings are read-only, the reason is shown and nothing is lost",
		allow("status of 403"), planet("closed"), answers(func(c *call) bool {
			return c.writes() && c.refuse(http.StatusForbidden, "System is under maintenance.")
		}), open("#/planets/closed"), sees("Settings of closed"), fill("#planet-name", "later"), click(".save-bar button", "Review"),
		click(".save-bar button", "Save 1 change"), sees("System is under maintenance"), sees("id-of-the-request"),
		sees("1 unsaved change"))
	const valid, broken = `{"attrs": {},"lang":{"en":"x"}, "palette":[],"position":{}}`, `{"attrs": {},"lang":{"en":`
	walk("the text of the challenge stays as it is typed",
		leaves(), planet("typed"), open("#/planets/typed"), sees("Settings of typed"),
		fill("#challenge", valid), sees("2 unsaved changes"),
		fieldIs("#challenge", valid),
		fill("#challenge", broken), sees("Line 1, column 27"), fill("#planet-name", "another"), click("[role=tab]", "JSON"),
		exists("#tab-panel > textarea.json"), click("[role=tab]", "Form"),
		fieldIs("#challenge", broken),
		reload(),
		fieldIs("#challenge", broken),
		click("[role=tab]", "Difference"), sees("The text of the interactive challenge has a mistake"),
		holds("$('.save-bar .primary').disabled", "does not save something else"), click("[role=tab]", "Form"),
		fill("#challenge", valid), click(".save-bar button", "Review"), click(".save-bar button", "Save 3 changes"),
		versions(2),
		settings("typed", `"lang":{"en":"x"}`, `"name":"another"`))
	walk("what is typed while settings are saved stays",
		planet("slow"),
		holdsWrites(), open("#/planets/slow"), sees("Settings of slow"), fill("#planet-name", "first"), click(".save-bar button", "Review"),
		click(".save-bar button", "Save 1 change"), writes(), click("[role=tab]", "Form"),
		fill("#comment-0", "typed meanwhile"), sees("2 unsaved changes"), letsWrite(), versions(2),
		sees("1 unsaved change"),
		holds("$('#comment-0').value === 'typed meanwhile' && $('#planet-name').value === 'first'", "has both texts"),
		click(".save-bar button", "Review"), click(".save-bar button", "Save 1 change"), versions(3),
		settings("slow", `"comment":"typed meanwhile"`, `"name":"first"`))
	walk("the networks have their number of addresses, and the challenge what its members are, its logo and its colours",
		theirs("looks", `{"name":"main","trusted_nets":[`+
			`{"address":"192.0.2.0/24","comment":""},{"address":"192.0.2.7","comment":""},{"address":"2001:db8::/32","comment":""}],`+
			`"ichallenge":{"attrs":{"logo":"data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="},"lang":{},"palette":["#0072b2"],`+
			`"position":{}}}`), open("#/planets/looks"), text(".networks h3 small", "256 IPv4 addresses, 1 IPv6 network"),
		fill("#net-0", "192.0.2.0/25"), text(".networks h3 small", "128 IPv4 addresses, 1 IPv6 network"),
		sees("lang has its texts by language, palette its colours in hexadecimal, position the places of its parts"),
		holds("$('.challenge img[alt=Logo]')?.src.startsWith('data:image/gif')", "shows the logo"),
		exists(`.challenge .colours [title="#0072b2"]`), answered())
	walk("another order alone can be saved",
		theirs("order", `{"name":"main","trusted_nets":[`+
			`{"address":"192.0.2.1","comment":""},{"address":"10.0.0.0/8","comment":""}],`+challenge+`}`), open("#/planets/order"),
		sees("Settings of order"), click("button", "Sort"), sees("1 unsaved change"), click(".save-bar button", "Review"),
		sees("trusted_nets in another order"), sees("10.0.0.0/8, 192.0.2.1"), click(".save-bar button", "Save 1 change"),
		versions(2),
		settings("order", `[{"address":"10.0.0.0/8","comment":""},{"address":"192.0.2.1"`))
	walk.run("another layout of the same JSON is no change", func(t *testing.T, b *tab, s *served) {
		b.do(planet("layout"), open("#/planets/layout?tab=json"), exists("textarea.json"))
		b.do(fill("textarea.json", value[string](b, "$('textarea.json').value.replace('{', '{\\n')")), holds(`$('textarea.json').value.startsWith('{\n\n')`, "has the text as it was typed"),
			lacks(".save-bar"))
	})
	walk("the page asks before it is left as long as something is not saved, on every screen",
		planet("guarded"),
		open("#/planets/guarded"), sees("Settings of guarded"), holds("!("+asks+")", "does not ask without a change"),
		fill("#planet-name", "mine"), sees("1 unsaved change"), click("nav a", "Status"), sees("What it allows"),
		holds(asks, "asks on another screen"), back(), click(".save-bar button", "Discard"),
		holds("!("+asks+")", "does not ask when it is discarded"))
	walk("tabs and configurations by keys",
		planet("keys"), open("#/planets/keys"), sees("Settings of keys"), focus("#tab-form"), keys(kb.ArrowRight),
		holds("document.activeElement.id === 'tab-json' && $('textarea.json')", "has the JSON"), keys(kb.ArrowRight),
		sees("Nothing is changed"))
}

// TestPlanetsOfAKeyForSettings opens the screen with a key that may not read data.
func TestPlanetsOfAKeyForSettings(t *testing.T) {
	program := program(t)
	data := filepath.Join(tempDir(t), "data")
	create := exec.Command(program, "key", "create", "settings", "--scope", "conf:read", "--scope", "conf:write", "--data", data)
	create.Env = environment()
	key, err := create.Output()
	if err != nil {
		t.Fatal(err)
	}
	walk := walksAt(t, start(t, program, data))
	walk("settings are created with a key that may not read data",
		allow("status of 401", "status of 403", "status of 404"), open("#/planets"), sees("This server needs an API key"),
		fill("#key", strings.TrimSpace(string(key))), click("button", "Use the key"), sees("Open yours by its name"),
		accessible("planets of a key for settings"), fill("#config", "shop"), click(".configurations button", "Open"),
		sees("has no settings yet"), fill("#planet-name", "shop"), click(".save-bar button", "Review"),
		click(".save-bar button", "Create the settings"), versions(1))
}
