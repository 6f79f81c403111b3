//go:build unix

package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/internal/localaws"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// TestDeployedUp runs `orrery up` without a flag, as in its documentation, several times in the same folder: it is
// interrupted during the start, killed while it runs, and started again. A start with a first year that would hide
// records is refused. A log and a question are sent by the commands that it prints, and another log as to a deployment
// on AWS.
func TestDeployedUp(t *testing.T) {
	if os.Getenv("ORRERY_TEST_DEPLOYED") == "" {
		t.Skip("deploying to LocalStack takes minutes; set ORRERY_TEST_DEPLOYED=1 to run this test")
	}
	dir, mark := t.TempDir(), "RUN_OF_TEST="+rand.Text()

	interrupted := startUp(t, dir, mark)
	interrupted.waitFor(t, "start LocalStack: done")
	interrupted.end(t, -interrupted.command.Process.Pid, syscall.SIGINT) // as Ctrl-C does

	first := startUp(t, dir, mark)
	first.waitForURL(t)
	before := first.connection(t)
	first.shell(t, first.printed(t, "orrery put FILE "), "FILE="+upLog(t, 1))
	first.waitForRecords(t, upRecords)
	first.ask(t)
	first.setPlanet(t)
	// The command is killed before this log is imported, or later.
	first.shell(t, "orrery put FILE --stack "+localaws.Name, "FILE="+upLog(t, 2), "AWS_ENDPOINT_URL="+before.AWSEndpoint,
		"AWS_REGION="+before.Region, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test")
	first.kill(t)

	oldest, _, _ := strings.Cut(upDay, "-")
	year, err := strconv.Atoi(oldest)
	if err != nil {
		t.Fatal(err)
	}
	hiding := startUp(t, dir, mark, "--from-year", strconv.Itoa(year+1))
	tooLong := time.AfterFunc(patience, func() { _ = hiding.command.Process.Kill() })
	_ = hiding.command.Wait() // its state has the exit code
	tooLong.Stop()
	if refusal := "start it with `orrery up --from-year " + oldest + "`"; hiding.command.ProcessState.ExitCode() != exit.Failed ||
		!strings.Contains(hiding.output.String(), refusal) {
		t.Errorf("a first year after the oldest record: %s\n%s", hiding.command.ProcessState, hiding.output)
	}

	second := startUp(t, dir, mark)
	second.waitForURL(t)
	after := second.connection(t)
	if before.Key != after.Key {
		t.Error("the second start printed another key")
	}
	for _, name := range []string{"RawBucketName", "LakeBucketName", "TableName", "RestAPI"} {
		if before.Outputs[name] == "" || before.Outputs[name] != after.Outputs[name] {
			t.Errorf("%s was %q and is %q", name, before.Outputs[name], after.Outputs[name])
		}
	}
	if got := second.records(t); got < upRecords {
		t.Errorf("the second start answers %d records, want %d at least", got, upRecords)
	}
	second.checkPlanet(t)
	second.waitForRecords(t, 2*upRecords)
	second.ask(t)
	if left := second.processes(t); len(left) < 5 { // itself, LocalStack, DynamoDB Local, Trino, athenad
		t.Errorf("only %d processes:\n%s", len(left), strings.Join(left, "\n"))
	}
	second.end(t, second.command.Process.Pid, syscall.SIGHUP)
}

// upRun is a running `orrery up`.
type upRun struct {
	command   *exec.Cmd
	mark      string // a variable in the environment of its processes
	out       io.Reader
	api, key  string
	dir       string
	output    *lockedBuffer // standard error
	temporary string        // folder for temporary files of the command and the tools that it runs
}

var printedKey = regexp.MustCompile(`curl -u :(\S+) `)

// startUp starts the real binary in the checkout.
func startUp(t *testing.T, dir, mark string, flags ...string) *upRun {
	t.Helper()
	up := &upRun{dir: dir, mark: mark, temporary: t.TempDir(), output: &lockedBuffer{}}
	handleHangup()
	up.command = exec.Command(buildBinary(t), append([]string{"up"}, flags...)...)
	up.command.Dir = filepath.Join("..", "..")
	up.command.Env = append(environment(), up.mark, "ORRERY_UP="+dir, "TMPDIR="+up.temporary)
	up.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	up.command.Stderr = up.output
	var err error
	if up.out, err = up.command.StdoutPipe(); err != nil {
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
	return up
}

// waitFor waits until standard error has a text.
func (up *upRun) waitFor(t *testing.T, text string) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(up.output.String(), text) {
		<-tick.C
		if left := up.processes(t); len(left) == 0 { // it has ended, and left nothing
			up.failed(t, "without printing "+text)
		}
	}
}

// failed ends the test because the command ended. It skips the test if this machine lacks a requirement.
func (up *upRun) failed(t *testing.T, how string) {
	t.Helper()
	waited := up.command.Wait()
	if strings.Contains(up.output.String(), "exit status 3") && os.Getenv("CI") != "true" {
		t.Skipf("this machine lacks a requirement: %v\n%s", waited, up.output)
	}
	t.Fatalf("it ended %s: %v\n%s", how, waited, up.output)
}

// waitForURL waits until the command has printed the API's URL.
func (up *upRun) waitForURL(t *testing.T) {
	t.Helper()
	began := time.Now()
	line, err := bufio.NewReader(up.out).ReadString('\n')
	if err != nil {
		up.failed(t, "without a URL")
	}
	up.api = strings.TrimSpace(line)
	t.Logf("the URL was there after %.0f s", time.Since(began).Seconds())
	up.waitFor(t, "The API is at:") // another pipe, which can be read later
	if lines := strings.Count(up.output.String(), "\n"); lines > 10 {
		t.Errorf("it printed %d lines:\n%s", lines, up.output)
	}
	key := printedKey.FindStringSubmatch(up.output.String())
	if key == nil {
		t.Fatalf("it printed no key:\n%s", up.output)
	}
	up.key = key[1]
}

// connection returns what other commands know about the deployment.
func (up *upRun) connection(t *testing.T) localaws.Connection {
	t.Helper()
	c, err := localaws.ReadConnection(up.dir)
	if err != nil {
		t.Fatal(err)
	}
	if c.URL != up.api || c.Key != up.key {
		t.Errorf("deployment.json has %s and %s, but it printed %s and %s", c.URL, c.Key, up.api, up.key)
	}
	return c
}

// upRecords is the number of records of each log that is put. They are of the day upDay, which is not older than the
// deployment keeps.
const upRecords = 500

var upDay = time.Now().UTC().AddDate(0, 0, -2).Format(time.DateOnly)

// upLog writes a log that depends on the seed.
func upLog(t *testing.T, seed int) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), fmt.Sprintf("up%d.ndjson.gz", seed))
	if _, stderr, code := orrery(t, "", "generate", "--records", strconv.Itoa(upRecords), "--seed", strconv.Itoa(seed),
		"--from", upDay, "--to", upDay+" 06:00", "--output", file); code != exit.Done {
		t.Fatalf("generate: exit %d: %s", code, stderr)
	}
	return file
}

// printed returns the command with that beginning which was printed for the user.
func (up *upRun) printed(t *testing.T, beginning string) string {
	t.Helper()
	_, rest, found := strings.Cut(up.output.String(), beginning)
	if !found {
		t.Fatalf("it printed no command %q:\n%s", beginning, up.output)
	}
	line, _, _ := strings.Cut(rest, "\n")
	return beginning + line
}

// shell runs a command line as a user does who has installed the command. It replaces FILE in it by that variable.
func (up *upRun) shell(t *testing.T, line string, variables ...string) (stdout string) {
	t.Helper()
	var out, errs bytes.Buffer
	command := exec.Command("sh", "-c", strings.Replace(line, "FILE", `"$FILE"`, 1))
	command.Dir = up.command.Dir
	path := filepath.Dir(buildBinary(t)) + string(filepath.ListSeparator) + os.Getenv("PATH")
	command.Env = append(append(environment(), "PATH="+path), variables...)
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", line, err, &out, &errs)
	}
	return out.String()
}

// ask sends the question that was printed.
func (up *upRun) ask(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil && os.Getenv("CI") != "true" {
		t.Log("this machine lacks curl; the printed question is not sent")
		return
	}
	if answer := up.shell(t, up.printed(t, "curl ")); !strings.Contains(answer, `"acl_triggers"`) {
		t.Errorf("the printed question is answered by %.500s", answer)
	}
}

func (up *upRun) targets() *targets { return &targets{key: up.key, deployed: up.api} }

func (up *upRun) records(t *testing.T) int {
	t.Helper()
	return countDeployed(t, up.targets(), "timestamp between "+upDay+" and "+upDay+" 23:59:59")
}

// waitForRecords waits until the deployment answers this number of records.
func (up *upRun) waitForRecords(t *testing.T, want int) {
	t.Helper()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for until := time.Now().Add(patience); time.Now().Before(until); {
		if up.records(t) == want {
			return
		}
		<-tick.C
	}
	t.Fatalf("the deployment answers %d records, want %d", up.records(t), want)
}

const upPlanet = "/api/v4.0/conf/prod/planets"

func (up *upRun) setPlanet(t *testing.T) {
	t.Helper()
	planet := apiRequest{
		method: http.MethodPut, path: upPlanet + "/__default__",
		body:   `{"name":"kept","trusted_nets":[],"ichallenge":{"attrs":{},"lang":{},"palette":[],"position":{}}}`,
		header: map[string]string{"Content-Type": "application/json"},
	}
	if response, body := up.targets().askDeployed(t, planet); response.StatusCode != http.StatusOK {
		t.Errorf("put a planet: %d %s", response.StatusCode, body)
	}
}

func (up *upRun) checkPlanet(t *testing.T) {
	t.Helper()
	response, body := up.targets().askDeployed(t, apiRequest{method: http.MethodGet, path: upPlanet})
	if response.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"kept"`)) {
		t.Errorf("get the planet: %d %s", response.StatusCode, body)
	}
}

// kill kills the command itself. The servers keep running until the next start, but athenad ends.
func (up *upRun) kill(t *testing.T) {
	t.Helper()
	if err := up.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = up.command.Wait()
	if _, err := localaws.ReadConnection(up.dir); !errors.Is(err, localaws.ErrNotRunning) {
		t.Errorf("the connection of a killed deployment: %v", err)
	}
}

// end sends a signal to a process, or to the group -pid. It checks that the command acknowledges it, and that no
// process of the run and no file outside its folder is left.
func (up *upRun) end(t *testing.T, pid int, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
	_ = up.command.Wait() // its state has the exit code
	if code := up.command.ProcessState.ExitCode(); code != exit.Interrupted {
		t.Errorf("exit code %d\n%s", code, up.output)
	}
	if !strings.Contains(up.output.String(), "Interrupted. ") {
		t.Errorf("it did not acknowledge the signal:\n%s", up.output)
	}
	if left := up.processes(t); len(left) > 0 {
		t.Errorf("processes are left:\n%s", strings.Join(left, "\n"))
	}
	if left, err := os.ReadDir(up.temporary); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v %v", left, err)
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
