package api

import (
	"encoding/hex"
	"net/netip"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/keys"
)

// wrongKeys limits the number of unknown keys that an address can send, so that keys cannot be guessed quickly. Keys
// that were right before are not affected, because users behind a proxy share its address. It counts in this process
// only.
type wrongKeys struct {
	now func() time.Time

	mu     sync.Mutex
	minute int64                // the counts are of this minute, since 1970
	counts map[netip.Prefix]int // by address
	known  map[keys.Hash]bool   // keys that were right
}

const (
	maxWrongKeys = 20     // of one address, in a minute
	maxAddresses = 10_000 // that are counted; further ones are only counted in the next minute
)

func newWrongKeys(now func() time.Time) *wrongKeys {
	return &wrongKeys{now: now, counts: map[netip.Prefix]int{}, known: map[keys.Hash]bool{}}
}

// refuses reports whether the address of a request has sent too many unknown keys. It returns false if one of the
// candidates was right before.
func (w *wrongKeys) refuses(c *call, candidates []string) bool {
	address, ok := addressOf(c.r.RemoteAddr)
	if !ok {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.startMinute()
	if w.counts[address] < maxWrongKeys {
		return false
	}
	for _, key := range candidates {
		if w.known[keys.HashOf(key)] {
			return false
		}
	}
	return true
}

// right records that a key is right.
func (w *wrongKeys) right(key string) {
	hash := keys.HashOf(key)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known[hash] = true
}

// count counts a request with unknown keys. The log gets the beginning of the hash of the first one, by which an
// operator can recognise a key without knowing it.
func (w *wrongKeys) count(c *call, candidates []string) {
	hash := keys.HashOf(candidates[0])
	c.wrongKey = hex.EncodeToString(hash[:4])
	address, ok := addressOf(c.r.RemoteAddr)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.startMinute()
	if n := w.counts[address]; n > 0 || len(w.counts) < maxAddresses {
		w.counts[address] = n + 1
	}
}

// startMinute forgets the counts of the last minute. The caller holds the lock.
func (w *wrongKeys) startMinute() {
	if minute := w.now().Unix() / 60; minute != w.minute {
		w.minute = minute
		clear(w.counts)
	}
}

// addressOf returns the address of a client, or of an IPv6 client its /64, which usually is one customer.
func addressOf(remote string) (netip.Prefix, bool) {
	ip, err := netip.ParseAddr(remote) // behind API Gateway there is no port
	if err != nil {
		both, err := netip.ParseAddrPort(remote)
		if err != nil {
			return netip.Prefix{}, false
		}
		ip = both.Addr()
	}
	bits := 32
	if ip = ip.Unmap().WithZone(""); ip.Is6() {
		bits = 64
	}
	prefix, err := ip.Prefix(bits)
	return prefix, err == nil
}
