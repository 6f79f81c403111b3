package running

import (
	"context"
	"time"
)

// SetTimes sets the time of a delivery, and how long it may go on after that.
func (r *Runner) SetTimes(deliver, grace time.Duration) { r.deliverTime, r.grace = deliver, grace }

// DeliveryTime is the least time in which a delivery begins.
const DeliveryTime = deliverTime + graceTime + 2*recordTime

// SetPause replaces the pauses before the repetitions of a record.
func (r *Runner) SetPause(pause func(ctx context.Context, d time.Duration) error) { r.sleep = pause }

// RecordPauses are these pauses.
var RecordPauses = recordPauses
