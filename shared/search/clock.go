package search

import (
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/query"
)

// The present of relative times is rounded down to whole steps, so that equal questions within a step are the same
// query. All routes of a deployment must have the same step, so that they agree on what a filter means.
const (
	PresentStep     = 10 * time.Second
	PaidPresentStep = time.Minute // of a deployment whose engine continues queries as a service, such as Athena
)

// Present returns the present of relative times at a moment.
func Present(now time.Time) time.Time { return PresentIn(now, PresentStep) }

// PresentIn returns the present of relative times at a moment, in whole steps.
func PresentIn(now time.Time, step time.Duration) time.Time { return now.UTC().Truncate(step) }

// at returns the request with its present, which is now unless it has one. A page of logs has the present of the
// first page.
func (s *Service) at(r Request, now time.Time) Request {
	if c, ok := parseCursor(r.Cursor); ok && r.Route == Logs && !c.Now.IsZero() {
		r.Now = c.Now
		return r
	}
	if r.Now.IsZero() {
		r.Now = now
	}
	step := PresentStep
	if _, paid := s.engine.(engine.Starter); paid {
		step = PaidPresentStep
	}
	r.Now = PresentIn(r.Now, step)
	return r
}

// ClockOf returns what relative times are relative to: a present, and the zone of today and yesterday, UTC for "". The
// error is a *ParamError of tz.
func ClockOf(present time.Time, tz string) (query.Clock, error) {
	zone, err := zoneOf(tz)
	return query.Clock{Now: present, Zone: zone}, err
}

// clock returns what the relative times of the request are relative to.
func (r Request) clock() (query.Option, error) {
	c, err := ClockOf(r.Now, r.TZ)
	return query.WithClock(c), err
}
