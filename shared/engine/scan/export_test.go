package scan

// WithHash returns options for a scan that matches the keys of topx by another hash.
func (o Options) WithHash(hash func(key []byte) uint64) Options {
	o.hash = hash
	return o
}

// ForgetFooters empties the cache of footers.
func ForgetFooters() {
	footers.mu.Lock()
	defer footers.mu.Unlock()
	clear(footers.known)
}
