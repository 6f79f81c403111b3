package lakestate

import "time"

// Backlog is what compaction knows of the queue of the messages about raw logs and of its dead letters.
//
// SQS reports only how many messages a queue has, and it counts a message up to CountLag after it was sent or moved.
// S3 sends the message about a log within seconds, sometimes after a minute or longer. Therefore one empty queue proves
// nothing. If the queues were empty at two times, every log that was put before the first one, less a margin, has left
// them: at the first time its message was counted or had been handled, and if S3 sent the message late, or if SQS was
// about to count it as a dead letter, it was counted at the second time.
//
// One message can hide from both counts: the one that replaces the message about a log that is imported in part. Times
// soon after such a message do not count.
//
// A queue that always has messages proves nothing either. A comparison of all raw logs with those that have arrived
// does, also one that several runs make, and it finds the logs of which S3 sent no message.
type Backlog struct {
	// Through is a time such that every log that was put before it is imported, refused, or an open import. It is zero
	// as long as no such time is known.
	Through time.Time `json:"through,omitzero"`
	// Empty is the latest time at which the queues were empty, and that is followed by another one LooksApart later.
	Empty time.Time `json:"empty,omitzero"`
	// Lost is when the oldest log was put that the last comparison found lost, or one that is not complete. It is zero
	// if there was no such log.
	Lost time.Time `json:"lost,omitzero"`
	// Resent is the latest time before a message was replaced by one with the same logs.
	Resent time.Time `json:"resent,omitzero"`
}

// Times by which the counts of SQS are judged.
const (
	// CountLag is how long it takes until a message is counted. AWS documents a minute.
	CountLag = time.Minute
	// LooksApart is the minimum time between the two times at which the queues must be empty.
	LooksApart = 3 * time.Minute
	// ResendTime is how long after Backlog.Resent a message that replaces another one may not be counted yet: the
	// longest run of a function, and CountLag.
	ResendTime = 15*time.Minute + CountLag

	// emptyMargin is the time before an empty queue in which a log may have been put whose message was not counted: up
	// to a minute until S3 sent it, and CountLag.
	emptyMargin = time.Minute + CountLag
)

// SawEmpty records that the queues were empty. It reports whether b has changed.
func (b *Backlog) SawEmpty(at time.Time) bool {
	if at.Before(b.Resent.Add(ResendTime)) {
		return false
	}
	if !b.Empty.IsZero() {
		if at.Before(b.Empty.Add(LooksApart)) {
			return false
		}
		b.advance(b.Empty.Add(-emptyMargin))
	}
	b.Empty = at
	return true
}

// Compared records that all raw logs were compared with those that have arrived. Every log that was put before through
// has arrived, except logs that an earlier version may have imported. Lost is when the oldest log was put that should
// have arrived, or zero. Logs that were put after judged were too young to be found lost. Compared reports whether b has
// changed.
func (b *Backlog) Compared(through, lost, judged time.Time) bool {
	before := *b
	b.advance(through)
	if known := b.Lost; !known.After(judged) || !lost.IsZero() && lost.Before(known) {
		b.Lost = lost
	} // else another comparison has found it since
	return *b != before
}

// FoundLost records that a comparison which is not complete has found a lost log, which was put at that time. It
// reports whether b has changed.
func (b *Backlog) FoundLost(put time.Time) bool {
	if !b.Lost.IsZero() && !put.Before(b.Lost) {
		return false
	}
	b.Lost = put
	return true
}

// advance moves Through to a later time.
func (b *Backlog) advance(to time.Time) {
	if to.After(b.Through) {
		b.Through = to
	}
}

// Handled returns Through, or Lost if that is earlier.
func (b Backlog) Handled() time.Time {
	if !b.Lost.IsZero() && b.Lost.Before(b.Through) {
		return b.Lost
	}
	return b.Through
}

// CompleteThrough returns a time such that every log that was put into the raw bucket before it is completely visible
// to readers, or was refused, or lacks only rows of lost objects. It is zero if no such time is known.
func (s State) CompleteThrough() time.Time {
	through := s.Backlog.Handled()
	for _, o := range s.Open {
		if o.Rebuilds == "" && o.Arrived.Before(through) {
			through = o.Arrived
		}
	}
	return through
}
