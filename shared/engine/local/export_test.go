package local

import "time"

// OnlySQL makes the engine leave nothing to the scan.
func (e *Engine) OnlySQL() { e.onlySQL = true }

// SetSizes limits the memory that the records of an answer and of a part of an export take, the number of records of a
// part, and how many records an export finds at once.
func (e *Engine) SetSizes(answer, part int64, rows, places int) {
	e.sizes = sizes{answer, part, rows, places}
}

// SetPatience sets how long a query waits for memory that other queries use.
func (e *Engine) SetPatience(d time.Duration) { e.patience = d }

// UseMemory takes so much memory of scans for a caller that none is left for another scan, until giveBack is called.
func (e *Engine) UseMemory(caller string) (giveBack func()) {
	e.scan.Shared.Take(caller, scanShare)
	return func() { e.scan.Shared.Give(caller, scanShare) }
}

// CheckObjects is the check of objects that the engine makes before DuckDB reads them.
var CheckObjects = checkObjects
