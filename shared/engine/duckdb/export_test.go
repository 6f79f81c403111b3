package duckdb

import "context"

// Exec runs any statement, as only tests may.
func (e *Engine) Exec(ctx context.Context, statement string) error {
	_, err := e.db.ExecContext(ctx, statement)
	return err
}

// OnlySQL makes the engine leave nothing to the scan, as only tests may.
func (e *Engine) OnlySQL() { e.onlySQL = true }
