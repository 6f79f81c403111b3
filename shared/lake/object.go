package lake

// Object is one published Parquet object: immutable, verified, holding rows of one partition, sorted by
// (ts_ms, ts_nanos, source, line).
type Object struct {
	Path        string           // where to read it
	Partition   Partition        //
	Rows        int64            //
	Bytes       int64            // size of the object
	MinTsMs     int64            // ts_ms of the first row
	MaxTsMs     int64            // ts_ms of the last row
	ColumnBytes map[string]int64 // compressed bytes of each top-level column, by name
}

// Extent is the time the data covers.
type Extent struct {
	MinTsMs, MaxTsMs int64
	Rows             int64 // 0: there is no data, and the times mean nothing
}
