package scan

import (
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/query"
)

// counted counts texts. If memory is short, it counts only a part of them, and the others in later passes, so that any
// number of different texts can be counted.
type counted[C any] struct {
	mu     sync.Mutex
	part   partOfTexts   // that is counted now
	later  []partOfTexts // that will be counted in later passes
	table  textTable
	texts  query.PackedTexts // by their places
	counts []C               // of the texts
	size   int64
}

func newCounted[C any](bytes int64) counted[C] { return counted[C]{size: bytes} }

// partOfTexts holds the texts whose hashes begin with the given bits. The zero value holds all texts.
type partOfTexts struct {
	bits   uint
	prefix uint32
}

// maxPartBits limits the number of passes. With so many parts, short memory has another reason than the texts.
const maxPartBits = 8

func (p partOfTexts) has(hash uint32) bool { return p.bits == 0 || hash>>(32-p.bits) == p.prefix }

// halves divides the part in two.
func (p partOfTexts) halves() (first, second partOfTexts) {
	return partOfTexts{p.bits + 1, 2 * p.prefix}, partOfTexts{p.bits + 1, 2*p.prefix + 1}
}

// of returns the counts of a text, unless the text belongs to another part. The lock must be held.
func (c *counted[C]) of(text []byte, hash textHash) *C {
	if !c.part.has(hash.check) {
		return nil
	}
	place := c.table.add(hash)
	if place == len(c.counts) {
		c.counts = append(c.counts, *new(C))
		c.texts.Add(text)
	}
	return &c.counts[place]
}

// bytes returns about how much memory the texts and counts take.
func (c *counted[C]) bytes() int64 {
	return c.table.bytes() + c.texts.Memory() + int64(cap(c.counts))*c.size
}

// halve leaves half of the texts to a later pass. It returns the number of texts that it has dropped.
func (c *counted[C]) halve() (dropped int) {
	first, second := c.part.halves()
	c.part, c.later = first, append(c.later, second)
	half := counted[C]{}
	for _, slot := range c.table.slots {
		if slot.place != 0 && first.has(slot.check) {
			half.table.add(textHash{slot.hash, slot.check})
			half.texts.Add(c.texts.At(slot.place - 1))
			half.counts = append(half.counts, c.counts[slot.place-1])
		}
	}
	dropped = len(c.counts) - len(half.counts)
	c.table, c.texts, c.counts = half.table, half.texts, slices.Clip(half.counts)
	return dropped
}

// next forgets the texts that have been counted, and reports whether there is another part to count.
func (c *counted[C]) next() bool {
	c.table, c.texts, c.counts = textTable{}, query.PackedTexts{}, nil
	if len(c.later) == 0 {
		return false
	}
	last := len(c.later) - 1
	c.part, c.later = c.later[last], c.later[:last]
	return true
}

// countedLists are the lists of texts that are counted in one pass. They share the memory of a scan.
type countedLists[C any] struct {
	run     *run
	all     []*counted[C]
	dropped func(n int) // called with the number of texts that a list leaves to a later pass; may be nil
}

// reserve counts memory of the lists. If it is short, the largest list leaves half of its texts to a later pass. No list
// may be locked.
func (l *countedLists[C]) reserve(bytes int64) error {
	return l.run.reserveOr(bytes, l.makeRoom)
}

// count calls count for the lists that are open, and counts the memory by which each has grown.
func (l *countedLists[C]) count(open []int, count func(i int) (grown int64, err error)) error {
	for _, i := range open {
		grown, err := count(i)
		if err == nil {
			err = l.reserve(grown)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// makeRoom halves the largest list. It reports whether that has freed memory.
func (l *countedLists[C]) makeRoom() bool {
	var largest *counted[C]
	most := int64(0)
	for _, c := range l.all {
		c.mu.Lock()
		if bytes := c.bytes(); bytes > most && c.part.bits < maxPartBits {
			largest, most = c, bytes
		}
		c.mu.Unlock()
	}
	if largest == nil {
		return false
	}
	largest.mu.Lock()
	defer largest.mu.Unlock()
	before := largest.bytes()
	n := largest.halve()
	if l.dropped != nil {
		l.dropped(n)
	}
	l.run.unreserve(before - largest.bytes())
	return true
}

// eachPart calls pass for every part of the lists. pass gets the indexes of the lists of which a part is left to count.
func (l *countedLists[C]) eachPart(pass func(open []int) error) error {
	open := make([]int, len(l.all))
	for i := range open {
		open[i] = i
	}
	for len(open) > 0 {
		if err := pass(open); err != nil {
			return err
		}
		open = slices.DeleteFunc(open, func(i int) bool {
			l.run.unreserve(l.all[i].bytes())
			return !l.all[i].next()
		})
	}
	return nil
}

// meet sets w.met to the codes for which counts holds, and w.hashes to the hashes of their texts.
func (w *worker) meet(entries texts, counts func(code int32) bool) {
	w.met, w.hashes = w.met[:0], w.hashes[:0]
	for code := range int32(entries.Len()) {
		if counts(code) {
			w.met = append(w.met, code)
			w.hashes = append(w.hashes, w.run.textHash(entries.At(code)))
		}
	}
}
