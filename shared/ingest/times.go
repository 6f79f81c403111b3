package ingest

import (
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/record"
)

// The times that partitions and engines support: the years 1970 to 9999.
var (
	earliest = time.Unix(0, 0).UTC()
	latest   = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// times is the period in which the times of records must be.
type times struct {
	from, until int64  // in Unix milliseconds, without until
	reason      string // of rejections
	horizon     int64  // in Unix milliseconds
	tooOld      string // reason of rejections of times before the horizon
	kept        int64  // in Unix milliseconds; see Options.KeptFrom
}

// times returns the period that the options allow.
func (o Options) times() times {
	from, until := earliest, latest
	if o.From.After(from) {
		from = o.From.UTC()
	}
	if !o.Until.IsZero() && o.Until.Before(until) {
		until = o.Until.UTC()
	}
	t := times{from: from.UnixMilli(), until: until.UnixMilli(), reason: "the time is outside the years 1970 to 9999"}
	if from != earliest || until != latest {
		t.reason = fmt.Sprintf("the time is outside %s to %s, the period of the partitions of this lake",
			from.Format(time.RFC3339), until.Format(time.RFC3339))
	}
	t.horizon, t.kept = t.from, t.from
	if !o.KeptFrom.IsZero() {
		t.kept = o.KeptFrom.UnixMilli()
	}
	if o.Horizon > 0 {
		horizon := o.Arrival.UTC().Add(-o.Horizon)
		t.horizon = horizon.UnixMilli()
		t.tooOld = fmt.Sprintf("the time is before %s, the horizon of %g days before the log arrived",
			horizon.Format(time.RFC3339), o.Horizon.Hours()/24)
	}
	return t
}

// expired reports whether a time is in the period, but before Options.KeptFrom.
func (t times) expired(ms int64) bool { return t.from <= ms && ms < min(t.kept, t.until) }

// check rejects a time outside the period or before the horizon.
func (t times) check(ms int64) error {
	if ms < t.from || ms >= t.until {
		return &record.Reject{Code: TimeOutOfRange, Message: t.reason}
	}
	if ms < t.horizon {
		return &record.Reject{Code: TooOld, Message: t.tooOld}
	}
	return nil
}
