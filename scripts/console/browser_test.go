package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/orrery/orrery/shared/testkit/browser"
)

// chromium returns the browser, which all tests of the package share.
func chromium(t *testing.T) context.Context {
	t.Helper()
	needBrowser(t)
	session, err := startedBrowser()
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// needBrowser skips a test where no browser is wanted.
func needBrowser(t *testing.T) {
	t.Helper()
	if os.Getenv("ORRERY_TEST_CONSOLE") == "" {
		t.Skip("ORRERY_TEST_CONSOLE is not set: it needs a browser, see scripts/tools/chromium.sh")
	}
}

var startedBrowser = sync.OnceValues(func() (context.Context, error) {
	path, err := browser.Find(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	session, end, err := browser.Start(context.Background(), path)
	if err == nil {
		atTheEnd(end)
	}
	return session, err
})

// tab is a tab of the browser. What goes wrong in it fails the test.
type tab struct {
	t       *testing.T
	ctx     context.Context
	base    string
	faults  *browser.Faults
	allowed []string // texts of faults that the test expects

	// For walks.
	s     *served
	step  step           // that runs
	seen  map[string]any // what the walk has noted
	query *longQuery     // that runs on the server
	live  *arriving      // events that arrive
	begun chan struct{}  // receives when the server gets what is to be written
	end   chan struct{}  // closed to let it be written
}

// patience is how long a tab waits for what it should show. Walks that pass do not wait that long, also on a slow machine.
const patience = 2 * time.Minute

// newTab opens a tab of a width and a colour scheme. It has a cache and a storage of its own: a new server
// may have the port of an earlier one, whose files would still be in a shared cache.
func newTab(t *testing.T, session context.Context, base string, width int64, scheme string) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(session, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	b := &tab{t: t, ctx: ctx, base: base}
	b.faults = browser.Watch(ctx, func(url string) bool { return strings.HasPrefix(url, base) })
	b.run(
		b.faults.Begin(),
		window(width), theme(scheme),
	)
	return b
}

// check fails the test if something went wrong in the tab.
func (b *tab) check() {
	b.t.Helper()
faults:
	for _, fault := range b.faults.Take() {
		if strings.Contains(fault, "ERR_CONTENT_LENGTH_MISMATCH") {
			b.t.Log(fault) // a connection was cut; the page asks again
			continue
		}
		for _, text := range b.allowed {
			if strings.Contains(fault, text) {
				continue faults
			}
		}
		b.t.Error(fault)
	}
}

func (b *tab) run(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, end := context.WithTimeout(b.ctx, patience)
	defer end()
	if b.ctx.Err() == nil && chromedp.FromContext(b.ctx).Target == nil {
		ctx = b.ctx // the first action opens the tab, which must not end with the action
	}
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.t.Fatalf("%s%v\nthe page has: %s", b.where(), err, b.text())
	}
}

// text returns what the page shows, for messages.
func (b *tab) text() string {
	ctx, end := context.WithTimeout(b.ctx, 2*time.Second)
	defer end()
	var text string
	if err := chromedp.Run(ctx, chromedp.Evaluate("document.body.innerText", &text)); err != nil {
		return err.Error()
	}
	return text
}

// open goes to a fragment of the console, from outside: the page is loaded.
func (b *tab) open(fragment string) {
	b.t.Helper()
	b.run(chromedp.Navigate("about:blank"), chromedp.Navigate(b.base+"/"+fragment))
}

// follow goes to a fragment as a link in the page does. Unlike open, it stays in the process of the page: what another process
// has written to the storage of the browser may arrive after what the page itself writes.
func (b *tab) follow(fragment string) {
	b.t.Helper()
	b.evaluate(fmt.Sprintf("location.hash = %q", fragment))
}

// sees waits until the page shows a text, whatever its capitals.
func (b *tab) sees(text string) {
	b.t.Helper()
	b.holds(fmt.Sprintf("document.body.innerText.toLowerCase().includes(%s)", inJS(strings.ToLower(text))), "shows "+text)
}

// holds waits until an expression is true.
func (b *tab) holds(expression, meaning string) {
	b.t.Helper()
	b.keeps("!!("+expression+")", meaning)
}

// keeps waits until an expression is true, or promises that.
func (b *tab) keeps(expression, meaning string) {
	b.t.Helper()
	b.untilIs(func() (bool, error) {
		ctx, end := context.WithTimeout(b.ctx, patience)
		defer end()
		var ok bool
		err := chromedp.Run(ctx, evaluated(b.in(expression), &ok)) // fails while a page is being loaded
		return ok, err
	}, meaning)
}

// names are what expressions and statements of walks may use: $, $$ and seen.
func (b *tab) names() string {
	noted, err := json.Marshal(b.seen)
	if err != nil {
		b.t.Fatal(err)
	}
	return "const $ = (selector) => document.querySelector(selector), $$ = (selector) => [...document.querySelectorAll(selector)], seen = " +
		string(noted) + ";"
}

// in is an expression of a walk with the names that it may use.
func (b *tab) in(expression string) string {
	return "(() => { " + b.names() + " return (" + expression + "); })()"
}

// promised lets an evaluation wait for what the expression promises.
func promised(p *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams {
	return p.WithAwaitPromise(true)
}

// evaluated is an evaluation of what an expression promises.
func evaluated(expression string, result any) chromedp.Action {
	return chromedp.Evaluate(expression, result, promised)
}

// lasts is an expression that promises whether a condition holds, also when the page has acted on what it has drawn: the effects
// of a drawing, which ask the next questions, run after the frame.
func lasts(condition string) string {
	return fmt.Sprintf(`(async () => {
		for (let frames = 0; frames < 3; frames++) {
			if (!(%[1]s)) return false;
			await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
		}
		return !!(%[1]s);
	})()`, condition)
}

// settled is an expression for whether nothing is asked and no part is loaded any more. Until then, Esc cancels.
const settled = "!document.querySelector('[data-cancel], [aria-busy=true], .late:not(:empty)')"

// answered waits until the page is settled.
func (b *tab) answered() {
	b.t.Helper()
	b.keeps(lasts(settled), "has its answers")
}

// value evaluates an expression.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	var v T
	b.run(chromedp.Evaluate(b.in(expression), &v))
	return v
}

// click clicks the first element of a selector whose text contains a text.
func (b *tab) click(selector, text string) {
	b.t.Helper()
	b.holds(fmt.Sprintf(`(() => {
		const found = [...document.querySelectorAll(%q)].find((e) => (e.textContent + ' ' + (e.ariaLabel ?? '')).includes(%q));
		if (!found || found.disabled) return false;
		found.click();
		return true;
	})()`, selector, text), "has "+selector+" "+text)
}

func (b *tab) keys(keys string) {
	b.t.Helper()
	for _, key := range keys {
		b.run(chromedp.KeyEvent(string(key)))
	}
}

// shortcut presses a key without the character that chromedp sends after it even if the page has handled the key.
func (b *tab) shortcut(key string) {
	b.t.Helper()
	b.run(input.DispatchKeyEvent(input.KeyRawDown).WithKey(key), input.DispatchKeyEvent(input.KeyUp).WithKey(key))
}

// chord presses a key that does something together with another one.
func (b *tab) chord(key, code string, with input.Modifier) {
	b.t.Helper()
	press := func(kind input.KeyType) chromedp.Action {
		return input.DispatchKeyEvent(kind).WithKey(key).WithCode(code).WithModifiers(with)
	}
	b.run(press(input.KeyRawDown), press(input.KeyUp))
}

// enter presses Enter without the character that chromedp sends after it even if the page has handled the key.
func (b *tab) enter() {
	b.t.Helper()
	press := func(kind input.KeyType) chromedp.Action {
		return input.DispatchKeyEvent(kind).WithKey("Enter").WithCode("Enter").WithWindowsVirtualKeyCode(13)
	}
	b.run(press(input.KeyRawDown), press(input.KeyUp))
}

// fill puts a text into a field, or chooses an option, as a reader would.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.holds(fmt.Sprintf(`(() => {
		const field = document.querySelector(%[1]q);
		// Its part of the page, or what can be chosen, may be loaded later.
		if (!field || field.localName === 'select' && ![...field.options].some((option) => option.value === %[2]q)) return false;
		field.focus();
		field.value = %[2]q;
		field.dispatchEvent(new Event('input', {bubbles: true}));
		field.dispatchEvent(new Event('change', {bubbles: true}));
		return true;
	})()`, selector, text), "has "+selector)
}

// fragment returns the state of the page, unescaped.
func (b *tab) fragment() string {
	b.t.Helper()
	return unescaped(b.t, value[string](b, "location.hash"))
}

// screenshot keeps a picture in the folder ORRERY_SCREENSHOTS, if that is set.
func (b *tab) screenshot(name string) {
	b.t.Helper()
	folder := os.Getenv("ORRERY_SCREENSHOTS")
	if folder == "" {
		return
	}
	var picture []byte
	b.run(chromedp.CaptureScreenshot(&picture))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// accessible fails the test for each finding of axe-core.
func (b *tab) accessible(name string) {
	b.t.Helper()
	b.keeps(lasts("!document.querySelector('[aria-busy=true]')"), "has its answers") // older ones are dimmed meanwhile
	if !value[bool](b, "'axe' in window") {                                          // what has been checked of the page before
		b.run(chromedp.Evaluate(string(read(b.t, filepath.Join(folder, "testdata", "axe", "axe.min.js")))+";0", nil))
	}
	var report string
	b.run(chromedp.Evaluate(`axe.run(document, {
		runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
		resultTypes: ['violations'], // of what passes, axe keeps only the names of the rules
	}).then((result) => JSON.stringify({passes: result.passes.length, violations: result.violations.map(
		(v) => v.id + ': ' + v.help + ' ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + ' ' + n.failureSummary).join(' | '))}))`,
		&report, promised))
	var found struct {
		Passes     int
		Violations []string
	}
	if err := json.Unmarshal([]byte(report), &found); err != nil {
		b.t.Fatal(err)
	}
	if found.Passes < 20 {
		b.t.Errorf("%s: axe checked only %d rules", name, found.Passes)
	}
	for _, violation := range found.Violations {
		b.t.Errorf("%s: %s", name, violation)
	}
}

// box brings an element into view, and returns its place and size as soon as everything stays where it is.
func (b *tab) box(find string) (x, y, width, height float64) {
	b.t.Helper()
	b.answered()
	b.evaluate(find + ".scrollIntoView({block: 'center'})")
	b.keeps(still, "stays as it is")
	box := value[[]float64](b, "(({x, y, width, height}) => [x, y, width, height])("+find+".getBoundingClientRect())")
	return box[0], box[1], box[2], box[3]
}

// still promises whether all parts of the page are loaded, and at the same places for some frames.
const still = `(async () => {
	const places = () => [...document.querySelectorAll('body *')].map((e) => {
		const {x, y, width, height} = e.getBoundingClientRect();
		return [x, y, width, height].join();
	}).join(' ');
	const before = places();
	for (let frames = 0; frames < 3; frames++) await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
	return !document.querySelector('p.quiet[role=status] > .late') && places() === before;
})()`

// middle brings an element into view, and returns its middle.
func (b *tab) middle(selector string) (x, y float64) {
	b.t.Helper()
	x, y, width, height := b.box(fmt.Sprintf("document.querySelector(%q)", selector))
	return x + width/2, y + height/2
}

// drag presses the mouse at a place, moves it in steps to another one, and releases it.
func (b *tab) drag(fromX, fromY, toX, toY float64) {
	b.t.Helper()
	mouse := func(kind input.MouseType, x, y float64) chromedp.Action {
		return input.DispatchMouseEvent(kind, x, y).WithButton(input.Left).WithButtons(1).WithClickCount(1)
	}
	b.run(chromedp.MouseEvent(input.MouseMoved, fromX, fromY), mouse(input.MousePressed, fromX, fromY))
	for step := 1.0; step <= 4; step++ {
		b.run(mouse(input.MouseMoved, fromX+(toX-fromX)*step/4, fromY+(toY-fromY)*step/4))
	}
	b.run(mouse(input.MouseReleased, toX, toY))
}

// until waits until a condition of the test is true.
func (b *tab) until(is func() bool, meaning string) {
	b.t.Helper()
	b.untilIs(func() (bool, error) { return is(), nil }, meaning)
}

// untilIs waits until a condition is true. What it returns as an error is for the message.
func (b *tab) untilIs(is func() (bool, error), meaning string) {
	b.t.Helper()
	end := time.After(patience)
	for {
		ok, err := is()
		if ok && err == nil {
			return
		}
		select {
		case <-end:
			reason := ""
			if err != nil {
				reason = ": " + err.Error()
			}
			b.t.Fatalf("%sthe page never %s%s\nit has: %s", b.where(), meaning, reason, b.text())
		case <-time.After(30 * time.Millisecond):
		}
	}
}
