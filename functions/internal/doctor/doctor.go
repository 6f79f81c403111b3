// Package doctor looks at what a deployed program needs, one check after the other, and says in plain words what is
// well and how to mend what is not.
package doctor

import (
	"context"
	"fmt"
	"time"
)

// Check is one thing that is looked at.
type Check struct {
	Name string
	Look Look
	Mend string // what to do when there is a problem
}

// Look looks at one thing. found says in plain words what is there; the error, what is wrong with it. Neither holds
// a secret: whoever asks the doctor reads them.
type Look func(ctx context.Context) (found string, err error)

// Report is what all checks found.
type Report struct {
	OK       bool   `json:"ok"`
	Function string `json:"function"`
	Version  string `json:"version"`
	Checks   []Line `json:"checks"`
}

// Line is what one check found.
type Line struct {
	Check  string `json:"check"`
	Status string `json:"status"` // Well or Problem
	Found  string `json:"found"`
	Mend   string `json:"mend,omitempty"` // of a problem
}

// The states of a line.
const (
	Well    = "ok"
	Problem = "problem"
)

// patience bounds one check, so that what hangs is told beside what does not.
const patience = 5 * time.Second

// Examine runs the checks in order.
func Examine(ctx context.Context, function, version string, checks []Check) Report {
	report := Report{OK: true, Function: function, Version: version, Checks: make([]Line, len(checks))}
	for i, check := range checks {
		report.Checks[i] = check.line(ctx)
		report.OK = report.OK && report.Checks[i].Status == Well
	}
	return report
}

func (c Check) line(ctx context.Context) (line Line) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			line = Line{c.Name, Problem, fmt.Sprintf("the check itself broke: %v", cause), c.Mend}
		}
	}()
	found, err := c.Look(ctx)
	if err != nil {
		return Line{c.Name, Problem, err.Error(), c.Mend}
	}
	return Line{Check: c.Name, Status: Well, Found: found}
}
