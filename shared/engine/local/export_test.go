package local

// OnlySQL makes the engine leave nothing to the scan.
func (e *Engine) OnlySQL() { e.onlySQL = true }

// SetSizes limits the memory of the records of an answer, and of a part of an export, the number of records of a part,
// and how many records an export finds at once.
func (e *Engine) SetSizes(answer, part int64, rows, places int) {
	e.sizes = sizes{answer, part, rows, places}
}

// CheckObjects is what the engine checks of objects before DuckDB reads them.
var CheckObjects = checkObjects
