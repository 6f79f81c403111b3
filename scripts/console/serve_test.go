package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api"
)

// demoDay is the period of the records of the tests.
const demoDay = "2026-01-01T00:00Z..2026-01-02T00:00Z"

// served is a running `orrery serve` with a generated day, behind a handler that can answer in its place.
type served struct {
	url     string
	address string       // of the server itself
	direct  http.Handler // the same as a handler

	mu      sync.Mutex
	instead func(w http.ResponseWriter, r *http.Request) bool // reports whether it answered
}

func (s *served) answer(instead func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instead = instead
}

var addressPattern = regexp.MustCompile(`answers on (http://[0-9.:]+)`)

// program returns a build of the command, which can be given by ORRERY_TEST_PROGRAM.
var program = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("ORRERY_TEST_PROGRAM"); given != "" {
		return given, nil
	}
	folder, err := os.MkdirTemp("", "orrery-console-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "orrery")
	build := exec.Command("go", "build", "-o", path, "./scripts/orrery")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("ORRERY_TEST_CONSOLE") != "" && os.Getenv("ORRERY_TEST_PROGRAM") == "" {
		if path, err := program(); err == nil {
			_ = os.RemoveAll(filepath.Dir(path)) // files left in the temporary folder do no harm
		}
	}
	os.Exit(code)
}

// serve starts the command with a generated day, or without data if records is "".
func serve(t *testing.T, records string, args ...string) *served {
	t.Helper()
	program, data := generated(t, records, "3")
	return start(t, program, data, args...)
}

// generated returns the command, and a data folder with a generated day.
func generated(t *testing.T, records, seed string) (path, data string) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	data = filepath.Join(t.TempDir(), "data")
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

// serveLog starts the command with the records of a log.
func serveLog(t *testing.T, log string) *served {
	t.Helper()
	program, err := program()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
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

func start(t *testing.T, program, data string, args ...string) *served {
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
	t.Cleanup(func() {
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
			return behind(t, m[1])
		}
	}
	t.Fatal("the server ended without printing its address")
	return nil
}

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
		s.mu.Lock()
		instead := s.instead
		s.mu.Unlock()
		// A stage prefix as of a gateway on AWS.
		if rest, staged := strings.CutPrefix(r.URL.Path, "/live/"); staged {
			r.URL.Path = "/" + rest
		}
		switch {
		case instead != nil && instead(w, r):
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

// wait holds a request until a channel is closed, or until the page no longer wants the answer.
func wait(r *http.Request, released <-chan struct{}) {
	select {
	case <-released:
	case <-r.Context().Done():
	}
}

// readAll reads the body of a request, and leaves it to be read again.
func readAll(t *testing.T, r *http.Request) []byte {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	return text
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
