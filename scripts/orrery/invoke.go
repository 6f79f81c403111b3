package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/internal/runtimeapi"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/lambdas"
)

type invokeCommand struct {
	Function  string        `arg:"" help:"Name of the function, which is a folder of functions/."`
	Event     string        `arg:"" help:"File with the event, such as those in events/; - for standard input." placeholder:"FILE"`
	Bootstrap string        `help:"Program to run; the default is to build the function." placeholder:"PATH"`
	Env       []string      `short:"e" sep:"none" help:"Variable to set; may be repeated." placeholder:"NAME=VALUE"`
	Timeout   time.Duration `default:"29s" help:"Time limit of the function."`
}

// Run starts the function's program with a Runtime API on this machine, sends it the event, and prints the response.
// The function's log goes to standard error.
func (i *invokeCommand) Run(ctx context.Context, c terminal.Console) (err error) {
	f, known := lambdas.Named(i.Function)
	if !known {
		names := strings.Join(functionNames(), ", ")
		message := fmt.Sprintf("unknown function %q; use one of %s", i.Function, names)
		return exit.With(exit.Usage, message)
	}
	payload, err := i.payload(c)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "orrery-invoke-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	bootstrap, err := i.program(ctx, f, folder, c)
	if err != nil {
		return err
	}
	temporary := filepath.Join(folder, "tmp")
	if err := os.Mkdir(temporary, 0o700); err != nil {
		return err
	}
	began := time.Now()
	logs := &lastLine{to: c.Err}
	options := runtimeapi.Options{Bootstrap: bootstrap, Env: i.environment(temporary), Logs: logs}
	process, err := runtimeapi.Start(options)
	if err != nil {
		return err
	}
	answer, err := process.Invoke(ctx, payload, i.Timeout)
	took := time.Since(began)
	if err = errors.Join(err, process.Close()); err != nil {
		return fmt.Errorf("invoke %s: %w%s", f.Name, err, logs.message())
	}
	if _, err := fmt.Fprintf(c.Shown(), "%s\n", indented(answer.Payload)); err != nil {
		return err
	}
	if answer.Failed {
		return exit.With(exit.Failed, fmt.Sprintf("the function %s failed; the error is above", f.Name))
	}
	fmt.Fprintf(c.Err, "%s answered %.1f ms after it was started\n", f.Name, float64(took.Microseconds())/1000)
	return nil
}

// indented returns an answer with the indentation of the files in events/.
func indented(answer []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, answer, "", "  ") != nil {
		return answer
	}
	return b.Bytes()
}

// lastLine forwards a function's log and keeps its last line.
type lastLine struct {
	to   io.Writer
	text []byte
}

func (l *lastLine) Write(text []byte) (int, error) {
	if lines := bytes.Split(bytes.TrimSpace(text), []byte{'\n'}); len(text) > 0 {
		l.text = bytes.Clone(lines[len(lines)-1])
	}
	return l.to.Write(text)
}

// message returns the message of the last line. A function that does not start logs the reason there.
func (l *lastLine) message() string {
	var line struct{ Msg string }
	if json.Unmarshal(l.text, &line) != nil || line.Msg == "" {
		return ""
	}
	if strings.Contains(line.Msg, "of its environment") {
		line.Msg += "\nSet a variable with -e NAME=VALUE, or export it."
	}
	return "\n" + line.Msg
}

// payload reads the event, which must be JSON because Lambda accepts nothing else.
func (i *invokeCommand) payload(c terminal.Console) (payload []byte, err error) {
	if i.Event == "-" {
		payload, err = io.ReadAll(c.In)
	} else {
		payload, err = os.ReadFile(i.Event)
	}
	if err == nil && !json.Valid(payload) {
		err = fmt.Errorf("the event in %s is not JSON", i.Event)
	}
	return payload, err
}

// program returns the path of the bootstrap to run. Without --bootstrap it builds one in folder, with the options of
// scripts/build.sh, but for this machine.
func (i *invokeCommand) program(
	ctx context.Context, f lambdas.Function, folder string, c terminal.Console,
) (string, error) {
	if i.Bootstrap != "" {
		return filepath.Abs(i.Bootstrap)
	}
	path := filepath.Join(folder, "bootstrap")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-tags", "lambda.norpc,netgo,osusergo", "-ldflags", "-s -w", "-o", path, "github.com/orrery/orrery/functions/"+f.Name)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stdout, build.Stderr = c.Err, c.Err
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("build the function %s, which needs Go and a checkout of the repository: %w", f.Name, err)
	}
	return path, nil
}

// environment returns the environment of the function: the variables of this process and of Lambda, a folder for
// temporary files, and the variables of --env.
func (i *invokeCommand) environment(temporary string) []string {
	env := append([]string{"AWS_REGION=us-east-1"}, os.Environ()...)
	return append(append(env, "AWS_LAMBDA_FUNCTION_NAME="+i.Function, "TMPDIR="+temporary), i.Env...)
}

func functionNames() []string {
	names := make([]string, len(lambdas.All))
	for n, f := range lambdas.All {
		names[n] = f.Name
	}
	return names
}
