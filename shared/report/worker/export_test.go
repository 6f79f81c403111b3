package worker

import "time"

// SetTimes sets the time of a delivery, and how long it may go on after that.
func (r *Runner) SetTimes(deliver, grace time.Duration) { r.deliverTime, r.grace = deliver, grace }

// DeliveryTime is the least time in which a delivery begins.
const DeliveryTime = deliverTime + graceTime + 2*recordTime

// RecordPauses are the pauses before each repetition of a write that records a delivery.
var RecordPauses = recordPauses
