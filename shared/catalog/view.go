package catalog

// ViewColumn is a column in which other programs read a field of the records.
type ViewColumn struct {
	Name   string
	Column string // of the stored objects; of the timestamp, that with the milliseconds
	Type   Type   // Time and Float are converted, the values of all others are as they are stored
}

// ViewColumns returns the columns for other programs: the time, the other fields in alphabetical order, and the source
// and the line of the record, which identify it. Lists of names and values stay lists.
func ViewColumns() []ViewColumn {
	var first, others []ViewColumn
	for _, f := range Fields {
		from := f.Sources[0]
		column := ViewColumn{f.Name, from.Column, Any}
		switch {
		case from.Layout == Place:
			continue
		case from.Type == Time:
			column.Type = Time
			first = append(first, column)
			continue
		case from.Type == Float && from.Member == "":
			column.Type = Float
		}
		others = append(others, column)
	}
	columns := append(first, others...)
	return append(columns, ViewColumn{"source", "source", Any}, ViewColumn{"line", "line", Any})
}
