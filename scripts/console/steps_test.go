package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// A step is something that a walk does in a tab, or waits for. A walk is a list of steps.
//
// Expressions of steps are JavaScript. $(selector) is the first element, $$(selector) is an array of all elements, and seen has
// the values that the walk has noted.
type step struct {
	name string // of its constructor, with the arguments, for messages
	at   string // the line of the test, for messages
	run  func(b *tab)
}

// stepOf makes a step. Only constructors of steps call it: the line of the step is the line of their caller.
func stepOf(run func(b *tab), name string, arguments ...any) step {
	return madeAt(3, run, name, arguments...)
}

// madeAt is like stepOf for a caller that is a number of calls away.
func madeAt(calls int, run func(b *tab), name string, arguments ...any) step {
	_, file, line, _ := runtime.Caller(calls)
	for _, argument := range arguments {
		name += fmt.Sprintf(" %v", argument)
	}
	return step{name: name, at: fmt.Sprintf("%s:%d", filepath.Base(file), line), run: run}
}

// do runs steps.
func (b *tab) do(steps ...step) {
	b.t.Helper()
	before := b.step
	for _, one := range steps {
		if before.at != "" && strings.HasPrefix(one.at, "steps_test.go:") {
			one.at = before.at // the line of the walk is of more use
		}
		b.step = one
		one.run(b)
	}
	b.step = before
}

// where returns the place and the name of the step that runs, for messages.
func (b *tab) where() string {
	if b.step.at == "" {
		return ""
	}
	return b.step.at + ": " + b.step.name + ": "
}

// A walker runs walks at the same time. Each has a tab and an origin of its own, but all ask the same server.
type walker func(name string, steps ...step)

// walksAt returns a walker for the server at an address.
func walksAt(t *testing.T, address string) walker {
	session := chromium(t)
	return func(name string, steps ...step) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := behind(t, address)
			b := newTab(t, session, s.url, 1280, "light")
			b.s = s
			defer b.check() // also if a step failed: the faults of the page may be the reason
			b.do(steps...)
		})
	}
}

// run runs a walk that is more than a list of steps.
func (w walker) run(name string, walk func(t *testing.T, b *tab, s *served)) {
	w(name, stepOf(func(b *tab) { walk(b.t, b, b.s) }, "run"))
}

// together makes a step of several.
func together(steps ...step) step {
	return stepOf(func(b *tab) { b.do(steps...) }, "together")
}

// does is a step of actions on the browser.
func does(actions ...chromedp.Action) step {
	return stepOf(func(b *tab) { b.run(actions...) }, "does")
}

// Steps that lead somewhere.

// open loads the page at a fragment.
func open(fragment string) step {
	return stepOf(func(b *tab) { b.open(fragment) }, "open", fragment)
}

// openRecord loads the page at the newest record that matches conditions, and notes the record. The members are those of the address.
func openRecord(conditions, members string) step {
	return stepOf(func(b *tab) {
		record := firstRecord(b.t, b.s, conditions)
		b.note("record", record)
		b.open("#/events/" + record["record_ref"].(string) + "?" + members)
	}, "open record", conditions)
}

// follow goes to a fragment within the page, as a link does.
func follow(fragment string) step {
	return stepOf(func(b *tab) { b.follow(fragment) }, "follow", fragment)
}

func back() step { return stepOf(func(b *tab) { b.evaluate("history.back()") }, "back") }

func forward() step { return stepOf(func(b *tab) { b.evaluate("history.forward()") }, "forward") }

func reload() step { return stepOf(func(b *tab) { b.run(chromedp.Reload()) }, "reload") }

// at makes the window of the tab as wide as a number of pixels.
func at(width int64) step {
	return stepOf(func(b *tab) { b.run(window(width)) }, "at", width)
}

// allWidths are the widths of a phone, a tablet, a laptop and a large window.
var allWidths = []int64{390, 820, 1280, 1920}

// shown reports whether a walk runs in a theme at a width. Short tests run a phone in light and a laptop in dark.
func shown(scheme string, width int64) bool {
	return !testing.Short() || width == map[string]int64{"light": 390, "dark": 1280}[scheme]
}

// inThemes runs steps in both themes at all widths. They get a step that checks and photographs what can be seen.
func inThemes(steps func(shot func(name string) step) []step) step {
	return stepOf(func(b *tab) {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range allWidths {
				if shown(scheme, width) {
					b.do(does(window(width), theme(scheme)))
					b.do(steps(shots(scheme, width))...)
				}
			}
		}
	}, "in themes")
}

// shots returns a step that is like shot in one theme and width. axe-core takes half of the time of a walk, so in short tests it checks
// the first, third, ... picture in light, and the others in dark.
func shots(scheme string, width int64) func(name string) step {
	taken := 0
	return func(name string) step {
		name = fmt.Sprintf("%s-%s-%d", name, scheme, width)
		if taken++; testing.Short() && (taken%2 == 1) != (scheme == "light") {
			return together(screenshot(name), fits(name))
		}
		return shot(name)
	}
}

// shot checks what can be seen with axe-core, and that it fits the window. It keeps a picture.
func shot(name string) step {
	return together(screenshot(name), accessible(name), fits(name))
}

// everyPage runs a script on each page that is loaded from now on, before the page's own scripts.
func everyPage(script string) step {
	return stepOf(func(b *tab) { b.everyPage(script) }, "every page")
}

// Steps that a reader takes.

func click(selector, text string) step {
	return stepOf(func(b *tab) { b.click(selector, text) }, "click", selector, text)
}

// press clicks an element with the mouse, as soon as it can be seen.
func press(selector string) step {
	return stepOf(func(b *tab) { b.run(chromedp.Click(selector)) }, "press", selector)
}

func doubleClick(selector string) step {
	return stepOf(func(b *tab) { b.doubleClick(selector) }, "double click", selector)
}

func dragAcross(selector string, from, to float64) step {
	return stepOf(func(b *tab) { b.dragAcross(selector, from, to) }, "drag across", selector, from, to)
}

func fill(selector, text string) step {
	return stepOf(func(b *tab) { b.fill(selector, text) }, "fill", selector, text)
}

func focus(selector string) step {
	return stepOf(func(b *tab) { b.run(chromedp.Focus(selector)) }, "focus", selector)
}

func blur() step { return stepOf(func(b *tab) { b.evaluate("document.activeElement.blur()") }, "blur") }

func keys(keys string) step { return stepOf(func(b *tab) { b.keys(keys) }, "keys", keys) }

func enter() step { return stepOf(func(b *tab) { b.enter() }, "enter") }

func shortcut(key string) step { return stepOf(func(b *tab) { b.shortcut(key) }, "shortcut", key) }

func chord(key, code string, with input.Modifier) step {
	return stepOf(func(b *tab) { b.chord(key, code, with) }, "chord", key, with)
}

func leads(keys, address string) step {
	return stepOf(func(b *tab) { b.leads(keys, address) }, "leads", keys, address)
}

func tabTo(expression string, most int) step {
	return stepOf(func(b *tab) { b.tabTo(expression, most) }, "tab to", expression)
}

func addCondition(condition string) step {
	return stepOf(func(b *tab) { b.addCondition(condition) }, "add", condition)
}

// evaluate runs a statement in the page.
func evaluate(statement string) step {
	return stepOf(func(b *tab) { b.evaluate(statement) }, "evaluate", statement)
}

// Steps that wait for the page.

// sees waits until the page shows a text.
func sees(text string) step { return stepOf(func(b *tab) { b.sees(text) }, "sees", text) }

// waits makes a step that waits until an expression is true.
func waits(name, expression string, arguments ...any) step {
	return madeAt(3, func(b *tab) { b.holds(expression, "became so") }, name, arguments...)
}

// holds waits until an expression is true. The meaning completes "the page never …" in messages.
func holds(expression, meaning string) step {
	return stepOf(func(b *tab) { b.holds(expression, meaning) }, "holds")
}

func exists(selector string) step { return waits("exists", fmt.Sprintf("$(%q)", selector), selector) }

func lacks(selector string) step { return waits("lacks", fmt.Sprintf("!$(%q)", selector), selector) }

func count(selector string, n int) step {
	return waits("count", fmt.Sprintf("$$(%q).length === %d", selector, n), selector, n)
}

func moreThan(n int, selector string) step {
	return waits("more than", fmt.Sprintf("$$(%q).length > %d", selector, n), n, selector)
}

func visible(selector string) step {
	return stepOf(func(b *tab) { b.run(chromedp.WaitVisible(selector)) }, "visible", selector)
}

// text waits until the first element of a selector has a text, and no other.
func text(selector, text string) step {
	return waits("text", fmt.Sprintf("$(%q)?.textContent === %s", selector, inJS(text)), selector, text)
}

func textHas(selector, part string) step {
	return waits("text has", fmt.Sprintf("$(%q)?.textContent.includes(%s)", selector, inJS(part)), selector, part)
}

func textBegins(selector, begin string) step {
	return waits("text begins", fmt.Sprintf("$(%q)?.textContent.startsWith(%s)", selector, inJS(begin)), selector, begin)
}

func textEnds(selector, end string) step {
	return waits("text ends", fmt.Sprintf("$(%q)?.textContent.endsWith(%s)", selector, inJS(end)), selector, end)
}

// shows is textHas for what can be seen of the element.
func shows(selector, part string) step {
	return waits("shows", fmt.Sprintf("$(%q)?.innerText.includes(%s)", selector, inJS(part)), selector, part)
}

// fieldIs waits until a field has a value.
func fieldIs(selector, text string) step {
	return waits("field is", fmt.Sprintf("$(%q)?.value === %s", selector, inJS(text)), selector, text)
}

func filterIs(text string) step {
	return waits("filter is", fmt.Sprintf("$('#filter').value === %s", inJS(text)), text)
}

func filterBegins(text string) step {
	return waits("filter begins", fmt.Sprintf("$('#filter').value.startsWith(%s)", inJS(text)), text)
}

// hashHas waits until the fragment of the address contains a text, as it is written there.
func hashHas(part string) step {
	return waits("hash has", fmt.Sprintf("location.hash.includes(%s)", inJS(part)), part)
}

func hashLacks(part string) step {
	return waits("hash lacks", fmt.Sprintf("!location.hash.includes(%s)", inJS(part)), part)
}

// addressHas is hashHas for the address without its escapes.
func addressHas(part string) step {
	return waits("address has", fmt.Sprintf("decodeURIComponent(location.hash.replaceAll('+', ' ')).includes(%s)", inJS(part)), part)
}

// addressLacks checks that the fragment does not contain a text.
func addressLacks(part string) step {
	return stepOf(func(b *tab) {
		if at := b.fragment(); strings.Contains(at, part) {
			b.t.Errorf("%sthe address is %s", b.where(), at)
		}
	}, "address lacks", part)
}

// focused waits until the element with the focus is one of a selector.
func focused(selector string) step {
	return waits("focused", fmt.Sprintf("document.activeElement?.matches(%q)", selector), selector)
}

// tile waits until a tile has a figure.
func tile(name string, n int) step {
	return waits("tile", fmt.Sprintf("%s === %d", numberOf(name), n), name, n)
}

// tileOf is tile for a figure that an expression has.
func tileOf(name, figure string) step {
	return waits("tile", fmt.Sprintf("%s === %s", numberOf(name), figure), name, figure)
}

// answered waits until nothing is asked any more.
func answered() step { return stepOf(func(b *tab) { b.answered() }, "answered") }

// Steps that check the page as it is now.

// is checks that an expression has a value.
func is[T comparable](expression string, want T) step {
	return stepOf(func(b *tab) {
		if got := value[T](b, expression); got != want {
			b.t.Errorf("%sit is %v", b.where(), got)
		}
	}, "is", expression, want)
}

// must checks that an expression is true now.
func must(expression, otherwise string) step {
	return stepOf(func(b *tab) {
		if !value[bool](b, "!!("+expression+")") {
			b.t.Errorf("%s%s", b.where(), otherwise)
		}
	}, "must", expression)
}

// mustNot checks that an expression is not true now.
func mustNot(expression, otherwise string) step {
	return stepOf(func(b *tab) {
		if value[bool](b, "!!("+expression+")") {
			b.t.Errorf("%s%s", b.where(), otherwise)
		}
	}, "must not", expression)
}

// accessible checks the page with axe-core.
func accessible(name string) step {
	return stepOf(func(b *tab) { b.accessible(name) }, "accessible", name)
}

// fits checks that the page is not wider than the window.
func fits(name string) step {
	return mustNot("document.documentElement.scrollWidth > document.documentElement.clientWidth", name+" is wider than the window")
}

func touchable(name string) step {
	return stepOf(func(b *tab) { b.touchable(name) }, "touchable", name)
}

func screenshot(name string) step {
	return stepOf(func(b *tab) { b.screenshot(name) }, "screenshot", name)
}

// Steps about what the walk knows and allows.

// note keeps the value of an expression, which further expressions find in seen.
func note(name, expression string) step {
	return stepOf(func(b *tab) { b.note(name, value[any](b, expression)) }, "note", name)
}

func (b *tab) note(name string, value any) {
	if b.seen == nil {
		b.seen = map[string]any{}
	}
	b.seen[name] = value
}

// allow allows faults of the page whose messages contain one of the texts.
func allow(texts ...string) step {
	return stepOf(func(b *tab) { b.allowed = append(b.allowed, texts...) }, "allow")
}

// keepNotices keeps what the page announces from now on.
func keepNotices() step { return stepOf(func(b *tab) { b.keepNotices() }, "keep notices") }

// notices waits until a notice that is kept has a text.
func notices(part string) step {
	return waits("notices", fmt.Sprintf("notices.some((one) => one.includes(%s))", inJS(part)), part)
}

// keepCopies keeps what the page copies, as copied, in place of copying it.
func keepCopies() step {
	return stepOf(func(b *tab) {
		b.evaluate("window.copied = ''; navigator.clipboard.writeText = async (text) => { window.copied = text; }")
	}, "keep copies")
}

// copies waits until the page has copied a text with a part.
func copies(part string) step {
	return waits("copies", fmt.Sprintf("copied.includes(%s)", inJS(part)), part)
}

func takeClock() step { return stepOf(func(b *tab) { b.takeClock() }, "take clock") }

// tick ends the pauses of Live, waiting waits for one, pass lets milliseconds go by. The walk has the clock.
func tick() step { return stepOf(func(b *tab) { b.evaluate("tick()") }, "tick") }

func waiting() step { return waits("waiting", "pauses() > 0") }

func pass(ms int) step {
	return stepOf(func(b *tab) { b.evaluate(fmt.Sprintf("pass(%d)", ms)) }, "pass", ms)
}

func loadAtOnce() step { return stepOf(func(b *tab) { b.loadAtOnce() }, "load at once") }

// Steps about the server.

// answers lets functions answer in place of the server. A function that returns false leaves the call to the next one, and finally to
// the server.
func answers(instead ...func(c *call) bool) step {
	return stepOf(func(b *tab) { b.s.answer(instead...) }, "answers")
}

// asked checks how often a question was sent to a data route, without those for estimates.
func asked(route string, n int) step {
	return stepOf(func(b *tab) {
		if got := b.s.asked(route); got != n {
			b.t.Errorf("%sit was asked %d times", b.where(), got)
		}
	}, "asked", route, n)
}

// sends sends a request as somebody else.
func sends(method, path, body string) step {
	return stepOf(func(b *tab) { conf(b.t, b.s, method, path, body) }, "sends", method, path)
}

// planet saves settings of a configuration of its own.
func planet(config string) step {
	return stepOf(func(b *tab) { newPlanet(b.t, b.s, config) }, "planet", config)
}

// report schedules a report of a configuration of its own.
func report(config, name, body string) step {
	return stepOf(func(b *tab) { newReport(b.t, b.s, config, name, body) }, "report", config, name)
}

// savedFilter saves a filter of a configuration of its own, which the bar uses.
func savedFilter(config, name, filter string) step {
	return stepOf(func(b *tab) {
		conf(b.t, b.s, http.MethodPut, "/api/v4.0/conf/"+config+"/filters/"+name, fmt.Sprintf(`{"filters":%q}`, filter))
	}, "saved filter", config, name)
}

// versions waits until what the screen edits has a number of versions.
func versions(n int) step {
	return waits("versions", fmt.Sprintf("$$('.versions li').length === %d", n), n)
}

// under opens the next pages under a prefix, such as the name of a stage.
func under(prefix string) step {
	return stepOf(func(b *tab) { b.base = b.s.url + prefix }, "under", prefix)
}

// Steps about variables of the test.

// sets sets a variable of the test.
func sets(variable *atomic.Bool, to bool) step {
	return stepOf(func(*tab) { variable.Store(to) }, "sets", to)
}

// counts checks the counter of a test.
func counts(counter *atomic.Int32, n int32) step {
	return stepOf(func(b *tab) {
		if got := counter.Load(); got != n {
			b.t.Errorf("%sthere were %d", b.where(), got)
		}
	}, "counts", n)
}

// closes closes a channel for which others wait.
func closes(channel chan struct{}) step { return stepOf(func(*tab) { close(channel) }, "closes") }

// receives waits until something is sent through a channel, or the channel is closed.
func receives(channel <-chan struct{}) step {
	return stepOf(func(b *tab) {
		select {
		case <-channel:
		case <-time.After(patience):
			b.t.Fatalf("%snothing came", b.where())
		}
	}, "receives")
}

// until waits until a condition of the test is true.
func until(is func() bool, meaning string) step {
	return stepOf(func(b *tab) { b.until(is, meaning) }, "until", meaning)
}

// forgetCalls lets asked count only what is sent from now on.
func forgetCalls() step { return stepOf(func(b *tab) { b.s.forget() }, "forget calls") }

// calls checks for how many calls a condition holds.
func calls(n int, holds func(one sent) bool) step {
	return stepOf(func(b *tab) {
		if got := b.s.count(holds); got != n {
			b.t.Errorf("%sthere were %d", b.where(), got)
		}
	}, "calls", n)
}

// askedNothing checks that no question was sent about requests, only for estimates.
func askedNothing() step {
	return stepOf(func(b *tab) {
		asks := func(one sent) bool {
			return one.body["filters"] != nil && one.body["dry_run"] != true && !strings.HasSuffix(one.path, "/parse")
		}
		if n := b.s.count(asks); n > 0 {
			b.t.Errorf("%s%d questions ran by themselves", b.where(), n)
		}
	}, "asked nothing")
}

// inJS is a text as an expression.
func inJS(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // every text can be quoted
	}
	return string(quoted)
}

// window is a window of a width.
func window(width int64) chromedp.Action {
	return emulation.SetDeviceMetricsOverride(width, 900, 1, width < 700)
}

// theme is a theme, for readers who do not want that anything moves.
func theme(scheme string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	})
}

// unescaped is a fragment without its escapes.
func unescaped(t *testing.T, hash string) string {
	t.Helper()
	text, err := url.QueryUnescape(hash)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
