// Package killed runs a test binary as a child process that kills itself between two steps of its work, as kill -9
// does.
package killed

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// These environment variables have the arguments of a child process, one in a line, and the step before which it dies.
const (
	argumentsVariable = "ORRERY_TEST_KILLED_ARGUMENTS"
	stepVariable      = "ORRERY_TEST_KILLED_STEP"
)

// Child returns the arguments of Before in a child process, and nothing in any other process. TestMain must call it.
func Child() (arguments []string) {
	if text, isChild := os.LookupEnv(argumentsVariable); isChild {
		return strings.Split(text, "\n")
	}
	return nil
}

var steps atomic.Int64

// Step is called before each step of the work of a child process. It kills the process before the step that Before
// names.
func Step(name string) {
	number := strconv.FormatInt(steps.Add(1)-1, 10)
	if at := os.Getenv(stepVariable); name != at && number != at {
		return
	}
	fmt.Fprintln(os.Stderr, name)
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // wait for the signal
}

// Before runs a child process that dies before the step with a name or a number, counted from 0. It returns the name of
// the step, and whether the process died. The process must not fail otherwise.
func Before(t *testing.T, step string, arguments ...string) (name string, died bool) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), argumentsVariable+"="+strings.Join(arguments, "\n"), stepVariable+"="+step)
	var out strings.Builder
	child.Stderr = &out
	err := child.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && !exit.Exited() {
		return strings.TrimSpace(out.String()), true
	}
	if err != nil {
		t.Fatalf("child: %v\n%s", err, out.String())
	}
	return "", false
}
