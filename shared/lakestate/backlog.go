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
type Backlog struct {
	// Through is a time such that every log that was put before it is imported, refused, or an open import. It is zero
	// as long as no such time is known.
	Through time.Time `json:"through,omitzero"`
	// Empty is the latest time at which the queues were empty, and that is followed by another one LooksApart later.
	Empty time.Time `json:"empty,omitzero"`
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
		b.Through = b.Empty.Add(-emptyMargin)
	}
	b.Empty = at
	return true
}

// CompleteThrough returns a time such that every log that was put into the raw bucket before it is completely visible
// to readers, or was refused, or lacks only rows of lost objects. It is zero if no such time is known.
func (s State) CompleteThrough() time.Time {
	through := s.Backlog.Through
	for _, o := range s.Open {
		if o.Rebuilds == "" && o.Arrived.Before(through) {
			through = o.Arrived
		}
	}
	return through
}
