package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// binary is a build of the real command for all tests of this package, which can be given by ORRERY_TEST_PROGRAM.
var binary = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("ORRERY_TEST_PROGRAM"); given != "" {
		return given, nil
	}
	folder, err := os.MkdirTemp("", "orrery-e2e-")
	if err != nil {
		return "", err
	}
	built = folder
	path := filepath.Join(folder, "orrery")
	if output, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, output)
	}
	return path, nil
})

// built is the folder that binary has made, if a test has asked for it.
var built string

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built) // files left in the temporary folder do no harm
	}
	os.Exit(code)
}

func buildBinary(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and starts the real command")
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// server is a running `orrery serve`.
type server struct {
	t       *testing.T
	command *exec.Cmd
	base    string
	lines   chan string // of standard error; closed at its end
	log     strings.Builder
}

// addressPattern finds the address of a server in its log, or in what earlier versions and those on a terminal print.
var addressPattern = regexp.MustCompile(`(?:"msg":"serving","url":"|answers on )(http://[a-z0-9.:\[\]]+)`)

// startServer starts the real binary on a free port and waits until it prints its address.
func startServer(t *testing.T, data string, args ...string) *server {
	t.Helper()
	return startProgram(t, buildBinary(t), data, args...)
}

// startProgram is startServer for another build of the command.
func startProgram(t *testing.T, program, data string, args ...string) *server {
	t.Helper()
	command := serveProgram(program, data, args...)
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	return started(t, command, stderr)
}

// serveProgram returns the command that serves a folder on a free port.
func serveProgram(program, data string, args ...string) *exec.Cmd {
	args = append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, args...)
	command := exec.Command(program, args...)
	command.Env = environment()
	return command
}

// started starts a server, and waits until its standard error has the address.
func started(t *testing.T, command *exec.Cmd, stderr io.Reader) *server {
	t.Helper()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() }) // fails if the test has stopped it
	s := &server{t: t, command: command, lines: make(chan string, 10_000)}
	go func() {
		scanner := bufio.NewScanner(stderr)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			s.lines <- scanner.Text()
		}
		close(s.lines)
	}()
	for line := range s.lines {
		s.log.WriteString(line + "\n")
		if m := addressPattern.FindStringSubmatch(line); m != nil {
			s.base = m[1]
			return s
		}
	}
	t.Fatalf("the server ended without printing its address:\n%s", s.log.String())
	return nil
}

// waitFor reads the server's output until the line after the first one that contains text.
func (s *server) waitFor(text string) error {
	found := false
	for line := range s.lines {
		s.log.WriteString(line + "\n")
		if found {
			return nil
		}
		found = strings.Contains(line, text)
	}
	return fmt.Errorf("the server ended without printing %q:\n%s", text, s.log.String())
}

// interrupt sends SIGINT, as Ctrl-C does, and waits for the end of the server.
func (s *server) interrupt() error {
	if err := s.command.Process.Signal(syscall.SIGINT); err != nil {
		s.t.Fatal(err)
	}
	for line := range s.lines {
		s.log.WriteString(line + "\n")
	}
	return s.command.Wait()
}

func (s *server) get(path string, parameters url.Values) (status int, body []byte) {
	s.t.Helper()
	address := s.base + path + "?" + parameters.Encode()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	body, err = io.ReadAll(response.Body)
	if closing := response.Body.Close(); err == nil {
		err = closing
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, body
}

// results sends a request to a data route and returns its results.
func (s *server) results(route, filters string, more ...string) []map[string]any {
	s.t.Helper()
	parameters := url.Values{"filters": {filters}}
	for i := 0; i < len(more); i += 2 {
		parameters.Set(more[i], more[i+1])
	}
	status, body := s.get("/api/v4.0/data/"+route, parameters)
	if status != http.StatusOK {
		s.t.Fatalf("%s %s answered %d: %s", route, filters, status, body)
	}
	var answer struct {
		Data struct {
			Results []map[string]any `json:"results"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		s.t.Fatal(err)
	}
	return answer.Data.Results
}

// orrery runs a command of the real binary and waits for its end.
func orrery(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	command := exec.Command(buildBinary(t), args...)
	command.Env = environment()
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &out, &errs
	if err := command.Run(); err != nil && command.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), command.ProcessState.ExitCode()
}

// environment returns the environment of the test without the variables of the command.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "ORRERY_") })
}
