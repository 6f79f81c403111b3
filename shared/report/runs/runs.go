// Package runs keeps the runs of scheduled reports: a run is one report about one period, from the time at which it is
// due until it is delivered.
package runs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/gzipped"
	"github.com/orrery/orrery/shared/report/definition"
)

// State is how far a run is.
type State string

// The states. Those from Delivered on are final.
const (
	Queued    State = "queued"    // waits for its data, or to be tried again
	Running   State = "running"   // a worker asks the questions
	Rendered  State = "rendered"  // the report is made, and is being delivered
	Delivered State = "delivered" // to at least one destination
	Kept      State = "kept"      // the report is made and kept; there is no destination
	Quiet     State = "quiet"     // there was no attack, so nothing was sent
	Missed    State = "missed"    // was not made before a later report was due, or was deleted or paused for too long
	Failed    State = "failed"
)

// States lists the states.
var States = []State{Queued, Running, Rendered, Delivered, Kept, Quiet, Missed, Failed}

// Ended reports whether the state is final.
func (s State) Ended() bool {
	return slices.Contains([]State{Delivered, Kept, Quiet, Missed, Failed}, s)
}

// Run is a run.
type Run struct {
	ID         string
	Config     string
	Report     string // name of the definition
	Version    int    // of the definition
	From, To   time.Time
	Due        time.Time // when it was due, or requested
	Queued     time.Time // when it was queued, if that was after it was due; zero in runs of earlier versions
	By         string    // name of the key that requested it; "": it was scheduled
	Branches   []string  // of the definition
	State      State
	Reason     string    // why it waits or failed
	Verdict    string    // "": not made yet
	Incomplete bool      // it was made before its data was complete
	Early      bool      // it was requested, and made before late logs had their time to arrive
	Partial    bool      // parts are missing
	HasReport  bool      `json:",omitempty"` // the store has had its report; it keeps those of the newest KeptReports runs
	Attempts   int       // to make it
	Next       time.Time // when to try again
	Lease      time.Time // until then a worker is at it
	Ended      time.Time
	Deliveries []Delivery

	Revision int // is increased by every update
}

// Delivery is the delivery of a run to a destination.
type Delivery struct {
	Destination definition.Destination
	State       DeliveryState
	Attempts    int
	Unknown     int       // attempts with an unknown outcome, because the worker ended
	At          time.Time // when it was delivered, or tried last
	Next        time.Time
	Reason      string   // why it failed, or which addresses were refused
	Note        string   // which addresses were refused for good
	Left        []string // addresses of a mail that do not have it yet; nil before the first attempt, and if none has it
}

// DeliveryState is how far a delivery is.
type DeliveryState string

// The states of deliveries.
const (
	Waiting DeliveryState = "waiting"
	Sent    DeliveryState = "delivered"
	Refused DeliveryState = "failed"
)

// File is a file of a rendered report, for one of its deliveries.
type File struct {
	Delivery int // KeptReport: for readers, when the run has ended
	Name     string
	Content  []byte
}

// KeptReport is the number of the delivery of the file that a store keeps when the run has ended, until KeptReports
// later runs of the report have one. Files does not return it.
const KeptReport = -1

// KeptReports is the number of runs of a report whose reports are kept.
const KeptReports = 30

// MaxKept is the maximum size of a report that is kept, in bytes with gzip. An item of a table has 400 KB.
const MaxKept = 350_000

// Keep returns the file by which a store keeps a report. ok is false if it is too large.
func Keep(report []byte) (_ File, ok bool) {
	content := gzipped.Of(report)
	return File{Delivery: KeptReport, Name: "report.json.gz", Content: content}, len(content) <= MaxKept
}

// Unpacked returns the report of a file that Keep has made.
func Unpacked(content []byte) ([]byte, error) {
	report, err := gzipped.Text(content)
	if err != nil {
		return nil, fmt.Errorf("read a kept report: %w", err)
	}
	return report, nil
}

// Readable reports which runs of a list of the newest ones, those that were due last first, have a report that is kept.
func Readable(list []Run) []bool {
	readable, n := make([]bool, len(list)), 0
	for i, r := range list {
		if r.HasReport && n < KeptReports {
			readable[i] = true
			n++
		}
	}
	return readable
}

// IDOf returns the ID of the run of a version of a definition about a period. There is one run for each.
func IDOf(config, report string, version int, from, to time.Time) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d/%d/%d", config, report, version, from.UnixMilli(), to.UnixMilli()))
	return hex.EncodeToString(sum[:16])
}

// New returns a queued run of a version of a definition about a period.
func New(config, report string, version int, d definition.Stored, from, to, due time.Time) Run {
	run := Run{
		ID: IDOf(config, report, version, from, to), Config: config, Report: report, Version: version,
		From: from.UTC(), To: to.UTC(), Due: due.UTC(), Branches: d.Branches, State: Queued,
	}
	for _, to := range d.Deliver {
		run.Deliveries = append(run.Deliveries, Delivery{Destination: to, State: Waiting})
	}
	return run
}

// Again returns a run that has failed or was missed as one that is queued again. Destinations that have the report do
// not get it again.
func (r Run) Again(by string, at time.Time) Run {
	r.State, r.By, r.Due, r.Reason, r.Attempts = Queued, by, at.UTC(), "", 0
	r.Queued = time.Time{}
	r.Verdict, r.Incomplete, r.Early, r.Partial = "", false, false, false
	r.Next, r.Lease, r.Ended = time.Time{}, time.Time{}, time.Time{}
	r.Deliveries = slices.Clone(r.Deliveries)
	for i, d := range r.Deliveries {
		if d.State == Refused {
			r.Deliveries[i] = Delivery{Destination: d.Destination, State: Waiting}
		}
	}
	return r
}

// Store stores runs. Package runstest has the test suite for implementations.
type Store interface {
	// Create stores a new run durably. The error is of kind fault.Conflict if there is a run with its ID.
	Create(ctx context.Context, r Run) error
	// Run returns a run, or an error of kind fault.NotFound.
	Run(ctx context.Context, id string) (Run, error)
	// List returns the runs of a report, those that were due last first, at most limit.
	List(ctx context.Context, config, report string, limit int) ([]Run, error)
	// Latest returns when the latest scheduled run of a report was due, or the zero time if there is none.
	Latest(ctx context.Context, config, report string) (time.Time, error)
	// Unfinished returns the runs that have not ended, those that were due first first.
	Unfinished(ctx context.Context) ([]Run, error)
	// Update replaces a run durably, and increases its revision, and adds files. A run in another state than
	// Rendered has no files but the one that is kept: the others are removed. The error is of kind fault.Conflict if the
	// run has another revision, because of another writer.
	Update(ctx context.Context, r Run, files ...File) error
	// Files returns the files of a run, by delivery and name. The error is ErrLost if some are missing or damaged.
	Files(ctx context.Context, id string) ([]File, error)
	// Report returns the content of the file of a run that is kept, or an error of kind fault.NotFound.
	Report(ctx context.Context, id string) ([]byte, error)
}

// ErrLost is the error of files that are missing or damaged; find it with errors.Is.
var ErrLost = errors.New("lost")

// Trimmer is a Store that removes old runs when it is asked to. Other stores remove them by themselves.
type Trimmer interface {
	// Trim removes runs that have ended: all but the newest keep of each report, and those that were due before an
	// instant. The latest scheduled run of a report stays, because Latest returns its time. It also removes the reports
	// of all but the newest KeptReports runs that have one.
	Trim(ctx context.Context, keep int, before time.Time) error
}

// NotFound returns the error of a store that does not have the run.
func NotFound(id string) error {
	return fault.New(fault.NotFound, "there is no run %q", id)
}

// NoReport returns the error of a store that does not keep the report of the run.
func NoReport(id string) error {
	return fault.New(fault.NotFound, "the report of the run %q is not kept", id)
}

// Exists returns the error of a store that has the run already.
func Exists(id string) error {
	return fault.New(fault.Conflict, "the run %s exists already", id)
}

// Changed returns the error of a store in which the run has another revision.
func Changed(id string, revision int) error {
	return fault.New(fault.Conflict, "the run %s has no longer the revision %d", id, revision)
}
