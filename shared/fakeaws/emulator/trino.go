package emulator

import (
	"cmp"
	"context"
	"errors"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/trino"
)

// Trino is a backend over a real Trino cluster, the engine on which Athena is based. A statement's database is a schema
// of the client's catalogue.
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
	out, err := client.Read(ctx, s.SQL, func(cost engine.Cost) { scanned(cost.BytesScanned) })
	var failure *trino.Failure
	if errors.As(err, &failure) {
		return Result{}, failureOf(failure)
	}
	if err != nil {
		return Result{}, err
	}
	result := Result{Rows: out.Rows, Queued: out.Cost.Queue}
	for _, name := range out.Columns {
		result.Columns = append(result.Columns, Column{Name: name, Type: "varchar"})
	}
	return result, nil
}

// failureOf returns a failure of Trino as Athena reports it.
func failureOf(failure *trino.Failure) *Failure {
	f := &Failure{Category: 1, Type: 100, Retryable: true, Reason: failure.Error()}
	switch {
	case failure.Name == "SYNTAX_ERROR":
		f.Category, f.Type, f.Retryable = 2, 1006, false
	case failure.Name == "INVALID_FUNCTION_ARGUMENT":
		f.Category, f.Type, f.Retryable = 2, 1106, false
	case failure.Type == "USER_ERROR":
		f.Category, f.Type, f.Retryable = 2, 1000, false
	case failure.Type == "INSUFFICIENT_RESOURCES":
		f.Category, f.Type, f.Retryable = 1, 1, false
	case failure.Type == "EXTERNAL":
		f.Category, f.Type = 3, 1500
	}
	return f
}
