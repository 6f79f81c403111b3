package access

import (
	"context"
	"encoding/hex"
	"net/netip"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/keys"
)

// keyThrottle limits the number of requests with unknown keys that an address can send, so that keys cannot be guessed
// quickly. Keys that were right the last time are not affected, because users behind a proxy share its address. It
// counts in this process only.
type keyThrottle struct {
	now func() time.Time

	mu     sync.Mutex
	minute int64                        // the counts are of this minute, since 1970
	counts map[netip.Prefix]*guessCount // by address
	known  map[keys.Hash]bool           // keys that were right the last time
}

// guessCount counts the requests of an address.
type guessCount struct {
	wrong   int           // that had an unknown key
	open    int           // whose keys are being looked up
	decided chan struct{} // is closed when one of these is decided
}

const (
	maxWrongKeys = 20     // of one address, in a minute
	maxAddresses = 10_000 // that have a count of their own; further ones share one until the next minute
)

func newKeyThrottle(now func() time.Time) *keyThrottle {
	return &keyThrottle{now: now, counts: map[netip.Prefix]*guessCount{}, known: map[keys.Hash]bool{}}
}

// guess is one request that tries keys.
type guess struct {
	limits  *keyThrottle
	address netip.Prefix // invalid if it is not known; then the request is not counted
	counted *guessCount  // has the request as an open one; nil until the request tries a key that is not known
	wrong   bool         // a key was unknown
}

// begin returns the guess of a request, which must be ended.
func (w *keyThrottle) begin(address netip.Prefix) *guess { return &guess{limits: w, address: address} }

// mayTry reports whether a key may be looked up. Every key may if it was right the last time, or if the address has not
// sent too many unknown ones. Requests whose keys are being looked up may turn out to be wrong; if the limit depends
// on them, mayTry waits. So requests at the same time cannot try more keys than one after the other.
func (g *guess) mayTry(ctx context.Context, key keys.Hash) (bool, error) {
	for {
		may, decided := g.enter(key)
		if decided == nil {
			return may, nil
		}
		select {
		case <-decided:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// enter is mayTry without waiting: if the answer is not known yet, it returns a channel that is closed later.
func (g *guess) enter(key keys.Hash) (may bool, decided <-chan struct{}) {
	g.limits.mu.Lock()
	defer g.limits.mu.Unlock()
	if g.limits.known[key] || g.counted != nil {
		return true, nil
	}
	count := g.limits.countOf(g.address)
	switch {
	case count == nil:
		return true, nil
	case count.wrong >= maxWrongKeys:
		return false, nil
	case count.wrong+count.open >= maxWrongKeys:
		return false, count.decided
	}
	count.open++
	g.counted = count
	return true, nil
}

// found records whether a key that was looked up is right. One that is not right any more, because it was revoked or
// has expired, is an unknown key from now on.
func (g *guess) found(key keys.Hash, right bool) {
	g.limits.mu.Lock()
	defer g.limits.mu.Unlock()
	if right {
		g.limits.known[key] = true
		return
	}
	delete(g.limits.known, key)
	g.wrong = true
}

// end counts the request if one of its keys was unknown, also if another one was right: otherwise a caller with a key
// could try others beside it.
func (g *guess) end() {
	g.limits.mu.Lock()
	defer g.limits.mu.Unlock()
	count := g.counted
	if count != nil {
		count.open--
		close(count.decided)
		count.decided = make(chan struct{})
	} else if g.wrong {
		count = g.limits.countOf(g.address)
	}
	if count != nil && g.wrong {
		count.wrong++
	}
}

// countOf returns the count of an address in this minute, or nil if the address is not known. Addresses beyond the
// maximum share one count. The caller holds the lock.
func (w *keyThrottle) countOf(address netip.Prefix) *guessCount {
	if minute := w.now().Unix() / 60; minute != w.minute {
		w.minute = minute
		clear(w.counts)
	}
	if !address.IsValid() {
		return nil
	}
	count := w.counts[address]
	if count == nil && len(w.counts) >= maxAddresses {
		address = netip.Prefix{} // of all others
		count = w.counts[address]
	}
	if count == nil {
		count = &guessCount{decided: make(chan struct{})}
		w.counts[address] = count
	}
	return count
}

// shownHash returns the beginning of the hash of a key, by which an operator can recognise the key in the log without
// knowing it.
func shownHash(key keys.Hash) string { return hex.EncodeToString(key[:4]) }
