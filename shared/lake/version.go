package lake

import "slices"

// Additions lists the columns that each version of the schema added, from version 2: objects of version 1 do not have
// the columns of Additions[0]. Version 1 has all columns of Row that are not listed. README.md of package parquet
// describes how a column is added.
//
// Only tests change the list.
var Additions = [][]string{{"log_rest"}}

// SchemaVersion returns the version of the schema of Row, which new objects have.
func SchemaVersion() int { return 1 + len(Additions) }

// AddedIn returns the version of the schema that added a column.
func AddedIn(column string) int {
	for i, added := range Additions {
		if slices.Contains(added, column) {
			return i + 2
		}
	}
	return 1
}
