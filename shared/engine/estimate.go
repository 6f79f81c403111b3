package engine

import (
	"context"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Estimate states what a query would read and cost, as far as that is known before the query runs.
type Estimate struct {
	By         string           // as in Plan
	Partitions []lake.Partition // the hours that would be read
	Objects    *int             // nil: the engine does not know it
	Rows       *int64           // rows of these objects; nil: not known
	Reused     int              // further objects that need not be read, as in Cost
	Bytes      *Bytes           // compressed bytes that would be read; nil: not known
	Columns    []ColumnSize     // the columns that would be read, in the order of the table
	USD        *USD             // nil: the engine does not charge for queries, or the price is not known
	Warnings   []string

	// Lacking lists the columns that the answer depends on and that some of the objects do not have, because an earlier
	// version of the program wrote them. It is empty if the engine does not know which columns objects have.
	Lacking []LackingColumn
}

// LackingColumn is a column that some objects do not have.
type LackingColumn struct {
	Name    string
	Objects int
}

// Bytes is a range of numbers of bytes. Cost.BytesScanned is in it, unless an earlier answer is reused, or figures of
// earlier queries turn out not to be enough.
type Bytes struct{ Low, High int64 }

// USD is a range of prices.
type USD struct{ Low, High float64 }

// ColumnSize is the size of a column in the objects that a query reads.
type ColumnSize struct {
	Name  string
	Bytes *int64 // compressed; nil: not known
}

// Estimator is an engine that estimates queries. Estimate does not read records, and it does not send the query to a
// service.
type Estimator interface {
	Engine
	Estimate(ctx context.Context, q query.Query) (Estimate, error)
}

// Sizes are the sizes of some objects together.
type Sizes struct {
	Objects int
	Bytes   int64 // of the whole objects
}

// SizesOfHours knows the sizes of the objects that queries read.
type SizesOfHours interface {
	// Sizes returns the sizes of the objects of each of the hours from…to, both included, that queries with that state
	// read. Hours without objects are missing. It returns false if there are too many objects to find out.
	Sizes(ctx context.Context, s State, from, to lake.Partition) (_ map[lake.Partition]Sizes, known bool, _ error)
}

// ColumnBytes are the compressed bytes of columns, by name. Columns whose sizes are not known are missing.
type ColumnBytes map[string]int64

// ColumnsOfHours knows how many bytes of objects each column takes.
type ColumnsOfHours interface {
	// Columns returns the bytes of each column in the objects that queries with that watermark read in some hours.
	// hours has the sizes of the objects. In the hours of counted, the bytes are sums over these very objects. In the
	// other hours, they are approximations.
	Columns(ctx context.Context, watermark lake.Partition, hours map[lake.Partition]Sizes) (
		all ColumnBytes, counted map[lake.Partition]ColumnBytes, _ error)
}
