// Package definition defines scheduled reports: what a report is about, when it is made, and to whom it goes. Their
// versions are documents.
package definition

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/document"
)

// Kind is the kind of the documents that hold definitions.
const Kind document.Kind = "report"

// DocumentOf identifies a definition.
func DocumentOf(config, name string) document.ID {
	return document.ID{Kind: Kind, Config: config, Name: name}
}

// The limits of a definition. Titles are in characters, MaxBody is in bytes.
const (
	MaxTitle        = 120
	MaxDestinations = 10
	MaxAddresses    = 20 // of a destination
	MaxBody         = 100_000
)

// The periods that a report can be about.
const (
	Hour  = "hour"
	Day   = "day"
	Week  = "week" // from Monday
	Month = "month"
)

// What a report is compared with.
const (
	Previous    = "previous"     // the period before
	SameWeekday = "same-weekday" // the same day, or the same hour, a week before
	NoCompare   = "none"
)

// When a report is sent.
const (
	Always  = "always"
	Attacks = "attacks" // only if there was an attack; hourly reports also after the last one
)

// The values of the members that have a closed set of them. The first one is the default, except of the period.
var (
	Periods   = []string{Hour, Day, Week, Month}
	Templates = []string{"traffic", "attack"}
	Compares  = []string{Previous, SameWeekday, NoCompare}
	Whens     = []string{Always, Attacks}
	Weekdays  = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
)

// The defaults of other members.
const (
	DefaultAt = "07:00"
	DefaultTZ = "UTC"
)

// Definition is the definition of a scheduled report.
type Definition struct {
	Title    string        `json:"title,omitempty" doc:"Title of the report"`
	Filters  string        `json:"filters" doc:"Canonical query string without a period; empty for all requests"`
	Period   string        `json:"period" enum:"hour,day,week,month" doc:"The report is about the last hour, day, week or month; a week begins on Monday"`
	At       string        `json:"at,omitempty" example:"07:00" doc:"Time of day at which the report is made, in the zone of the calendar; absent for hourly reports"`
	Weekday  string        `json:"weekday,omitempty" example:"monday" doc:"Day on which a weekly report is made"`
	TZ       string        `json:"tz" example:"Europe/Berlin" doc:"Time zone of the calendar"`
	Template string        `json:"template" enum:"traffic,attack"`
	Compare  string        `json:"compare" enum:"previous,same-weekday,none"`
	When     string        `json:"when" enum:"always,attacks" doc:"always: every report is sent; attacks: only reports about attacks are sent"`
	Deliver  []Destination `json:"deliver" doc:"Where the report is sent; if empty, the report is only kept"`
	MaxBytes int64         `json:"max_bytes,omitempty" doc:"The report is not made if its queries would read more; absent: no limit"`
	Paused   bool          `json:"paused"`
	Reason   string        `json:"paused_because,omitempty" doc:"Why the server paused the report"`
}

// Destination is where a report is sent: to addresses, or to a destination that the operator has named.
type Destination struct {
	Mail []string `json:"mail,omitempty"`
	To   string   `json:"to,omitempty"`
}

// String returns the destination for people: its name, or its addresses.
func (d Destination) String() string {
	if d.To != "" {
		return d.To
	}
	return strings.Join(d.Mail, ", ")
}

// Stored is a definition as it is stored: with what the key that wrote it may see.
type Stored struct {
	Definition
	Branches []string `json:"branches,omitempty"` // of the key; nil: all
	Key      string   `json:"key,omitempty"`      // ID of the key; "": written without one
}

// Text returns the definition as the text of a document.
func (s Stored) Text() string { return document.JSON(s) }

// Read returns the definition of a document.
func Read(text string) (Stored, error) {
	var s Stored
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return Stored{}, fmt.Errorf("read the definition of a report: %w", err)
	}
	return s, nil
}

// VisibleTo reports whether a caller who is limited to branches may see a report of others: they must include all
// branches that the report is about. No branches are all of them.
func VisibleTo(callers, frozen []string) bool {
	if len(callers) == 0 {
		return true
	}
	for _, branch := range frozen {
		if !slices.Contains(callers, branch) {
			return false
		}
	}
	return len(frozen) > 0
}
