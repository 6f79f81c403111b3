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
	"github.com/orrery/orrery/shared/lambdas"
)

type invokeCommand struct {
	Function  string        `arg:"" help:"Name of the function: a folder of functions/."`
	Event     string        `arg:"" help:"File that holds the event, such as one of events/; - for standard input." placeholder:"EVENT.json"`
	Bootstrap string        `help:"Program to run; without it the function is built." placeholder:"PATH"`
	Env       []string      `short:"e" sep:"none" help:"A variable beside those of this environment." placeholder:"NAME=VALUE"`
	Timeout   time.Duration `default:"29s" help:"Time that the function has."`
}

// Run starts the function's real program against a Runtime API of this machine, sends it the event, and prints its
// answer. What the function logs goes to standard error.
func (i *invokeCommand) Run(ctx context.Context, c console) (err error) {
	f, known := lambdas.Named(i.Function)
	if !known {
		return &exitError{code: exitUsage, message: fmt.Sprintf("there is no function %q; there are %s", i.Function, strings.Join(functionNames(), ", "))}
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
	logs := &lastLine{to: c.err}
	options := runtimeapi.Options{Bootstrap: bootstrap, Env: i.environment(temporary), Logs: logs}
	process, err := runtimeapi.Start(options)
	if err != nil {
		return err
	}
	answer, err := process.Invoke(ctx, payload, i.Timeout)
	took := time.Since(began)
	if err = errors.Join(err, process.Close()); err != nil {
		return fmt.Errorf("invoke %s: %w%s", f.Name, err, logs.said())
	}
	if _, err := fmt.Fprintf(c.out, "%s\n", indented(answer.Payload)); err != nil {
		return err
	}
	if answer.Failed {
		return &exitError{code: exitFailed, message: fmt.Sprintf("the function %s failed; its error is above", f.Name)}
	}
	fmt.Fprintf(c.err, "%s answered %.1f ms after it was started\n", f.Name, float64(took.Microseconds())/1000)
	return nil
}

// indented is an answer for people, as the files of events/ have it.
func indented(answer []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, answer, "", "  ") != nil {
		return answer
	}
	return b.Bytes()
}

// lastLine passes on what a function logs and keeps the last line of it.
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

// said is the message of the last line, where a function that could not begin says why.
func (l *lastLine) said() string {
	var line struct{ Msg string }
	if json.Unmarshal(l.text, &line) != nil || line.Msg == "" {
		return ""
	}
	if strings.Contains(line.Msg, "of its environment") {
		line.Msg += "\nSet a variable with -e NAME=VALUE, or export it."
	}
	return "\n" + line.Msg
}

// payload reads the event, which must be JSON: Lambda takes nothing else.
func (i *invokeCommand) payload(c console) (payload []byte, err error) {
	if i.Event == "-" {
		payload, err = io.ReadAll(c.in)
	} else {
		payload, err = os.ReadFile(i.Event)
	}
	if err == nil && !json.Valid(payload) {
		err = fmt.Errorf("the event in %s is no JSON", i.Event)
	}
	return payload, err
}

// program returns the bootstrap to run. Without --bootstrap it builds one in folder, as scripts/build.sh does but for
// this machine.
func (i *invokeCommand) program(ctx context.Context, f lambdas.Function, folder string, c console) (string, error) {
	if i.Bootstrap != "" {
		return filepath.Abs(i.Bootstrap)
	}
	path := filepath.Join(folder, "bootstrap")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", path, "github.com/orrery/orrery/functions/"+f.Name)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stdout, build.Stderr = c.err, c.err
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("build the function %s, which needs Go and a folder of the repository: %w", f.Name, err)
	}
	return path, nil
}

// environment is that of this process, what Lambda sets, a temporary folder, and the variables given.
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
