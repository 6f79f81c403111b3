package report

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/testkit/browser"
	"github.com/orrery/orrery/shared/wording"
)

// startBrowser starts a browser for the tests that need one, which check.sh runs in the stage with the console.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	if os.Getenv("ORRERY_TEST_CONSOLE") == "" {
		t.Skip("ORRERY_TEST_CONSOLE is not set: it needs a browser, see scripts/tools/chromium.sh")
	}
	path, err := browser.Find(os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	session, end, err := browser.Start(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return session
}

// tab is a tab of a width and a colour scheme.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func newTab(t *testing.T, session context.Context, width int64, scheme string) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(session)
	t.Cleanup(end)
	b := &tab{t, ctx}
	if err := chromedp.Run(ctx, emulation.SetDeviceMetricsOverride(width, 900, 1, width < 700),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
	); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *tab) run(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, end := context.WithTimeout(b.ctx, time.Minute)
	defer end()
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// screenshot keeps a picture of the whole page in the folder ORRERY_SCREENSHOTS, if that is set.
func (b *tab) screenshot(name string) {
	b.t.Helper()
	folder := os.Getenv("ORRERY_SCREENSHOTS")
	if folder == "" {
		return
	}
	var picture []byte
	b.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		picture, err = cdppage.CaptureScreenshot().WithCaptureBeyondViewport(true).Do(ctx)
		return err
	}))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// accessible fails the test for each finding of axe-core.
func (b *tab) accessible(name string) {
	b.t.Helper()
	script, err := os.ReadFile(filepath.Join("..", "console", "testdata", "axe", "axe.min.js"))
	if err != nil {
		b.t.Fatal(err)
	}
	var text string
	b.run(chromedp.Evaluate(string(script)+";0", nil), chromedp.Evaluate(`axe.run(document, {
		runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
	}).then((result) => JSON.stringify({passes: result.passes.length, violations: result.violations.map(
		(v) => v.id + ': ' + v.help + ' ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + ' ' + n.failureSummary).join(' | '))}))`,
		&text, func(p *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams { return p.WithAwaitPromise(true) }))
	var found struct {
		Passes     int
		Violations []string
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		b.t.Fatal(err)
	}
	if found.Passes < 12 {
		b.t.Errorf("%s: axe checked only %d rules", name, found.Passes)
	}
	for _, violation := range found.Violations {
		b.t.Errorf("%s: %s", name, violation)
	}
}

// shownReports returns the reports of the tests in a browser; with -short, only the reports that fill the most space.
func shownReports(t *testing.T) map[string]Report {
	reports := map[string]Report{"hostile": reportOf(t, hostile), "full": fullReport(t)}
	if !testing.Short() {
		reports["week"], reports["empty"], reports["incomplete"] = reportOf(t, ordinary), emptyReport(t), incompleteReport(t)
	}
	return reports
}

// fullReport has everything that a report can have at once: notices, three long sentences, more incidents than are
// printed, a month of bars, full lists of long values, long changes and examples, and a long filter.
func fullReport(t *testing.T) Report {
	t.Helper()
	url := "shop.example/" + strings.Repeat("search/", 146)
	r := longestReport(t, url)
	r.Title, r.Filter, r.Link = strings.Repeat("Traffic of ", 10), reportOf(t, ordinary).Filter, reportOf(t, ordinary).Link
	for i := range 8 {
		r.Filter += fmt.Sprintf(`, path!="/search/%d/%s"`, i, strings.Repeat("shoes/", 15))
	}
	for _, lists := range [][]List{r.Attackers, r.Targets, r.Rules, r.Passed, r.Wrong} {
		for i := range lists {
			for n := range lists[i].Rows {
				lists[i].Rows[n].Key = fmt.Sprintf("%d.%s", n, url)
				lists[i].Rows[n].Link = r.Verdict.Sentences[0].Link
			}
		}
	}
	for i := range r.Examples {
		r.Examples[i].Local, r.Examples[i].Status, r.Examples[i].Link = "Sun 23:59:58", "403", r.Link
	}
	for i := range r.Verdict.Sentences {
		r.Verdict.Sentences[i].Text = "The reason “" + wording.Shown(url, sentenceLength) +
			"” blocked 12,792 requests, in the previous period 1,344."
	}
	one := r.Incidents[0]
	one.Target, one.Details = url, "The commonest reason is “"+url+"”."
	for i := range mostIncidents {
		one.ID = fmt.Sprint(i)
		r.Incidents = append(r.Incidents, one)
	}
	for range listed {
		r.Marks = append(r.Marks, answer.Mark{At: "2026-11-18T14:30:00Z", Kind: "revision", Before: url, After: url})
	}
	r.Failed = nil
	r.Run.Skipped = []string{"lake/2026/11/20/07/a.parquet", "b.parquet", "c.parquet", "d.parquet", "e.parquet", "f"}
	r.Gaps, r.GapsBefore = []Span{r.Period, r.Period, r.Period}, []Span{r.Period, r.Period, r.Period}
	r.Chart.LeftOut, r.Chart.Coarse = r.Chart.Bars[:1], true
	return r
}

// pagesOf serves the pages and the mails of reports, with the policy of pages. A mail is served twice: with its
// picture, and without it, as in a program that shows none.
func pagesOf(t *testing.T, reports map[string]Report) (address string, names []string) {
	t.Helper()
	pages := map[string][]byte{}
	for name, r := range reports {
		picture := "data:image/png;base64," + base64.StdEncoding.EncodeToString(r.Chart.Picture())
		pages[name], pages[name+"-mail-without-pictures"] = r.HTML(), r.MailHTML()
		pages[name+"-mail"] = bytes.Replace(r.MailHTML(), []byte("cid:"+PictureID), []byte(picture), 1)
	}
	for name := range pages {
		names = append(names, name)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		// Without sandbox, because axe-core is a script. The tests of the templates show that the pages have none.
		w.Header().Set("Content-Security-Policy", strings.TrimSuffix(PagePolicy, "; sandbox"))
		_, _ = w.Write(pages[strings.TrimPrefix(r.URL.Path, "/")]) // a browser that leaves is no error
	}))
	t.Cleanup(server.Close)
	return server.URL, names
}

// TestReportsInABrowser shows every page and mail in the widths of a phone, a mail program and a screen, light and dark.
// axe-core finds nothing, and nothing is wider than the window.
func TestReportsInABrowser(t *testing.T) {
	started := startBrowser(t)
	address, names := pagesOf(t, shownReports(t))
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{320, 600, 1280} {
			t.Run(fmt.Sprint(scheme, " ", width), func(t *testing.T) {
				b := newTab(t, started, width, scheme)
				for _, name := range names {
					b.run(chromedp.Navigate(address + "/" + name))
					b.screenshot(fmt.Sprintf("%s-%s-%d", name, scheme, width))
					b.accessible(name)
					var wide []string
					b.run(chromedp.Evaluate(`[...document.querySelectorAll('body *')].filter((e) => {
						const box = e.getBoundingClientRect();
						return box.right > innerWidth + 0.5 && box.width > 0 && !e.closest('.scroll') && !e.closest('svg');
					}).map((e) => e.outerHTML.slice(0, 120))`, &wide))
					if len(wide) > 0 {
						t.Errorf("%s is wider than the window: %q", name, wide[:min(len(wide), 3)])
					}
					var alt string
					b.run(chromedp.Evaluate(`document.querySelector('img')?.alt ?? 'none'`, &alt))
					if alt == "" {
						t.Errorf("%s has a picture without a text", name)
					}
				}
			})
		}
	}
}

// TestPicturesOfReadme takes the pictures of README.md, the top of a page and of a mail, and keeps them in the folder
// ORRERY_SCREENSHOTS.
func TestPicturesOfReadme(t *testing.T) {
	started := startBrowser(t)
	address, _ := pagesOf(t, map[string]Report{"week": reportOf(t, ordinary)})
	for _, test := range []struct {
		name, scheme, page string
		width              int64
	}{{"page", "light", "week", 1000}, {"mail", "dark", "week-mail", 600}} {
		b := newTab(t, started, test.width, test.scheme)
		var picture []byte
		b.run(chromedp.Navigate(address+"/"+test.page), chromedp.CaptureScreenshot(&picture))
		if len(picture) > 130_000 {
			t.Errorf("the picture %s has %d bytes, at most 130,000 are wanted", test.name, len(picture))
		}
		if folder := os.Getenv("ORRERY_SCREENSHOTS"); folder != "" {
			if err := os.WriteFile(filepath.Join(folder, "readme-"+test.name+".png"), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

var pagePattern = regexp.MustCompile(`/Type\s*/Page\b`)

// TestReportsPrintOnTwoPages prints every page on A4.
func TestReportsPrintOnTwoPages(t *testing.T) {
	b := newTab(t, startBrowser(t), 1280, "light")
	reports := shownReports(t)
	address, _ := pagesOf(t, reports)
	for name := range reports {
		var pdf []byte
		b.run(chromedp.Navigate(address+"/"+name), chromedp.ActionFunc(func(ctx context.Context) (err error) {
			pdf, _, err = cdppage.PrintToPDF().WithPreferCSSPageSize(true).WithPrintBackground(true).Do(ctx)
			return err
		}))
		if folder := os.Getenv("ORRERY_SCREENSHOTS"); folder != "" {
			if err := os.WriteFile(filepath.Join(folder, name+".pdf"), pdf, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		n := len(pagePattern.FindAll(pdf, -1))
		if n < 1 || n > 2 || name == "full" && n != 2 {
			t.Errorf("%s has %d pages", name, n)
		}
	}
}
