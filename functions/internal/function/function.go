// Package function has the parts that all functions of the deployment share: the environment, the log, the doctor, and
// the configuration of the AWS SDK. Packages wire and writing assemble the functions.
package function

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/shared/lambdas"
)

// Function answers the events of one function of the deployment. It implements lambda.Handler.
type Function struct {
	name, version string
	events        Handler
	checks        []doctor.Check
}

// New returns the function of a row of the table. Its doctor examines the environment and the checks.
func New(f lambdas.Function, e Environment, events Handler, checks ...doctor.Check) *Function {
	return &Function{f.Name, e.Version, events, append([]doctor.Check{configured(f)}, checks...)}
}

// Handler answers events. For requests it is a *lambdahttp.Handler.
type Handler interface {
	Invoke(ctx context.Context, payload []byte) ([]byte, error)
}

// Invoke answers one event. The event {"doctor":true} runs the function's checks.
func (f *Function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	if asksDoctor(payload) {
		return json.Marshal(doctor.Examine(ctx, f.name, f.version, f.checks))
	}
	return f.events.Invoke(ctx, payload)
}

// asksDoctor reports whether an event is the doctor's. It only parses short events, so that requests are not parsed
// twice.
func asksDoctor(payload []byte) bool {
	if len(payload) > 256 || !bytes.Contains(payload, []byte(`"doctor"`)) {
		return false
	}
	var event struct {
		Doctor bool `json:"doctor"`
	}
	return json.Unmarshal(payload, &event) == nil && event.Doctor
}

// SetLog creates a JSON log for the named function, makes it the default of packages log and slog, and returns it. Only
// main functions call it.
func SetLog(name string, w io.Writer) *slog.Logger {
	log := slog.New(slog.NewJSONHandler(w, nil)).With(slog.String("function", name))
	slog.SetDefault(log)
	slog.SetLogLoggerLevel(slog.LevelError) // for log.Fatal in main functions and errors of net/http
	return log
}

// HandlerOf returns a handler of events of type In, which are JSON, that answers them with Out.
func HandlerOf[In, Out any](handle func(context.Context, In) (Out, error)) Handler {
	return eventHandler[In, Out](handle)
}

type eventHandler[In, Out any] func(ctx context.Context, event In) (Out, error)

func (handle eventHandler[In, Out]) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var event In
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	out, err := handle(ctx, event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// Begin returns the row of a function in the table and the environment that it needs.
func Begin(name string, lookup Lookup) (lambdas.Function, Environment, error) {
	f, known := lambdas.Named(name)
	if !known {
		return f, Environment{}, fmt.Errorf("unknown function %q", name)
	}
	e, err := lookup.Read(f)
	return f, e, err
}

// configured returns the check of the variables. It always succeeds, because a function does not start without them.
func configured(f lambdas.Function) doctor.Check {
	return doctor.Check{Name: "variables", Run: func(context.Context) (string, error) {
		return fmt.Sprintf("all %d variables are set and make sense", len(f.Variables)), nil
	}}
}
