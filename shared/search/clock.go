package search

import (
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/query"
)

const (
	presentStep     = 10 * time.Second
	paidPresentStep = time.Minute // of an engine that continues queries as a service, such as Athena
)

// Present returns the present of relative times at a moment. It is rounded down, so that equal questions within some
// seconds are the same query.
func Present(now time.Time) time.Time { return now.UTC().Truncate(presentStep) }

// at returns the request with its present, which is now unless it has one. A page of logs has that of the first page.
func (s *Service) at(r Request, now time.Time) Request {
	if c, ok := parseCursor(r.Cursor); ok && r.Route == Logs && !c.Now.IsZero() {
		r.Now = c.Now
	}
	if !r.Now.IsZero() {
		return r
	}
	r.Now = Present(now)
	if _, paid := s.engine.(engine.Starter); paid {
		r.Now = r.Now.Truncate(paidPresentStep)
	}
	return r
}

// clock returns what the relative times of the request are relative to.
func (r Request) clock() (query.Option, error) {
	zone, err := zoneOf(r.TZ)
	return query.WithClock(query.Clock{Now: r.Now, Zone: zone}), err
}
