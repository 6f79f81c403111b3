package scan

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// breakTies completes the winners of labels that have ties at their limits: among keys that rank equally, the smallest
// texts win.
func (t *topX) breakTies(ctx context.Context) error {
	for n, k := range t.keys {
		if len(k.ties) > 0 {
			if err := orDivide(k, t.readTies(ctx, n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// placeWinners gives every winner, spare key and suspect a place. Memory of the other keys is given back.
func (k *keys) placeWinners() error {
	for label, winners := range k.ranked {
		k.ranked[label] = slices.Clone(winners)
		for _, w := range winners {
			k.places.add(w.hash)
		}
	}
	k.first = k.places.n
	for _, hash := range k.spares {
		k.places.add(hash)
	}
	k.texts = make([][]byte, k.places.n)
	for _, hash := range k.rest {
		k.places.add(hash)
	}
	k.figures = make([]figures, k.places.n)
	for _, hash := range k.suspects {
		k.places.add(hash)
	}
	k.checks = make([]keyCheck, k.places.n)
	k.ties, k.spares, k.rest, k.suspects = nil, nil, nil, nil
	return k.hold(0)
}

// readTies reads the texts of the ties of a column.
func (t *topX) readTies(ctx context.Context, column int) error {
	k := t.keys[column]
	var tied hashTable
	for _, ties := range k.ties {
		for _, of := range ties {
			tied.add(of.hash)
		}
	}
	texts := reservation{run: t.run}
	defer texts.free()
	if err := texts.hold(tied.bytes() + int64(tied.n)*(textBytes+checkBytes)); err != nil {
		return err
	}
	found, checks := make([][]byte, tied.n), make([]keyCheck, tied.n)
	if err := t.textsOfDays(ctx, column, &tied, found, checks); err != nil {
		return err
	}
	read, err := t.keptTies(column, &tied, found, checks)
	if err != nil {
		return err
	}
	err = t.run.scanSome(ctx, t.groups, func(i int) bool { return read[i] }, func(w *worker, i int) error {
		of, err := w.topKeys(k.column)
		if err != nil {
			return err
		}
		places := w.number(&of, &tied)
		k.mu.Lock()
		defer k.mu.Unlock()
		held := texts.bytes
		for code, number := range w.numbers[1:] {
			if number == parquet.Absent {
				continue
			}
			place := places[number]
			if err := checks[place].compare(of.checks[code]); err != nil {
				return err
			}
			if found[place] != nil {
				continue
			}
			if err := of.readTexts(w); err != nil {
				return err
			}
			found[place] = copyOf(of.entries.At(int32(code)))
			held += int64(len(found[place]))
			if tied.n <= mostTiedTexts {
				t.learn(i, column, of.hashes[code], knownKey{text: found[place]})
			}
		}
		return texts.hold(held)
	})
	if err != nil {
		return err
	}
	compare := func(a, b total) int { return bytes.Compare(found[tied.place(a.hash)], found[tied.place(b.hash)]) }
	for label, ties := range k.ties {
		var first []total
		for _, of := range ties {
			first = insertFirst(first, of, k.limit-len(k.ranked[label]), compare)
		}
		k.ranked[label] = append(k.ranked[label], first...)
	}
	return nil
}

// keyCheck is the other hash of a key, once it is known.
type keyCheck struct {
	hash  uint32
	known bool
}

// compare returns an error if the other hash of a text is not that of the texts before: two keys have the same hash.
func (c *keyCheck) compare(hash uint32) error {
	if c.known && c.hash != hash {
		return fmt.Errorf("%w: two keys have the same hash", ErrUnsupported)
	}
	c.hash, c.known = hash, true
	return nil
}

// copyOf returns a copy of a text that is not nil even if the text is empty.
func copyOf(text []byte) []byte { return append(make([]byte, 0, len(text)), text...) }

// rows lists the winners of every label, by label, then blocked and all requests, descending, then key.
func (t *topX) rows() []query.TopXRow {
	var rows []query.TopXRow
	for _, label := range query.Labels {
		for _, k := range t.keys {
			first := len(rows)
			for _, w := range k.ranked[label] {
				place := k.places.place(w.hash)
				rows = append(rows, k.figures[place].row(label, string(k.texts[place])))
			}
			slices.SortFunc(rows[first:], func(a, b query.TopXRow) int {
				return cmp.Or(
					cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Key, b.Key))
			})
		}
	}
	return rows
}
