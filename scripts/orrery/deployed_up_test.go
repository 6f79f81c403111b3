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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/scripts/internal/localaws"
)

// TestDeployedUp runs `orrery up` without a flag, as in its documentation, several times in the same folder: it is
// interrupted during the start, killed while it runs, and started again.
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
	first.put(t, before, 1)
	first.waitForRecords(t, upRecords)
	first.setPlanet(t)
	first.put(t, before, 2) // the command is killed before it is imported, or later
	first.kill(t)

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
func startUp(t *testing.T, dir, mark string) *upRun {
	t.Helper()
	up := &upRun{dir: dir, mark: mark, temporary: t.TempDir(), output: &lockedBuffer{}}
	handleHangup()
	up.command = exec.Command(buildBinary(t), "up")
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
	if lines := strings.Count(up.output.String(), "\n"); lines > 12 {
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

// upRecords is the number of records in each log that put puts.
const upRecords = 500

// put puts a log, which depends on the seed, into the raw bucket.
func (up *upRun) put(t *testing.T, c localaws.Connection, seed int) {
	t.Helper()
	log := filepath.Join(t.TempDir(), fmt.Sprintf("up%d.ndjson.gz", seed))
	if _, stderr, code := orrery(t, "", "generate", "--records", strconv.Itoa(upRecords), "--seed", strconv.Itoa(seed),
		"--from", "2026-01-01", "--to", "2026-01-01 06:00", "--output", log); code != exitDone {
		t.Fatalf("generate: exit %d: %s", code, stderr)
	}
	content, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	client := s3.New(s3.Options{
		Region: c.Region, BaseEndpoint: &c.AWSEndpoint, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	_, err = client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: aws.String(c.Outputs["RawBucketName"]), Body: bytes.NewReader(content),
		Key: aws.String("raw/history/" + filepath.Base(log)),
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (up *upRun) targets() *targets { return &targets{key: up.key, deployed: up.api} }

func (up *upRun) records(t *testing.T) int {
	t.Helper()
	return countDeployed(t, up.targets(), wholeDay)
}

// waitForRecords waits until the deployment answers this number of records.
func (up *upRun) waitForRecords(t *testing.T, want int) {
	t.Helper()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for range 180 {
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
	planet := question{
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
	response, body := up.targets().askDeployed(t, question{method: http.MethodGet, path: upPlanet})
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
	if code := up.command.ProcessState.ExitCode(); code != exitInterrupted {
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
