// Package runtimeapi runs AWS Lambda functions on this machine: it starts a bootstrap, serves the Runtime API to it,
// and stops it. https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
package runtimeapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// MaxAnswer is the maximum size of an answer in bytes.
const MaxAnswer = 6_291_556

// Options are the options of Start.
type Options struct {
	Bootstrap string    // the program
	Env       []string  // its environment, NAME=VALUE
	Logs      io.Writer // for its output
}

// Process is a running bootstrap. It answers one event at a time.
type Process struct {
	command *exec.Cmd
	server  *http.Server
	ended   chan struct{} // closed when the program has ended

	events  chan event
	answers chan Answer
	started chan error // an error of its initialization
}

type event struct {
	id       string
	payload  []byte
	deadline time.Time
}

// Answer is the answer of a function to an event.
type Answer struct {
	Payload []byte
	Failed  bool // Payload is the error: {"errorMessage":…,"errorType":…}
	id      string
}

// Start starts a bootstrap. Close stops it.
func Start(o Options) (*Process, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Process{
		ended: make(chan struct{}), events: make(chan event),
		answers: make(chan Answer, 1), started: make(chan error, 1),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", p.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/{what}", p.answered)
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", p.initError)
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(listener) }() // until Close

	p.command = exec.Command(o.Bootstrap)
	p.command.Env = append(o.Env, "AWS_LAMBDA_RUNTIME_API="+listener.Addr().String())
	p.command.Stdout, p.command.Stderr = o.Logs, o.Logs
	p.command.WaitDelay = time.Second
	if err := p.command.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", o.Bootstrap, err), p.server.Close())
	}
	go func() {
		_ = p.command.Wait() // ProcessState has the result
		close(p.ended)
	}()
	return p, nil
}

// Close kills the program and waits until it has ended.
func (p *Process) Close() error {
	err := p.command.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	<-p.ended
	return errors.Join(err, p.server.Close())
}

// Invoke sends an event and waits for the answer. It returns an error if the program ends or does not answer in time.
// After a timeout, the process must be closed.
func (p *Process) Invoke(ctx context.Context, payload []byte, timeout time.Duration) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	deadline, _ := ctx.Deadline()
	e := event{id: newID(), payload: payload, deadline: deadline}
	sent := p.events
	for {
		select {
		case sent <- e:
			sent = nil
		case answer := <-p.answers:
			if answer.id == e.id {
				return answer, nil
			}
		case err := <-p.started:
			return Answer{}, err
		case <-p.ended:
			return Answer{}, p.endError()
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return Answer{}, fmt.Errorf("the function did not answer within %s", timeout)
			}
			return Answer{}, ctx.Err()
		}
	}
}

// endError returns the error for a program that ended before it answered: its own error, if it reported one.
func (p *Process) endError() error {
	select {
	case err := <-p.started:
		return err
	default:
		return fmt.Errorf("the function ended before it answered: %s", p.command.ProcessState)
	}
}

// next waits for the next event and sends it to the program.
func (p *Process) next(w http.ResponseWriter, r *http.Request) {
	select {
	case e := <-p.events:
		h := w.Header()
		h.Set("Lambda-Runtime-Aws-Request-Id", e.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(e.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:local:000000000000:function:local")
		h.Set("Content-Type", "application/json")
		_, _ = w.Write(e.payload) // Invoke notices a program that has ended
	case <-r.Context().Done():
	}
}

// answered receives an answer. If it is too large, it becomes the error that Lambda returns for it.
func (p *Process) answered(w http.ResponseWriter, r *http.Request) {
	payload, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := Answer{Payload: payload, Failed: r.PathValue("what") == "error", id: r.PathValue("id")}
	status := http.StatusAccepted
	if !answer.Failed && len(payload) > MaxAnswer {
		status = http.StatusRequestEntityTooLarge
		answer.Failed = true
		const message = "Response payload size exceeded maximum allowed payload size (%d bytes)."
		answer.Payload, _ = json.Marshal(map[string]string{ // a map of strings cannot fail
			"errorType": "Function.ResponseSizeTooLarge", "errorMessage": fmt.Sprintf(message, MaxAnswer),
		})
	}
	p.answers <- answer
	w.WriteHeader(status)
}

// initError receives the error of a program that does not start.
func (p *Process) initError(w http.ResponseWriter, r *http.Request) {
	reason, err := io.ReadAll(r.Body)
	if err == nil {
		err = fmt.Errorf("the function did not start: %s", reason)
	}
	p.started <- err
	w.WriteHeader(http.StatusAccepted)
}

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	x := hex.EncodeToString(b[:])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}
