package rawbucket

import (
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// Refusal is the reason why a log should not be put: its records would end in quarantine.
type Refusal struct{ reason string }

func (r *Refusal) Error() string { return r.reason }

// Check compares the times of the first and the last lines of a log with those that the deployment keeps. now is the
// time when the log is put. The error is a *Refusal; the notes are for the user.
func (b *Bucket) Check(l *Log, history bool, now time.Time) (notes []string, err error) {
	if l.unknown != nil {
		return nil, refuseUnknown(l.unknown)
	}
	s := l.sample
	if !s.Whole {
		notes = append(notes, fmt.Sprintf("the log has more than %d GiB of text, so its last lines were not checked",
			maxSampled>>30))
	}
	if s.Oldest.IsZero() {
		return notes, refuseLines(s.Problem)
	}
	if !b.keeps.known {
		return append(notes, "the deployment is of an earlier version, which does not report what times it keeps, "+
			"so those of the log were not checked"), nil
	}
	oldest := now.Add(-b.keeps.horizon)
	limited := b.keeps.horizon > 0 && !history
	switch {
	case s.Oldest.Year() < b.keeps.firstYear:
		return notes, refuseYear(s.Oldest, b.keeps)
	case s.Newest.After(now.Add(lake.ProjectedAhead)):
		return notes, refuseFuture(s.Newest)
	case limited && s.Newest.Before(oldest):
		return notes, refuseOld(s.Newest, b.keeps)
	case limited && s.Oldest.Before(oldest):
		notes = append(notes, noteOld(s.Oldest, b.keeps))
	}
	return notes, nil
}
