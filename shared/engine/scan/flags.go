package scan

import "github.com/orrery/orrery/shared/lake/parquet"

// The flags of a record. query.Flagged counts all of them but isBot.
const (
	isBlocked = 1 << iota
	isChallenged
	isMonitored
	isHuman
	isBot

	manyFlags = 1 << 4 // the number of combinations of flags without isBot
)

// flags returns the flags of each row, without isBot. They must not be changed.
func (w *worker) flags() ([]uint8, error) {
	if w.hasFlags {
		return w.flagged, nil
	}
	columns, err := w.all("blocked", "challenge", "ichallenge", "monitor", "human", "monitor_reasons")
	if err != nil {
		return nil, err
	}
	w.flagged = cleared(w.flagged, len(columns[0].Flags))
	flags := w.flagged
	for i, flag := range []uint8{isBlocked, isChallenged, isChallenged, isMonitored, isHuman} {
		addFlag(flags, flag, columns[i])
	}
	reasons := columns[5].Starts
	for row := range flags {
		if reasons[row] < reasons[row+1] {
			flags[row] |= isMonitored
		}
	}
	w.hasFlags = true
	return flags, nil
}

// addFlag sets a flag of the rows for which a column is true.
func addFlag(flags []uint8, flag uint8, column *parquet.ColumnValues) {
	add := [3]uint8{2: flag} // by the flag plus one
	for row, is := range column.Flags {
		flags[row] |= add[is+1]
	}
}
