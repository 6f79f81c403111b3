package answer

import "fmt"

// Estimate is what a query would read and cost, as far as it is known before the query runs. For a caller who is
// limited to branches, it leaves out numbers that cover other branches: partitions, objects, rows and sizes of columns.
type Estimate struct {
	Partitions *int            `json:"partitions,omitempty" doc:"Number of hours of data to read; like objects, rows and the sizes of columns, absent for a key that is limited to branches"`
	Objects    *int            `json:"objects,omitempty" doc:"Number of Parquet objects to read; absent if not known"`
	Reused     int             `json:"objects_reused,omitempty" doc:"Further objects that need not be read, as in meta.objects_reused"`
	Rows       *int64          `json:"rows,omitempty" doc:"Records in these objects; absent if not known"`
	Bytes      *BytesEstimate  `json:"bytes" doc:"The expected range of meta.bytes_scanned; null if not known; rounded up to 10 MB for a key that is limited to branches"`
	Columns    []ColumnSize    `json:"columns" doc:"The columns that are read"`
	CostUSD    *PriceEstimate  `json:"cost_usd,omitempty" doc:"The expected range of meta.cost_usd; absent if the engine charges nothing or the bytes are not known"`
	WaitMS     *MillisEstimate `json:"wait_ms" doc:"Milliseconds until the answer, computed from the median speed of the last 100 answers of this process; null if there are none, the bytes are not known, or values are not counted"`
	Warnings   []string        `json:"warnings" doc:"What is not known, and why"`

	Lacking []LackingColumn `json:"lacking,omitempty" doc:"Columns that some objects lack, because an earlier version wrote these objects: the fields are absent in their records; absent for a key that is limited to branches"`

	Unrounded *BytesEstimate `json:"-"` // of Bytes, for Sum; nil if they are not rounded. Callers do not see it.
}

// LackingColumn is a column that some objects do not have.
type LackingColumn struct {
	Name    string `json:"name"`
	Objects int    `json:"objects"`
}

// String returns a warning with the remedy.
func (c LackingColumn) String() string {
	objects := "1 object"
	if c.Objects != 1 {
		objects = fmt.Sprintf("%d objects", c.Objects)
	}
	return fmt.Sprintf("an earlier version wrote %s of the period without %s, which is absent in all of their records; "+
		"to have it, forget these imports and import the logs again", objects, c.Name)
}

// BytesEstimate is a range of bytes.
type BytesEstimate struct {
	Low  int64 `json:"low"`
	High int64 `json:"high"`
}

// PriceEstimate is a range of prices.
type PriceEstimate struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// MillisEstimate is a range of times.
type MillisEstimate struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// ColumnSize is the size of a column in the objects that are read.
type ColumnSize struct {
	Name  string `json:"name"`
	Bytes *int64 `json:"bytes,omitempty" doc:"Compressed size of the column; absent if not known"`
}
