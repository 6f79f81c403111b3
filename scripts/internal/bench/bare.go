package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// bare is plain DuckDB: one connection, with as many threads as the product.
type bare struct{ db *sql.DB }

func openBare(ctx context.Context) (*bare, error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, fmt.Errorf("open bare DuckDB: %w", err)
	}
	db.SetMaxOpenConns(1)
	settings := fmt.Sprintf("set threads = %d; set TimeZone = 'UTC'", runtime.GOMAXPROCS(0))
	if _, err := db.ExecContext(ctx, settings); err != nil {
		return nil, errors.Join(fmt.Errorf("set up bare DuckDB: %w", err), db.Close())
	}
	return &bare{db: db}, nil
}

func (b *bare) Close() error { return b.db.Close() }

// run runs the statements and fetches all rows of the last one. Every other statement returns one row with one value,
// which is inserted into the text of the next one. The facts are the values of the first column.
func (b *bare) run(ctx context.Context, statements []statement) (facts []string, took time.Duration, err error) {
	began := time.Now()
	var found []any
	for i, s := range statements {
		text := string(s)
		if len(found) > 0 {
			text = fmt.Sprintf(text, found...)
		}
		if i == len(statements)-1 {
			facts, err = b.fetch(ctx, text)
			return facts, time.Since(began), err
		}
		var value any
		if err := b.db.QueryRowContext(ctx, text).Scan(&value); err != nil {
			return nil, 0, fmt.Errorf("bare DuckDB: %w", err)
		}
		found = []any{value}
	}
	return nil, 0, errors.New("bare DuckDB: no statement")
}

func (b *bare) fetch(ctx context.Context, text string) (facts []string, err error) {
	rows, err := b.db.QueryContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("bare DuckDB: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, fmt.Errorf("bare DuckDB: %w", err)
	}
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, fmt.Errorf("bare DuckDB: %w", err)
		}
		facts = append(facts, fmt.Sprint(values[0]))
	}
	return facts, rows.Err()
}
