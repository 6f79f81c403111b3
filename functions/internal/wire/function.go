// Package wire is the composition root of the product on AWS: the environment becomes clients, clients become
// services, and services become the functions that main packages start. Each function has only what it needs.
//
// Environment.go reads the variables, function.go is what all functions are, and one file for each kind of function
// puts it together.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/orrery/orrery/shared/doctor"
	"github.com/orrery/orrery/shared/lambdas"
)

// Function answers the events of one function of the deployment. It implements lambda.Handler.
type Function struct {
	name, version string
	events        handler
	checks        []doctor.Check
}

// handler answers events: *lambdahttp.Handler for requests.
type handler interface {
	Invoke(ctx context.Context, payload []byte) ([]byte, error)
}

// Invoke answers one event. The event {"doctor":true} asks whether all that the function needs is there.
func (f *Function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	if asksDoctor(payload) {
		return json.Marshal(doctor.Examine(ctx, f.name, f.version, f.checks))
	}
	return f.events.Invoke(ctx, payload)
}

// asksDoctor looks into short events only: those that carry requests are not read twice.
func asksDoctor(payload []byte) bool {
	if len(payload) > 256 || !bytes.Contains(payload, []byte(`"doctor"`)) {
		return false
	}
	var event struct {
		Doctor bool `json:"doctor"`
	}
	return json.Unmarshal(payload, &event) == nil && event.Doctor
}

// SetLog makes a JSON log of the named function the default log of the process, that of package log included, and
// returns it. Only main functions call it.
func SetLog(name string, w io.Writer) *slog.Logger {
	log := slog.New(slog.NewJSONHandler(w, nil)).With(slog.String("function", name))
	slog.SetDefault(log)
	slog.SetLogLoggerLevel(slog.LevelError) // of package log: log.Fatal in a main, and the errors of net/http
	return log
}

// begin returns the row of a function in the table and the environment that it needs.
func begin(name string, lookup Lookup) (lambdas.Function, environment, error) {
	f, known := lambdas.Named(name)
	if !known {
		return f, environment{}, fmt.Errorf("there is no function %q", name)
	}
	e, err := lookup.read(f)
	return f, e, err
}

// configured is the check of the variables: a function that runs at all has them.
func configured(f lambdas.Function) doctor.Check {
	return doctor.Check{Name: "variables", Look: func(context.Context) (string, error) {
		return fmt.Sprintf("all %d variables are set and make sense", len(f.Variables)), nil
	}}
}
