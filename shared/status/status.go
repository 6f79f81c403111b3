// Package status describes an installation by what it knows without reading data: from its manifest and ledger, or from
// the state and the listing of a lake in the cloud.
package status

import (
	"context"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// NewestHours is the number of hours, up to that of the newest record, that a Status lists.
const NewestHours = 72

// Status describes an installation. What it does not know is nil or zero.
type Status struct {
	Engine   string        // name of the engine that answers queries
	Extent   lake.Extent   // the period of the records; Rows is only compared with 0, Records is their number
	Complete time.Time     // every log handed in before this time is in the data, or was refused
	Kept     *Retention    // nil: records are kept for ever, or it is not known how long
	Records  *int64        // in the data
	Objects  *int          // that hold them
	Bytes    *int64        // of these objects
	Hours    []Hour        // those with objects among the NewestHours, newest first
	Ingest   *Ingest       // nil: the installation does not import, or does not know
	Price    *Price        // of queries; nil: the engine charges nothing, or the price is not known
	Wait     time.Duration // how long a request waits for its query
	Values   bool          // the engine finds values of fields
	Demo     bool          // the records come from the demo
}

// Retention is how long records are kept.
type Retention struct {
	Keep time.Duration
	From time.Time // older records have been removed
}

// Hour describes the objects of an hour.
type Hour struct {
	Partition lake.Partition
	Objects   int
	Records   *int64 // nil: not known
	Bytes     int64
	Compacted bool // nothing is left to merge
}

// Ingest describes the imports of an installation.
type Ingest struct {
	Watching   bool      // logs are imported when they are put into the folder or bucket of raw logs
	LastSource string    // name of the log of the latest import; "" if there was none
	LastAt     time.Time // when it was imported
	Rejected   *int64    // lines of imported logs that are not records and were put into quarantine; nil: not known
	Code       string    // the reason of the newest of them; "" if there is none, or it is not known
	Unreadable string    // the log of which the file of these lines is damaged, so that Code is not known; "": none
}

// Price is the price of queries.
type Price struct {
	USDPerTB     float64 // of bytes that are read
	MinimumBytes int64   // that a query is charged for
}

// Source knows the status of an installation.
type Source interface {
	Status(ctx context.Context) (Status, error)
}
