package search

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/orrery/orrery/shared/fault"
)

// Line lets a bounded number of queries use the engine at once; the rest wait in line, and are refused when
// the line is long. A nil Line lets everybody in.
type Line struct {
	slots   chan struct{}
	waiting atomic.Int64
	longest int64
	retry   time.Duration
}

// NewLine lets atOnce queries run, longest others wait, and tells those refused to try again after retry.
func NewLine(atOnce, longest int, retry time.Duration) *Line {
	return &Line{slots: make(chan struct{}, max(1, atOnce)), longest: int64(max(0, longest)), retry: retry}
}

// Enter waits for a place and returns what gives it back. Errors: fault.Unavailable when the line is long,
// fault.Timeout or fault.Canceled when ctx ends first.
func (l *Line) Enter(ctx context.Context) (leave func(), err error) {
	if l == nil {
		return func() {}, nil
	}
	leave = func() { <-l.slots }
	select {
	case l.slots <- struct{}{}:
		return leave, nil
	default:
	}
	if l.waiting.Add(1) > l.longest {
		l.waiting.Add(-1)
		return nil, errBusy(l.retry)
	}
	defer l.waiting.Add(-1)
	select {
	case l.slots <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, l.gaveUp(ctx)
	}
}

func (l *Line) gaveUp(ctx context.Context) error {
	if ctx.Err() == context.Canceled {
		return &fault.Error{Kind: fault.Canceled, Message: "the request was cancelled", Err: ctx.Err()}
	}
	return &fault.Error{Kind: fault.Timeout, Message: "time ran out while the query waited in line", RetryAfter: l.retry, Err: ctx.Err()}
}
