package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tabTo presses Tab until an expression about the element with the focus, at, is true, at most so many times.
func (b *tab) tabTo(expression string, most int) {
	b.t.Helper()
	for range most {
		b.keys(kb.Tab)
		if value[bool](b, "((at) => !!("+expression+"))(document.activeElement)") {
			return
		}
	}
	b.t.Fatalf("after %d times Tab, the focus is not where %s, but on %s", most, expression,
		value[string](b, "document.activeElement.outerHTML.slice(0, 300)"))
}

// addCondition types a condition behind the filter of the page, runs it and leaves the bar.
func (b *tab) addCondition(condition string) {
	b.t.Helper()
	b.shortcut("/")
	b.holds("document.activeElement.id === 'filter'", "has the focus in the filter")
	b.keys(kb.End + ", " + condition)
	b.holds(fmt.Sprintf("document.querySelector('#filter').value.endsWith(%q)", condition), "has the condition")
	b.keys(kb.Escape) // the options
	b.enter()
	b.keys(kb.Tab)
	b.holds("document.activeElement.id !== 'filter'", "has left the filter")
}

// leads presses the two keys of a sequence, again if the second one came too late for it, until the address begins as wanted.
func (b *tab) leads(keys, address string) {
	b.t.Helper()
	b.until(func() bool {
		b.keys(keys)
		return strings.HasPrefix(value[string](b, "location.hash"), address)
	}, "goes to "+address)
}

// opensViews opens what a phone folds: the choice of charts, and what is beside the answer.
func opensViews(width int64) step {
	if width >= 700 {
		return together()
	}
	return together(tabTo("at.textContent === 'Other charts and views'", 50), keys(kb.Enter))
}

var byPeople = regexp.MustCompile(`The same rule acted on ([0-9,]+) requests? of others, ([0-9,]+|none|all) of them by people, from [0-9,]+ address`)

// TestKeyboardAlone finds who attacks, which requests these are, why one was blocked and whether that was right, and copies
// a link to it: by keys only. Nothing is clicked, and no script moves the focus.
func TestKeyboardAlone(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	for _, width := range allWidths {
		if testing.Short() && width != 1280 {
			continue
		}
		walk.run(fmt.Sprint("from the attacker to the link, at ", width), func(t *testing.T, b *tab, s *served) {
			b.do(at(width), allow("status of 400"), // half a condition is checked
				open(""), sees("Requests over time"), keepCopies(), answered(),
				// Who attacks?
				keys(kb.Tab), focused(".skip"), keys(kb.Enter), focused("#answer"), opensViews(width),
				tabTo("at.textContent === 'What stands out'", 50),
				keys(kb.Enter), exists(".stand-out li"), answered(), tabTo("at.closest('.stand-out li') && at.ariaLabel.startsWith('Only ')", 5),
				note("wanted", "document.activeElement.ariaLabel.slice('Only '.length)"), keys(kb.Enter),
				holds("$('#filter').value === seen.wanted", "keeps only what stands out"),
				// Which requests?
				addCondition("blocked is true"), hashHas("blocked+is+true"), leads("ge", "#/events"), sees("shown"), answered(),
				tabTo("at.role === 'grid'", 12), keys(kb.ArrowDown+kb.ArrowDown+kb.ArrowUp),
				// Why was it blocked?
				keys(kb.Enter), textHas(".record .why", "blocked it"), exists(".evidence li"), answered(),
				// Is it a false positive?
				tabTo("at.closest('.evidence li')", 30))
			evidence := value[string](b, "document.activeElement.closest('li').textContent")
			found := byPeople.FindStringSubmatch(evidence)
			if found == nil {
				t.Fatalf("the evidence is %q", evidence)
			}
			humans := fmt.Sprintf("all %s shown", found[2])
			switch found[2] {
			case "all":
				humans = fmt.Sprintf("all %s shown", found[1])
			case "none":
				humans = "No requests in this period match the filter"
			}
			b.do(keys(kb.Enter), filterBegins("reason="), lacks(".record"), answered(), addCondition("human is true"), sees(humans),
				// Share it.
				keys("y"), copies("#/events?"), copies("human+is+true"), copies("..2026-01-0"), copies("tz=UTC"))
			b.run(chromedp.Navigate("about:blank"), chromedp.Navigate(value[string](b, "copied")))
			b.do(sees(humans))
		})
	}
}

// TestKeys walks through the keys, menus and buttons that other walks do not use.
func TestKeys(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	const hour = "#/?t=2026-01-01T10:00Z..2026-01-01T11:00Z"
	period := func(want string) step { return hashHas("t=" + want) }

	walk("the buttons of the picker, and the keys that do the same",
		open(hour), sees("Requests over time"), keys("]"),
		period("2026-01-01T11:00Z..2026-01-01T12:00Z"),
		click(".picker button", "Later"),
		period("2026-01-01T12:00Z..2026-01-01T13:00Z"),
		click(".picker button", "Earlier"),
		period("2026-01-01T11:00Z..2026-01-01T12:00Z"),
		click(".picker button", "Twice as long"),
		period("2026-01-01T10:30Z..2026-01-01T12:30Z"),
		click("#period", ""), click(".presets button", "3h"),
		period("3h"),
		lacks(".picker .panel"), click("#period", ""),
		holds("document.activeElement.closest('.presets')", "has the focus in the picker"),
		fill("#end-From", "2026-01-01 09:00"), fill("#end-To", "soon"),
		holds("$('#end-To').ariaInvalid === 'true' && $('.picker .primary').disabled", "refuses what is no time"),
		accessible("picker"), fill("#end-To", "2026-01-01 09:30"), click(".picker .primary", "Apply"),
		period("2026-01-01T09:00Z..2026-01-01T09:30Z"))
	walk("the keys of the filter bar",
		allow("status of 400"), open(hour), sees("Requests over time"), fill("#filter", `path~"😀", hots="shop.example"`),
		text(".coloured .wrong", "hots"), chord("Enter", "Enter", input.ModifierAlt), filterIs(`path~"😀", host="shop.example"`),
		chord("r", "KeyR", input.ModifierCtrl), text(".filters-of [aria-pressed=true]", "History"), keys(kb.Escape),
		holds("!$('.filters-of') && document.activeElement.id === 'filter'", "is back in the bar"))
	walk.run("screens by two keys, and rows by pages", func(t *testing.T, b *tab, s *served) {
		b.do(open(hour), sees("Requests over time"))
		for keys, address := range map[string]string{"gc": "#/compare", "gp": "#/planets", "gs": "#/status", "gt": "#/try", "gr": "#/reports"} {
			b.leads(keys, address)
			b.holds("document.activeElement.id === 'answer'", "has the focus in the answer")
		}
		b.do(leads("ge", "#/events"), sees("shown"))
		b.box("document.querySelector('.rows')") // which decides how long a page is
		b.do(focus(".rows"))
		row := func(key string) int {
			b.keys(key)
			return value[int](b, "Number(document.querySelector('.rows').getAttribute('aria-activedescendant').split('-')[1])")
		}
		first := row(kb.Home)
		down := row(kb.PageDown)
		further := row(kb.PageDown)
		if up := row(kb.PageUp); first != 0 || down < 2 || further != 2*down || up != down {
			t.Errorf("the active rows are %d, %d, %d and %d", first, down, further, up)
		}
	})
	walk("shortcuts of single letters are switched off",
		open(hour), sees("Requests over time"), keys("?"), click("dialog label", "Shortcuts of single letters"),
		keys(kb.Escape), lacks("dialog"), note("before", "decodeURIComponent(location.hash.replaceAll('+', ' '))"),
		keys("]xgc"),
		must("decodeURIComponent(location.hash.replaceAll('+', ' ')) === seen.before", "the address is another one"), reload(),
		sees("Requests over time"), keys("]"),
		must("decodeURIComponent(location.hash.replaceAll('+', ' ')) === seen.before", "the address is another one"),
		click(".top button", "?"), click("dialog label", "Shortcuts of single letters"), keys(kb.Escape), lacks("dialog"),
		keys("]"),
		period("2026-01-01T11:00Z..2026-01-01T12:00Z"))
	const press = `$(%q).dispatchEvent(new MouseEvent('contextmenu', {bubbles: true, cancelable: true}))`
	opens := func(address, selector string) step {
		return together(open(address), exists(selector), answered(), mustNot(fmt.Sprintf(press, selector), "the browser opens its own menu, too"),
			focused("[role=menuitem]"), click("[role=menuitem]", "Without"), filterBegins("country!="))
	}
	walk("the right button opens the menu of a value",
		opens(hour, ".list .value button"), opens("#/events?t="+demoDay, ".event .cell.country"))
}

// TestFocus checks where the focus is.
func TestFocus(t *testing.T) {
	walk := walksAt(t, demo.address(t))

	const covered = `(() => {
		const at = document.activeElement;
		const bar = document.querySelector('.ask');
		if (at === document.body || bar.contains(at) || !document.querySelector('main').contains(at)) return '';
		return at.getBoundingClientRect().bottom <= bar.getBoundingClientRect().bottom ? at.outerHTML.slice(0, 200) : '';
	})()`
	walk("Esc leaves the filter once it has run, and keeps what has not",
		allow("status of 400"), // on a slow machine, half a filter is checked
		open("#/?t="+demoDay), sees("Slowest targets"), shortcut("/"), focused("#filter"), keys("status=200"), keys(kb.Escape), enter(),
		hashHas("status%3D200"), answered(), keys(kb.Escape), focused("#answer"), leads("ge", "#/events"), answered(), shortcut("/"),
		focused("#filter"), keys(kb.End+", ho"), keys(kb.Escape+kb.Escape), focused("#filter"), filterIs("status=200, ho"))
	walk.run("backwards, the bar at the top never covers it", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/?f=status%3E%3D200,+host~e,+country~.&t="+demoDay), sees("Slowest targets"), answered(),
			focus(".questions button:last-child"))
		for range 150 {
			b.run(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(input.ModifierShift)))
			if at := value[string](b, covered); at != "" {
				t.Fatalf("the bar covers %s", at)
			}
		}
		b.do(holds("scrollY < 1000", "has followed the focus upwards"))
	})
	walk("j takes the list of events wherever the focus is",
		open("#/events?t="+demoDay), sees("200 of "), answered(), keys("j"),
		holds("document.activeElement.role === 'grid' && document.activeElement.getAttribute('aria-activedescendant') === 'cell-0-0'", "has the focus on the first row"),
		keys("j"),
		holds("document.activeElement.getAttribute('aria-activedescendant') === 'cell-1-0'", "has the focus on the second row"))
	walk("it is in the answer of the screen that a link led to",
		open("#/?t="+demoDay), answered(), focus(".list td a.count"), keys(kb.Enter),
		holds("location.hash.startsWith('#/events') && document.activeElement.id === 'answer'", "has the focus in the answer"))
}
