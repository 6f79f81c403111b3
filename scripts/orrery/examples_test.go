package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/testkit/goldentest"
)

const clientFolder = "../../shared/client"

// drained is a real server whose log is read, because it would wait.
func drained(t *testing.T, data string) *server {
	t.Helper()
	s := startServer(t, data, "--no-demo")
	go func() {
		for range s.lines {
		}
	}()
	return s
}

// TestExamplesOfClients: the examples for Go and those for Python print the same about a real server.
func TestExamplesOfClients(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the real server")
	}
	s := drained(t, tourData(t))
	printed := func(t *testing.T, name string, args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), name, args...)
		var stderr strings.Builder
		command.Env, command.Stderr = append(environment(), "PYTHONDONTWRITEBYTECODE=1"), &stderr
		output, err := command.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, stderr.String())
		}
		return string(output)
	}
	golden := filepath.Join("testdata", "clients", "examples.txt")
	t.Run("Go", func(t *testing.T) {
		goldentest.Compare(t, golden, printed(t, "go", "run", clientFolder+"/examples", s.base))
	})
	t.Run("Python", func(t *testing.T) {
		python := pythonFrom311(t)
		goldentest.Compare(t, golden, printed(t, python, clientFolder+"/python/examples.py", s.base+"/api/v4.0/"))
	})
}

// TestGoClientIsFetched fetches the client as another module does, from a repository with a tag, which has what is
// committed, and runs the examples there.
func TestGoClientIsFetched(t *testing.T) {
	if os.Getenv("ORRERY_TEST_CLIENTS") == "" {
		t.Skip("set ORRERY_TEST_CLIENTS to fetch the client for Go from a repository")
	}
	folder := t.TempDir()
	repository, module := filepath.Join(folder, "repository"), filepath.Join(folder, "module")
	config := fmt.Sprintf("[url %q]\n\tinsteadOf = https://github.com/orrery/orrery\n", "file://"+repository)
	if err := os.WriteFile(filepath.Join(folder, "config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(module, os.DirFS(clientFolder+"/examples")); err != nil {
		t.Fatal(err)
	}
	run := func(in string, args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), args[0], args[1:]...)
		var stderr strings.Builder
		command.Dir, command.Stderr = in, &stderr
		command.Env = append(environment(), "GIT_CONFIG_GLOBAL="+filepath.Join(folder, "config"),
			"GOPRIVATE=github.com/orrery/orrery", "GOMODCACHE="+filepath.Join(folder, "modules"), "GOFLAGS=-modcacherw")
		output, err := command.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", args, err, stderr.String())
		}
		return string(output)
	}
	run(".", "git", "clone", "--quiet", "--bare", "../..", repository)
	run(repository, "git", "tag", "v0.1.0", "HEAD")
	run(module, "go", "mod", "init", "example.com/client")
	run(module, "go", "get", "github.com/orrery/orrery/shared/client@v0.1.0")
	s := drained(t, tourData(t))
	goldentest.Compare(t, filepath.Join("testdata", "clients", "examples.txt"), run(module, "go", "run", ".", s.base))
}

// pythonFrom311 returns the path of Python 3.11 or later. It skips the test if there is none.
func pythonFrom311(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err == nil {
		err = exec.CommandContext(t.Context(), path, "-c", "import sys; sys.exit(sys.version_info < (3, 11))").Run()
	}
	if err != nil {
		t.Skip("the package for Python needs Python 3.11 or later")
	}
	return path
}

// TestPythonPackage builds a wheel, installs it, and runs what its README shows.
func TestPythonPackage(t *testing.T) {
	python := os.Getenv("ORRERY_TEST_PYTHON")
	if python == "" {
		t.Skip("set ORRERY_TEST_PYTHON to a python with pandas and setuptools, see scripts/release.sh")
	}
	page, err := os.ReadFile(clientFolder + "/python/README.md")
	if err != nil {
		t.Fatal(err)
	}
	s := drained(t, tourData(t))
	folder := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), python, args...)
		command.Dir, command.Env = folder, append(environment(), "PYTHONPATH="+filepath.Join(folder, "installed"))
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		return string(output)
	}
	source := filepath.Join(folder, "source") // building writes into it
	if err := os.CopyFS(source, os.DirFS(clientFolder+"/python")); err != nil {
		t.Fatal(err)
	}
	run("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", ".", source)
	wheels, err := filepath.Glob(filepath.Join(folder, "orrery_client-*-py3-none-any.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("wheels: %q, %v", wheels, err)
	}
	run("-m", "pip", "install", "--quiet", "--no-deps", "--target", "installed", wheels[0])
	if _, err := os.Stat(filepath.Join(folder, "installed", "orrery", "py.typed")); err != nil {
		t.Error("type checkers do not use the types of the wheel:", err)
	}
	var printed strings.Builder
	blocks := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(page, -1)
	for _, block := range blocks {
		printed.WriteString(run("-c", strings.ReplaceAll(string(block[1]), "http://127.0.0.1:8080", s.base)))
	}
	if len(blocks) != 2 {
		t.Errorf("the README has %d programs", len(blocks))
	}
	goldentest.Compare(t, filepath.Join("testdata", "clients", "python.txt"), printed.String())
}
