package tablesqlite

// Steps are the steps of the move of rows at which KilledAt ends a process.
var Steps = []string{"when the table is created", "before the rows are moved", "after the rows are moved"}

// KilledAt returns the layout with a call of the function kill at a step.
func (l Layout) KilledAt(step string) Layout {
	const kill = "SELECT kill();"
	switch step {
	case Steps[0]:
		l.tables = kill + l.tables
	case Steps[1]:
		l.tables += kill
	case Steps[2]:
		l.moved = kill
	}
	return l
}
