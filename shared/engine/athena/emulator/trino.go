package emulator

import (
	"cmp"
	"context"
	"errors"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/trino"
)

// Trino is the backend over a real Trino, the engine that Athena is built on. A statement's database is a schema of
// the client's catalogue.
type Trino struct{ Client *trino.Client }

var _ Backend = Trino{}

// Run implements Backend.
func (t Trino) Run(ctx context.Context, s Statement, scanned func(int64)) (Result, error) {
	c := t.Client.Config
	c.Schema = cmp.Or(s.Database, c.Schema)
	client, err := trino.Connect(c)
	if err != nil {
		return Result{}, err
	}
	read, err := client.Read(ctx, s.SQL, func(so engine.Cost) { scanned(so.BytesScanned) })
	var told *trino.Failure
	if errors.As(err, &told) {
		return Result{}, failureOf(told)
	}
	if err != nil {
		return Result{}, err
	}
	result := Result{Rows: read.Rows, Queued: read.Cost.Queue}
	for _, name := range read.Columns {
		result.Columns = append(result.Columns, Column{Name: name, Type: "varchar"})
	}
	return result, nil
}

// failureOf tells a failure of Trino as Athena does.
func failureOf(told *trino.Failure) *Failure {
	f := &Failure{Category: 1, Type: 100, Retryable: true, Reason: told.Error()}
	switch {
	case told.Name == "SYNTAX_ERROR":
		f.Category, f.Type, f.Retryable = 2, 1006, false
	case told.Name == "INVALID_FUNCTION_ARGUMENT":
		f.Category, f.Type, f.Retryable = 2, 1106, false
	case told.Type == "USER_ERROR":
		f.Category, f.Type, f.Retryable = 2, 1000, false
	case told.Type == "INSUFFICIENT_RESOURCES":
		f.Category, f.Type, f.Retryable = 1, 1, false
	case told.Type == "EXTERNAL":
		f.Category, f.Type = 3, 1500
	}
	return f
}
