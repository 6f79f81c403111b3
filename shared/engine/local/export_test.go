package local

// OnlySQL makes the engine leave nothing to the scan.
func (e *Engine) OnlySQL() { e.onlySQL = true }
