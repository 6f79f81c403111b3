package running

import "time"

// SetTimes sets the time of a delivery, and how long it may go on after that.
func (r *Runner) SetTimes(deliver, grace time.Duration) { r.deliverTime, r.grace = deliver, grace }

// DeliveryTime is the least time in which a delivery begins.
const DeliveryTime = deliverTime + graceTime + 2*recordTime

// RecordPauses are the pauses before the repetitions of a record.
var RecordPauses = recordPauses
