package emulator

import (
	"context"
	"time"
)

// Backend answers statements. It may be asked several at once.
type Backend interface {
	// Run answers one statement. It calls scanned whenever it knows better how many bytes it has read so far, also
	// when it fails, and stops when ctx ends. A failure that Athena would tell is a *Failure.
	Run(ctx context.Context, s Statement, scanned func(bytes int64)) (Result, error)
}

// Statement is what is asked.
type Statement struct{ SQL, Catalog, Database string }

// Result is what was found, every cell as Athena prints it; nil is NULL.
type Result struct {
	Columns []Column
	Rows    [][]*string
	Queued  time.Duration // in the backend's own queue
}

// Column is a column's name and type, "bigint".
type Column struct{ Name, Type string }

// Failure is the end of a query that did not do well.
type Failure struct {
	Category  int // 1: Athena's, 2: the user's, 3: other
	Type      int // see docs.aws.amazon.com/athena/latest/ug/error-reference.html
	Retryable bool
	Reason    string // begins with the engine's name of the error: "SYNTAX_ERROR: line 1:8: …"
}

func (f *Failure) Error() string { return f.Reason }
