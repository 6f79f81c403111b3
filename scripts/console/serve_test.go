package main

import (
	"bufio"
	"fmt"
	"log"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api"
)

// demoDay is the period of the records of the tests.
const demoDay = "2026-01-01T00:00Z..2026-01-02T00:00Z"

// served is a running `orrery serve`, behind a handler that can answer in its place and knows what was sent.
type served struct {
	url     string
	address string       // of the server itself
	direct  http.Handler // the same as a handler

	mu      sync.Mutex
	instead []func(c *call) bool // the first that returns true has answered
	calls   []sent
}

// sent is a call of the API, or of a file of the page, that was sent.
type sent struct {
	method, url string
	path        string
	body        map[string]any
}

// answer lets functions answer in place of the server.
func (s *served) answer(instead ...func(c *call) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instead = instead
}

// asked returns how often a question was sent to a data route, without those for estimates.
func (s *served) asked(route string) int {
	return s.count(func(one sent) bool { return strings.HasSuffix(one.path, "/data/"+route) && one.body["dry_run"] != true })
}

// forget forgets the calls so far.
func (s *served) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

// count returns how many calls of the API were sent for which a condition holds.
func (s *served) count(holds func(one sent) bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, one := range s.calls {
		if holds(one) {
			n++
		}
	}
	return n
}

var addressPattern = regexp.MustCompile(`"msg":"serving","url":"(http://[0-9.:]+)`)

// program returns a build of the command, which can be given by ORRERY_TEST_PROGRAM. Only tests with a browser need it.
func program(t *testing.T) string {
	t.Helper()
	needBrowser(t)
	path, err := builtProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var builtProgram = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("ORRERY_TEST_PROGRAM"); given != "" {
		return given, nil
	}
	folder, err := os.MkdirTemp("", "orrery-console-")
	if err != nil {
		return "", err
	}
	atTheEnd(func() { _ = os.RemoveAll(folder) })
	path := filepath.Join(folder, "orrery")
	build := exec.Command("go", "build", "-o", path, "./scripts/orrery")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

// ends has what ends with the tests: the browser, servers, and their folders.
var ends struct {
	sync.Mutex
	list []func()
}

func atTheEnd(end func()) {
	ends.Lock()
	defer ends.Unlock()
	ends.list = append(ends.list, end)
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range slices.Backward(ends.list) {
		end()
	}
	os.Exit(code)
}

// site is what a server has. Tests that need the same share a server.
type site struct {
	records, seed string // of the generated day; without records there is no data
	reports       bool   // are scheduled
	key           string
}

var (
	demo      = site{records: "3000", seed: "3"}
	scheduled = site{records: "300", seed: "3", reports: true}
	locked    = site{records: "300", seed: "3", reports: true, key: "the-key-of-the-test"}
)

var sites struct {
	sync.Mutex
	addresses map[site]string
}

// address returns the address of a server with a site, which it starts unless a test has.
func (s site) address(t *testing.T) string {
	t.Helper()
	sites.Lock()
	defer sites.Unlock()
	if at, ok := sites.addresses[s]; ok {
		return at
	}
	program, data := generated(t, s.records, s.seed)
	if s.reports {
		configureReports(t, data)
	}
	var args []string
	if s.key != "" {
		args = []string{"--api-key", s.key}
	}
	at := start(t, program, data, args...)
	if sites.addresses == nil {
		sites.addresses = map[site]string{}
	}
	sites.addresses[s] = at
	return at
}

// generated returns the command, and a data folder with a generated day.
func generated(t *testing.T, records, seed string) (path, data string) {
	t.Helper()
	path = program(t)
	data = filepath.Join(tempDir(t), "data")
	if records != "" {
		generate := exec.Command(path, "generate", "--records", records, "--seed", seed, "--from", "2026-01-01",
			"--to", "2026-01-02", "--data", data)
		generate.Env = environment()
		if out, err := generate.CombinedOutput(); err != nil {
			t.Fatalf("generate: %v\n%s", err, out)
		}
	}
	return path, data
}

// tempDir returns a folder that is removed when all tests have ended.
func tempDir(t *testing.T) string {
	t.Helper()
	path, err := os.MkdirTemp("", "orrery-console-") //nolint:usetesting // the servers of several tests use it
	if err != nil {
		t.Fatal(err)
	}
	atTheEnd(func() { _ = os.RemoveAll(path) }) // files left in the temporary folder do no harm
	return path
}

// serveLog starts the command with the records of a log, and returns its address.
func serveLog(t *testing.T, log string) string {
	t.Helper()
	program := program(t)
	folder := tempDir(t)
	data, path := filepath.Join(folder, "data"), filepath.Join(folder, "access.log")
	if err := os.WriteFile(path, []byte(log), 0o644); err != nil {
		t.Fatal(err)
	}
	imports := exec.Command(program, "import", "--data", data, path)
	imports.Env = environment()
	if out, err := imports.CombinedOutput(); err != nil {
		t.Fatalf("import: %v\n%s", err, out)
	}
	return start(t, program, data)
}

// start starts the command until all tests have ended, and returns its address.
func start(t *testing.T, program, data string, args ...string) string {
	t.Helper()
	command := exec.Command(program, append([]string{"serve", "--no-demo", "--data", data, "--listen", "127.0.0.1:0"}, args...)...)
	command.Env = environment()
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	atTheEnd(func() {
		_ = command.Process.Kill() // fails if it has ended
		_ = command.Wait()
	})
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if m := addressPattern.FindStringSubmatch(lines.Text()); m != nil {
			go func() {
				for lines.Scan() { // so that the server can go on writing its log
				}
			}()
			return m[1]
		}
	}
	t.Fatal("the server ended without printing its address")
	return ""
}

// behind returns a server at an address, behind a handler of the test.
func behind(t *testing.T, address string) *served {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	// A transport of its own: when a test server is closed, it closes connections of the default one.
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	proxy.Transport = transport
	proxy.ErrorLog = log.New(os.Stderr, "proxy: ", log.Lmicroseconds)
	proxy.ErrorHandler = func(w http.ResponseWriter, r *http.Request, err error) {
		if r.Context().Err() == nil { // a browser that leaves is no error
			proxy.ErrorLog.Print(err)
		}
		w.WriteHeader(http.StatusBadGateway)
	}
	s := &served{address: address, direct: proxy}
	dist := distHandler(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A stage prefix as of a gateway on AWS.
		if rest, staged := strings.CutPrefix(r.URL.Path, "/live/"); staged {
			r.URL.Path = "/" + rest
		}
		c := &call{t: t, s: s, w: w, r: r}
		if err := c.read(); err != nil {
			return // the browser has left
		}
		instead := s.note(c)
		switch {
		case slices.ContainsFunc(instead, func(answers func(c *call) bool) bool { return answers(c) }):
		case dist != nil && (r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/console/")):
			dist.ServeHTTP(w, r)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// note notes a call of the API or of a file of the page, and returns what may answer it in place of the server.
func (s *served) note(c *call) []func(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.api() || strings.HasPrefix(c.r.URL.Path, "/console/") {
		s.calls = append(s.calls, sent{method: c.r.Method, url: c.r.URL.String(), path: c.r.URL.Path, body: maps.Clone(c.body)})
	}
	return s.instead
}

// distHandler serves dist of the checkout in place of the program's files if ORRERY_TEST_DIST is set, so that a change of
// the sources needs no new program. It is nil otherwise.
func distHandler(t *testing.T) http.Handler {
	t.Helper()
	if os.Getenv("ORRERY_TEST_DIST") == "" {
		return nil
	}
	handler, err := api.New(api.Config{
		Console: os.DirFS(filepath.Join(folder, "dist")), Serves: []string{"console", "console-file"},
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// environment returns the environment of the test without the variables of the command.
func environment() []string {
	var kept []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "ORRERY_") {
			kept = append(kept, variable)
		}
	}
	return kept
}
