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
// texts win. Then it gives the winners their places.
func (t *topX) breakTies(ctx context.Context) error {
	for _, k := range t.keys {
		if len(k.ties) > 0 {
			if err := t.readTies(ctx, k); err != nil {
				return err
			}
		}
		if err := k.placeWinners(); err != nil {
			return err
		}
	}
	return nil
}

// placeWinners gives every winner and every suspect a place. Memory of the other keys is given back.
func (k *keys) placeWinners() error {
	for label, winners := range k.ranked {
		k.ranked[label] = slices.Clone(winners)
		for _, w := range winners {
			k.places.add(w.hash)
		}
	}
	k.figures = make([]figures, k.places.n)
	for _, hash := range k.suspects {
		k.places.add(hash)
	}
	k.texts = make([][]byte, k.places.n)
	k.ties, k.suspects = nil, nil
	return k.hold(0)
}

// readTies reads the texts of the ties of a column.
func (t *topX) readTies(ctx context.Context, k *keys) error {
	var tied hashTable
	for _, ties := range k.ties {
		for _, of := range ties {
			tied.add(of.hash)
		}
	}
	texts := reservation{run: t.run}
	if err := texts.hold(tied.bytes() + int64(tied.n)*textBytes); err != nil {
		return err
	}
	found := make([][]byte, tied.n)
	err := t.run.scan(ctx, t.groups, func(w *worker, i int) error {
		if len(t.chosen[i]) == 0 {
			return nil
		}
		of, err := w.keysOf(k.column)
		if err != nil {
			return err
		}
		places := w.number(&of, &tied)
		if len(places) == 0 {
			return nil
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		held := texts.bytes
		for code, number := range w.numbers {
			if number != parquet.Absent {
				place, text := places[number], of.entries.At(int32(code))
				if found[place] == nil {
					held += int64(len(text))
				}
				if found[place], err = sameText(found[place], text); err != nil {
					return err
				}
			}
		}
		return texts.hold(held)
	})
	if err != nil {
		return err
	}
	text := func(of total) []byte { return found[tied.place(of.hash)] }
	for label, ties := range k.ties {
		slices.SortFunc(ties, func(a, b total) int { return bytes.Compare(text(a), text(b)) })
		k.ranked[label] = append(k.ranked[label], ties[:k.limit-len(k.ranked[label])]...)
	}
	return texts.hold(0)
}

// sameText returns a copy of the text, or the known one, which must be equal: keys are matched by their hashes.
func sameText(known, text []byte) ([]byte, error) {
	if known == nil {
		return append(make([]byte, 0, len(text)), text...), nil // not nil even of an empty text
	}
	if !bytes.Equal(known, text) {
		return nil, fmt.Errorf("%w: two keys have the same hash", ErrUnsupported)
	}
	return known, nil
}

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
