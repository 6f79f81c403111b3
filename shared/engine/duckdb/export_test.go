package duckdb

import "context"

// Exec runs any statement.
func (e *Engine) Exec(ctx context.Context, statement string) error {
	_, err := e.db.ExecContext(ctx, statement)
	return err
}
