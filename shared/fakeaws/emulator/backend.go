package emulator

import (
	"context"
	"time"
)

// Backend answers statements. Its methods may be called concurrently.
type Backend interface {
	// Run answers one statement. It calls scanned with the number of bytes read so far each time it learns the number,
	// even if it fails later, and stops when ctx ends. A failure that Athena would report is a *Failure.
	Run(ctx context.Context, s Statement, scanned func(bytes int64)) (Result, error)
}

// Statement is a statement and the catalogue and database that it refers to.
type Statement struct{ SQL, Catalog, Database string }

// Result is the result of a statement. Every value is printed as Athena prints it; nil is NULL.
type Result struct {
	Columns []Column
	Rows    [][]*string
	Queued  time.Duration // the time in the backend's own queue
}

// Column is a column's name and type, such as "bigint".
type Column struct{ Name, Type string }

// Failure describes why a query failed.
type Failure struct {
	Category  int // 1: Athena's, 2: the user's, 3: other
	Type      int // see docs.aws.amazon.com/athena/latest/ug/error-reference.html
	Retryable bool
	Reason    string // begins with the engine's name of the error: "SYNTAX_ERROR: line 1:8: …"
}

func (f *Failure) Error() string { return f.Reason }
