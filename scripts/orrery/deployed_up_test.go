//go:build unix

package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDeployedUp runs `orrery up` without a flag, as in its documentation, and closes its terminal.
func TestDeployedUp(t *testing.T) {
	if os.Getenv("ORRERY_TEST_DEPLOYED") == "" {
		t.Skip("deploying to LocalStack takes minutes; set ORRERY_TEST_DEPLOYED=1 to run this test")
	}
	up := startUp(t)
	up.askData(t)
	up.end(t, up.command.Process.Pid, syscall.SIGHUP)
}

// testUpAgain runs `orrery up` in the folder of a deployment that has ended, and interrupts it like Ctrl-C, which
// signals the whole process group.
func testUpAgain(t *testing.T, dir string) {
	up := startUp(t, "--dir", dir)
	up.askData(t)
	up.end(t, -up.command.Process.Pid, syscall.SIGINT)
}

// upRun is a running `orrery up`.
type upRun struct {
	command   *exec.Cmd
	mark      string // a variable in the environment of its processes
	api, key  string
	dir       string
	output    *lockedBuffer
	temporary []string // the temporary folders before it started
}

var (
	printedKey = regexp.MustCompile(`curl -u :(\S+) `)
	printedDir = regexp.MustCompile(`The logs of the functions are in (.*)/localstack/functions\.`)
)

// startUp starts the real binary in the checkout and waits until it has printed the API's URL.
func startUp(t *testing.T, args ...string) *upRun {
	t.Helper()
	up := &upRun{mark: "RUN_OF_TEST=" + rand.Text(), output: &lockedBuffer{}}
	handleHangup()
	up.command = exec.Command(buildBinary(t), append([]string{"up"}, args...)...)
	up.temporary = temporaryFolders(t)
	up.command.Dir = filepath.Join("..", "..")
	up.command.Env = append(environment(), up.mark)
	up.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	up.command.Stderr = up.output
	out, err := up.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := up.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // if the test fails before it stops the process
		if up.command.ProcessState == nil {
			_ = up.command.Process.Signal(syscall.SIGTERM)
			_ = up.command.Wait()
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		waited := up.command.Wait()
		if strings.Contains(up.output.String(), "exit status 3") && os.Getenv("CI") != "true" {
			t.Skipf("this machine lacks a requirement: %v\n%s", waited, up.output)
		}
		t.Fatalf("it ended without a URL: %v\n%s", err, up.output)
	}
	up.api = strings.TrimSpace(line)
	for range 100 { // standard error is another pipe, which can be read later
		if strings.Contains(up.output.String(), "The API is at:") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	key, dir := printedKey.FindStringSubmatch(up.output.String()), printedDir.FindStringSubmatch(up.output.String())
	if key == nil || dir == nil {
		t.Fatalf("it printed no key or no folder:\n%s", up.output)
	}
	up.key, up.dir = key[1], dir[1]
	return up
}

// askData sends a request to a route that reads data.
func (up *upRun) askData(t *testing.T) {
	t.Helper()
	both := &targets{key: up.key, deployed: up.api}
	path := bases[0] + "/data/stats?" + url.Values{"filters": {wholeDay}}.Encode()
	response, body := both.askDeployed(t, question{method: http.MethodGet, path: path})
	if response.StatusCode != http.StatusOK {
		t.Errorf("%s: %d %s", path, response.StatusCode, body)
	}
}

// end sends a signal to a process, or to the group -pid, and checks that no process and no file of the run is left.
func (up *upRun) end(t *testing.T, pid int, signal syscall.Signal) {
	t.Helper()
	if left := up.processes(t); len(left) < 5 { // itself, LocalStack, DynamoDB Local, Trino, athenad
		t.Errorf("only %d processes:\n%s", len(left), strings.Join(left, "\n"))
	}
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
	_ = up.command.Wait() // its state has the exit code
	if code := up.command.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d\n%s", code, up.output)
	}
	if left := up.processes(t); len(left) > 0 {
		t.Errorf("processes are left:\n%s", strings.Join(left, "\n"))
	}
	for _, folder := range temporaryFolders(t) {
		if !slices.Contains(up.temporary, folder) {
			t.Errorf("%s is left", folder)
		}
	}
}

// processes returns the command lines of the processes of the run. It needs /proc.
func (up *upRun) processes(t *testing.T) (all []string) {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) == 0 {
		t.Skip("this system has no /proc")
	}
	for _, folder := range folders {
		environment, err1 := os.ReadFile(filepath.Join(folder, "environ"))
		line, err2 := os.ReadFile(filepath.Join(folder, "cmdline"))
		if err1 != nil || err2 != nil {
			continue // the process has ended meanwhile, or belongs to another user
		}
		if bytes.Contains(environment, []byte(up.mark)) || bytes.Contains(line, []byte(up.dir+"/")) {
			all = append(all, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return all
}

// temporaryFolders returns the temporary folders and files of `orrery up` and of the tools that it runs.
func temporaryFolders(t *testing.T) (all []string) {
	t.Helper()
	for _, name := range []string{"orrery-*", "jsii-*", "cdk*", "*sqlite4java*", "localstack*"} {
		found, err := filepath.Glob(filepath.Join(os.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}
