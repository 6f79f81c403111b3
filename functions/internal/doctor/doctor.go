// Package doctor checks the prerequisites of a deployed program one after the other, and reports in plain words what it
// found and how to fix each problem.
package doctor

import (
	"context"
	"fmt"
	"time"
)

// Check is the check of one prerequisite.
type Check struct {
	Name string
	// Run makes the check. found describes in plain words what the check found, and err the problem. Neither may
	// contain a secret: anyone who may invoke the function can read them.
	Run    func(ctx context.Context) (found string, err error)
	Remedy string // how to fix a problem
}

// Report is the result of all checks.
type Report struct {
	OK       bool   `json:"ok"`
	Function string `json:"function"`
	Version  string `json:"version"`
	Checks   []Line `json:"checks"`
}

// Line is the result of one check.
type Line struct {
	Check  string `json:"check"`
	Status string `json:"status"` // OK or Problem
	Found  string `json:"found"`
	Remedy string `json:"remedy,omitempty"` // set for a problem
}

// The statuses of a line.
const (
	OK      = "ok"
	Problem = "problem"
)

// timeout limits one check, so that the report is complete even if a check hangs.
const timeout = 5 * time.Second

// Examine runs the checks in order.
func Examine(ctx context.Context, function, version string, checks []Check) Report {
	report := Report{OK: true, Function: function, Version: version, Checks: make([]Line, len(checks))}
	for i, check := range checks {
		report.Checks[i] = check.line(ctx)
		report.OK = report.OK && report.Checks[i].Status == OK
	}
	return report
}

func (c Check) line(ctx context.Context) (line Line) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			line = Line{c.Name, Problem, fmt.Sprintf("the check itself panicked: %v", cause), c.Remedy}
		}
	}()
	found, err := c.Run(ctx)
	if err != nil {
		return Line{c.Name, Problem, err.Error(), c.Remedy}
	}
	return Line{Check: c.Name, Status: OK, Found: found}
}
