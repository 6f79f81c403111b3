// Package browser starts a Chromium without a window, for measurements and tests of the console and of reports.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Variable names the program of the browser in the environment.
const Variable = "ORRERY_CHROMIUM"

// ErrMissing is the error for a machine without a browser.
var ErrMissing = errors.New("there is no Chromium on the PATH: install it (Debian: apt-get install chromium-headless-shell), " +
	"or set " + Variable)

// names are the programs that Find looks for. scripts/tools/chromium.sh looks for the same ones.
var names = []string{
	"chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome",
}

// Find returns the path of the browser: the value of Variable, or a program on the PATH.
func Find(lookup func(name string) (value string, set bool)) (string, error) {
	if given, _ := lookup(Variable); given != "" {
		path, err := exec.LookPath(given)
		if err != nil {
			return "", fmt.Errorf("%s: %w", Variable, err)
		}
		return path, nil
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrMissing
}

// startTime is how long the browser may take to start.
const startTime = time.Minute

// Start starts the browser. A tab of it is a context that chromedp.NewContext derives from the returned one. The
// browser ends with ctx, or when end is called.
func Start(ctx context.Context, path string) (session context.Context, end func(), err error) {
	// A sandbox needs rights that containers do not have. The browser opens only pages of this project.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(startTime))
	allocator, endAllocator := chromedp.NewExecAllocator(context.WithoutCancel(ctx), options...)
	session, _ = chromedp.NewContext(allocator)
	// The browser is asked to end. To kill the command is not enough, because it may be a script that starts the
	// browser.
	end = sync.OnceFunc(func() {
		_ = chromedp.Cancel(session)
		endAllocator()
	})
	if err := chromedp.Run(session); err != nil {
		end()
		return nil, nil, fmt.Errorf("start %s: %w", path, err)
	}
	context.AfterFunc(ctx, end)
	return session, end, nil
}

// Faults collects what must not happen in a tab: exceptions, warnings and errors of the browser's console, among them
// violations of the policy of the page, and requests to other places.
type Faults struct {
	own func(url string) bool

	mu   sync.Mutex
	list []string
}

// Watch collects the faults of a tab from the moment that Begin has run in it. own reports whether the tab may send
// requests to an address.
func Watch(tab context.Context, own func(url string) bool) *Faults {
	f := &Faults{own: own}
	chromedp.ListenTarget(tab, f.observe)
	return f
}

// reportViolations writes violations of the policy of the page to the browser's console.
const reportViolations = `addEventListener('securitypolicyviolation', (event) =>
	console.error('violation of the policy: ' + event.violatedDirective + ' ' + event.blockedURI))`

// Begin returns the actions after which faults are collected.
func (f *Faults) Begin() chromedp.Tasks {
	return chromedp.Tasks{network.Enable(), log.Enable(), runtime.Enable(), OnEveryPage(reportViolations)}
}

// OnEveryPage returns an action that makes a tab run a script on each page before the page's own scripts.
func OnEveryPage(script string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	})
}

func (f *Faults) observe(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		f.add("exception: " + e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			var texts []string
			for _, a := range e.Args {
				texts = append(texts, string(a.Value)+a.Description)
			}
			f.add("console: " + strings.Join(texts, " "))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			f.add("log: " + e.Entry.Text + " " + e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !f.own(u) && !strings.HasPrefix(u, "data:") && u != "about:blank" {
			f.add("request to another place: " + u)
		}
	}
}

func (f *Faults) add(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, text)
}

// Take returns the faults since the last call.
func (f *Faults) Take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.list
	f.list = nil
	return list
}
