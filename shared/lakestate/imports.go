package lakestate

import "time"

// Imports sums up the committed imports of a lake.
type Imports struct {
	Last     string    `json:"last,omitempty"` // key of the raw log of the latest import
	At       time.Time `json:"at,omitzero"`    // of the latest import
	Rejected int64     `json:"rejected,omitempty"`
	Code     string    `json:"code,omitempty"` // reason of the newest rejected line
	// Whole is set if Rejected has the lines of all imports. It is not if an earlier version, which did not sum them
	// up, has imported logs.
	Whole bool `json:"whole,omitempty"`
}

// AddImport adds a committed import to the sums: that of the log with the key, with so many rejected lines, of which
// the last one has the code.
func (s *State) AddImport(key string, at time.Time, rejected int64, code string) {
	i := &s.Imports
	if i.At.IsZero() {
		i.Whole = s.Version == 0 && len(s.Open) == 0
	}
	i.Last, i.At = key, at.UTC()
	i.Rejected += rejected
	if rejected > 0 {
		i.Code = code
	}
}
