// Package repair sets damaged objects of a lake aside, and makes their rows again from the raw logs.
package repair

import (
	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/publication"
)

// Repairer sets damaged objects of a lake aside, and rebuilds their rows from the raw logs.
type Repairer struct {
	*publication.Publisher
	Raw     blob.Store     // the bucket of raw logs
	Options ingest.Options // as for imports
}

// Report is the result of repairs.
type Report struct {
	// Damaged lists the objects that were set aside, because they cannot be read.
	Damaged []string `json:",omitempty"`
	// Rebuilt lists the lost objects whose rows readers see again, and NotRebuilt those that could not be rebuilt, with
	// the reason.
	Rebuilt    []string          `json:",omitempty"`
	NotRebuilt map[string]string `json:",omitempty"`
	Unfinished bool              // the time was up before everything was done
}
