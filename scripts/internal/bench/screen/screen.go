// Package screen measures the console in a browser: how soon it paints and is complete, how smoothly a long list
// scrolls, and whether its memory grows.
package screen

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/memory"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/orrery/orrery/shared/testkit/browser"
)

// Options are the options of Run.
type Options struct {
	Browser     string    // path of the program
	URL         string    // of the console, with its final slash
	From, To    time.Time // period of the dashboard
	LastDay     time.Time // period of the other screens: from here to To
	Loads       int       // measured loads of the dashboard; 0: 7
	Events      int       // rows of the list that is scrolled; 0: 2,500
	Navigations int       // from screen to screen; 0: 200
}

func (o Options) withDefaults() Options {
	if o.Loads == 0 {
		o.Loads = 7
	}
	if o.Events == 0 {
		o.Events = 2500
	}
	if o.Navigations == 0 {
		o.Navigations = 200
	}
	return o
}

// fragment returns the fragment of a screen about a period.
func fragment(screen string, from, to time.Time) string {
	const minutes = "2006-01-02T15:04Z"
	return "#/" + screen + "t=" + from.UTC().Format(minutes) + ".." + to.UTC().Format(minutes)
}

// ofLastDay returns the fragment of a screen about the last day.
func (o Options) ofLastDay(screen string) string { return fragment(screen, o.LastDay, o.To) }

// Report holds the measured figures.
type Report struct {
	Loads       int    `json:"loads"`
	Paint       Times  `json:"first_contentful_paint"`
	Dashboard   Times  `json:"dashboard_complete"`
	Frames      Frames `json:"scrolling"`
	Navigations int    `json:"navigations"`
	Before      Memory `json:"memory_before"` // after half of them, when the browser has compiled what it runs often
	After       Memory `json:"memory_after"`
}

// Times are milliseconds.
type Times struct {
	Min    float64 `json:"min_ms"`
	Median float64 `json:"median_ms"`
}

// Frames are the lengths of the frames in which a list was scrolled from its first row to its last, in milliseconds.
type Frames struct {
	Rows   int     `json:"rows"`
	Frames int     `json:"frames"`
	Median float64 `json:"p50_ms"`
	P95    float64 `json:"p95_ms"`
	Max    float64 `json:"max_ms"`
}

// Memory is the memory of a page after a garbage collection.
type Memory struct {
	Bytes     int64 `json:"heap_bytes"`
	Nodes     int64 `json:"nodes"`
	Listeners int64 `json:"listeners"`
}

// Run measures the console. It fails if a screen does not get its answers, never because of a figure.
func Run(ctx context.Context, o Options) (Report, error) {
	o = o.withDefaults()
	session, end, err := browser.Start(ctx, o.Browser)
	if err != nil {
		return Report{}, err
	}
	defer end()
	report := Report{Loads: o.Loads, Navigations: o.Navigations}
	if report.Paint, report.Dashboard, err = loads(session, o); err != nil {
		return Report{}, fmt.Errorf("load the dashboard: %w", err)
	}
	if report.Frames, err = scrolling(session, o); err != nil {
		return Report{}, fmt.Errorf("scroll the events: %w", err)
	}
	if report.Before, report.After, err = navigations(session, o); err != nil {
		return Report{}, fmt.Errorf("go from screen to screen: %w", err)
	}
	return report, nil
}

// patience is how long one step may take.
const patience = 3 * time.Minute

// tab is a tab with a cache of its own.
type tab struct {
	ctx context.Context
	end func()
}

func newTab(session context.Context) (tab, error) {
	ctx, end := chromedp.NewContext(session, chromedp.WithNewBrowserContext())
	// The first actions open the tab. They have no timeout, because the tab would end with it.
	if err := chromedp.Run(ctx, emulation.SetDeviceMetricsOverride(1280, 900, 1, false)); err != nil {
		end()
		return tab{}, err
	}
	return tab{ctx, end}, nil
}

// run runs actions. If they take too long, the error has the text of the page.
func (b tab) run(actions ...chromedp.Action) error {
	ctx, end := context.WithTimeout(b.ctx, patience)
	defer end()
	err := chromedp.Run(ctx, actions...)
	if err == nil || b.ctx.Err() != nil {
		return err
	}
	shown, endShown := context.WithTimeout(b.ctx, time.Second)
	defer endShown()
	var text string
	if chromedp.Run(shown, chromedp.Evaluate("document.body.innerText", &text)) == nil {
		err = fmt.Errorf("%w; the page shows: %.500s", err, strings.Join(strings.Fields(text), " "))
	}
	return err
}

// result returns an action that waits for the promise of an expression.
func result(expression string, into any) chromedp.Action {
	return chromedp.Evaluate(expression, into, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
		return p.WithAwaitPromise(true)
	})
}

// untilComplete makes a page keep the promise orreryComplete: the time at which the dashboard has all its answers.
const untilComplete = `
	globalThis.orreryComplete = new Promise((resolve) => {
		const all = (selector) => [...document.querySelectorAll(selector)];
		const complete = () => all('.tile .number').length > 0 && all('.tile .number').every((e) => !e.textContent.startsWith('–')) &&
			all('.plot canvas').length > 0 && all('.list tbody tr').length > 0 && all('.stale, [aria-busy=true], [data-cancel]').length === 0;
		const look = () => complete() ? resolve(performance.now()) : requestAnimationFrame(look);
		requestAnimationFrame(look);
	})`

// loads loads the dashboard again and again, each time with an empty cache. The first load does not count, because the
// server opens its files in it.
func loads(session context.Context, o Options) (paint, complete Times, err error) {
	var paints, completes []float64
	for i := range o.Loads + 1 {
		painted, completed, err := loadOnce(session, o)
		if err != nil {
			return paint, complete, err
		}
		if i > 0 {
			paints, completes = append(paints, painted), append(completes, completed)
		}
	}
	return timesOf(paints), timesOf(completes), nil
}

func loadOnce(session context.Context, o Options) (painted, completed float64, err error) {
	b, err := newTab(session)
	if err != nil {
		return 0, 0, err
	}
	defer b.end()
	err = b.run(
		browser.OnEveryPage(untilComplete),
		chromedp.Navigate(o.URL+fragment("?", o.From, o.To)),
		result("orreryComplete", &completed),
		chromedp.Evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime", &painted),
	)
	return painted, completed, err
}

// scroll adds pages to the list until it has so many rows, and scrolls from the first to the last, five rows a frame.
// It returns the number of rows and the lengths of the frames.
const scroll = `(async (wanted) => {
	const frame = () => new Promise(requestAnimationFrame);
	const until = async (ready) => { while (!ready()) await frame(); };
	const list = () => document.querySelector('.rows');
	const height = () => parseFloat(list().style.getPropertyValue('--row'));
	const rows = () => Math.round(list().querySelector('.body').clientHeight / height());
	await until(() => document.querySelector('.event') && !document.querySelector('[data-cancel]'));
	while (rows() < wanted) {
		const before = rows();
		const more = document.querySelector('.more button');
		if (!more) break;
		more.click();
		await until(() => rows() > before);
	}
	const lengths = [];
	let last = await frame();
	for (let at = 0; at < list().scrollHeight - list().clientHeight; at += 5 * height()) {
		list().scrollTop = at;
		const now = await frame();
		lengths.push(now - last);
		last = now;
	}
	return {rows: rows(), lengths};
})(%d)`

func scrolling(session context.Context, o Options) (Frames, error) {
	b, err := newTab(session)
	if err != nil {
		return Frames{}, err
	}
	defer b.end()
	var found struct {
		Rows    int       `json:"rows"`
		Lengths []float64 `json:"lengths"`
	}
	err = b.run(chromedp.Navigate(o.URL+o.ofLastDay("events?")), result(fmt.Sprintf(scroll, o.Events), &found))
	if err != nil {
		return Frames{}, err
	}
	if len(found.Lengths) == 0 {
		return Frames{}, fmt.Errorf("the list of %d rows is too short to be scrolled", found.Rows)
	}
	slices.Sort(found.Lengths)
	return Frames{
		Rows: found.Rows, Frames: len(found.Lengths),
		Median: quantile(found.Lengths, 0.5), P95: quantile(found.Lengths, 0.95), Max: quantile(found.Lengths, 1),
	}, nil
}

// screen is a screen to go to, and the content that it shows as soon as it has its answers.
type screen struct {
	Fragment string `json:"fragment"`
	Ready    string `json:"ready"`
}

// walk goes through screens, one after the other, so many times in all.
const walk = `(async (screens, times) => {
	for (let i = 0; i < times; i++) {
		const {fragment, ready} = screens[i %% screens.length];
		location.hash = fragment;
		while (!document.querySelector(ready) || document.querySelector('[aria-busy=true], [data-cancel]'))
			await new Promise(requestAnimationFrame);
	}
})(%s, %d)`

func navigations(session context.Context, o Options) (before, after Memory, err error) {
	screens := []screen{
		{o.ofLastDay("?"), ".lists .list tbody tr"},
		{o.ofLastDay("events?"), ".events .event"},
		{o.ofLastDay("compare?where=blocked+is+true&"), ".compare .findings tbody tr"},
		{o.ofLastDay("status?"), ".checks"},
	}
	list, err := json.Marshal(screens)
	if err != nil {
		return before, after, err
	}
	b, err := newTab(session)
	if err != nil {
		return before, after, err
	}
	defer b.end()
	first := o.Navigations / 2 / len(screens) * len(screens) // so that both measurements are of the same screen
	err = b.run(
		chromedp.Navigate(o.URL+screens[0].Fragment),
		result(fmt.Sprintf(walk, list, first), nil),
		before.measure(),
		result(fmt.Sprintf(walk, list, o.Navigations-first), nil),
		after.measure(),
	)
	return before, after, err
}

// measure returns an action that reads the memory after two collections: the first one frees what the second one needs
// finalizers for.
func (m *Memory) measure() chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		for range 2 {
			if err := heapprofiler.CollectGarbage().Do(ctx); err != nil {
				return err
			}
		}
		used, _, _, _, err := runtime.GetHeapUsage().Do(ctx)
		if err != nil {
			return err
		}
		m.Bytes = int64(used)
		_, m.Nodes, m.Listeners, err = memory.GetDOMCounters().Do(ctx)
		return err
	})
}

func timesOf(list []float64) Times {
	slices.Sort(list)
	return Times{Min: list[0], Median: quantile(list, 0.5)}
}

// quantile returns the smallest value of a sorted list that is at least as large as a part of them.
func quantile(sorted []float64, part float64) float64 {
	return sorted[max(0, int(math.Ceil(part*float64(len(sorted))))-1)]
}
