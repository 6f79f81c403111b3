package engine

import (
	"context"
	"sync"
)

type callerKey struct{}

// WithCaller returns a context of queries of a caller, who shares memory with other callers.
func WithCaller(ctx context.Context, caller string) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// CallerOf returns the caller of the queries of a context, or "".
func CallerOf(ctx context.Context) string {
	caller, _ := ctx.Value(callerKey{}).(string)
	return caller
}

// Memory counts the memory in which running queries keep their figures. All queries of one caller together get at most
// a share of it, so that something is left for other callers. A nil Memory has no limit.
type Memory struct {
	limit, share int64 // bytes

	mu    sync.Mutex
	used  int64
	by    map[string]int64 // by caller
	given chan struct{}    // closed when memory is given back; nil: nobody waits
}

// NewMemory returns a Memory of limit bytes. One caller gets at most share bytes.
func NewMemory(limit, share int64) *Memory {
	return &Memory{limit: limit, share: share, by: map[string]int64{}}
}

// Take takes bytes for a query of the caller. It returns false, and takes nothing, if that is more than what is left,
// or more than the share of the caller.
func (m *Memory) Take(caller string, bytes int64) bool {
	if m == nil {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.has(caller, bytes) {
		return false
	}
	m.used += bytes
	m.by[caller] += bytes
	return true
}

func (m *Memory) has(caller string, bytes int64) bool {
	return m.used+bytes <= m.limit && m.by[caller]+bytes <= m.share
}

// Wait waits until Take would take bytes for a query of the caller. It returns the error of ctx if that ends first.
func (m *Memory) Wait(ctx context.Context, caller string, bytes int64) error {
	for {
		given := m.next(caller, bytes)
		if given == nil {
			return nil
		}
		select {
		case <-given:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// next returns a channel that is closed when memory is given back, or nil if there is enough now.
func (m *Memory) next(caller string, bytes int64) <-chan struct{} {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.has(caller, bytes) {
		return nil
	}
	if m.given == nil {
		m.given = make(chan struct{})
	}
	return m.given
}

// Give gives back bytes that were taken for queries of the caller.
func (m *Memory) Give(caller string, bytes int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= bytes
	if m.by[caller] -= bytes; m.by[caller] == 0 {
		delete(m.by, caller)
	}
	if m.given != nil {
		close(m.given)
		m.given = nil
	}
}
