package scan

import "github.com/orrery/orrery/shared/lake/parquet"

// The flags of a record. All but isBot are those that query.Flagged counts.
const (
	isBlocked = 1 << iota
	isChallenged
	isMonitored
	isHuman
	isBot

	manyFlags = 1 << 4 // the number of combinations of flags without isBot
)

// flags returns the flags of each row, without isBot.
func (w *worker) flags() ([]uint8, error) {
	columns, err := w.all("blocked", "challenge", "ichallenge", "monitor", "human", "monitor_reasons")
	if err != nil {
		return nil, err
	}
	flags := make([]uint8, len(columns[0].Flags))
	for i, flag := range []uint8{isBlocked, isChallenged, isChallenged, isMonitored, isHuman} {
		addFlag(flags, flag, columns[i])
	}
	reasons := columns[5].Starts
	for row := range flags {
		if reasons[row] < reasons[row+1] {
			flags[row] |= isMonitored
		}
	}
	return flags, nil
}

// addFlag sets a flag of the rows for which a column is true.
func addFlag(flags []uint8, flag uint8, column *parquet.ColumnValues) {
	for row, is := range column.Flags {
		if is == 1 {
			flags[row] |= flag
		}
	}
}
