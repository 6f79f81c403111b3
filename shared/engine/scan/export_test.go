package scan

// WithHash returns options for a scan that matches the keys of topx by another hash.
func (o Options) WithHash(hash func(key []byte) uint64) Options {
	o.hash = hash
	return o
}

// ForgetFooters empties the cache of footers.
func ForgetFooters() { footers.clear() }

// SetListSizes makes the lists of new rollups small, until undo is called.
func SetListSizes(texts, undivided, known, slowest, blocked, few int) (undo func()) {
	before := sizes
	sizes = listSizes{texts, undivided, known, slowest, blocked, before.rest, few}
	return func() { sizes = before }
}

// SetMostRest changes the limit of keys above which new rollups do not list the figures of all, until undo is called.
func SetMostRest(n int) (undo func()) {
	before := sizes
	sizes.rest = n
	return func() { sizes = before }
}

// SetMaxDistinct changes the limit of different values, until undo is called.
func SetMaxDistinct(n int64) (undo func()) {
	before := maxDistinct
	maxDistinct = n
	return func() { maxDistinct = before }
}

// SetPartSizes makes the lists of new parts small, until undo is called.
func SetPartSizes(texts, undivided, known, slowest, blocked, few int) (undo func()) {
	before := partSizes
	partSizes = listSizes{texts, undivided, known, slowest, blocked, 0, few}
	return func() { partSizes = before }
}
