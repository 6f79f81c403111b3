package lake

// Object is one published Parquet object. It is immutable and verified, and holds rows of one partition, sorted by
// (ts_ms, ts_nanos, source, line).
type Object struct {
	Path        string           // where to read it
	Partition   Partition        //
	Rows        int64            //
	Bytes       int64            // size of the object
	MinTsMs     int64            // ts_ms of the first row
	MaxTsMs     int64            // ts_ms of the last row
	ColumnBytes map[string]int64 // compressed bytes of each top-level column that it has, by name

	// FirstChange and LastChange are the numbers of the changes of the index that published the first and the last of
	// the rows, even if objects have been merged since. They are 0 if the index does not number its changes, or if an
	// earlier version of the program has published the rows.
	FirstChange, LastChange int64
}

// Has reports whether the object has a top-level column. Objects of an older schema do not have all columns of Row. If
// the columns of the object are not known, Has returns true.
func (o Object) Has(column string) bool {
	_, has := o.ColumnBytes[column]
	return has || o.ColumnBytes == nil
}

// Rows returns the number of rows of objects.
func Rows(objects []Object) (rows int64) {
	for _, o := range objects {
		rows += o.Rows
	}
	return rows
}

// Paths returns the paths of objects.
func Paths(objects []Object) []string {
	paths := make([]string, len(objects))
	for i, o := range objects {
		paths[i] = o.Path
	}
	return paths
}

// Extent is the time that published objects cover. Ledgers and manifests keep it as JSON.
type Extent struct {
	MinTsMs int64 `json:"min_ts_ms"`
	MaxTsMs int64 `json:"max_ts_ms"`
	Rows    int64 `json:"rows"` // if it is 0, there is no data and the times are meaningless
}

// Extent returns the time that the object covers.
func (o Object) Extent() Extent { return Extent{MinTsMs: o.MinTsMs, MaxTsMs: o.MaxTsMs, Rows: o.Rows} }

// Union returns the smallest extent that covers both.
func (e Extent) Union(other Extent) Extent {
	switch {
	case e.Rows == 0:
		return other
	case other.Rows == 0:
		return e
	}
	return Extent{
		MinTsMs: min(e.MinTsMs, other.MinTsMs),
		MaxTsMs: max(e.MaxTsMs, other.MaxTsMs),
		Rows:    e.Rows + other.Rows,
	}
}
