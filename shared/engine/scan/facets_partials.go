package scan

import (
	"encoding/binary"
	"slices"

	"github.com/orrery/orrery/shared/query"
)

// valuesOfRows are the values of the dimensions in a row group with their counts: a partial of facets or of a diff.
type valuesOfRows struct {
	all flagCounts
	by  []valuesOfDimension
}

// valuesOfDimension are the values of one dimension. The counts follow one another: for each value the
// number of combinations of flags, and for each of these the flags and the number of records as varints.
type valuesOfDimension struct {
	present flagCounts
	texts   query.PackedTexts
	hashes  []textHash // of the texts
	counts  []byte
}

// bytes implements partial.
func (p *valuesOfRows) bytes() (bytes int64) {
	const flagCountsBytes = 4 * manyFlags
	bytes = flagCountsBytes
	for i := range p.by {
		d := &p.by[i]
		bytes += flagCountsBytes + d.texts.Memory() + int64(cap(d.hashes))*textHashBytes + int64(cap(d.counts))
	}
	return bytes
}

// joinKept adds the values of the dimensions that are open. Row groups begin with different dimensions, as in read.
func (f *facets[C]) joinKept(p *valuesOfRows, group int, open []int, first bool) error {
	if first {
		f.addAll(&p.all)
	}
	for i := range open {
		n := open[(group+i)%len(open)]
		if err := f.reserve(f.joinValues(&f.by[n], &p.by[n], first)); err != nil {
			return err
		}
	}
	return nil
}

// joinValues adds the values of a dimension. It returns the memory that this takes.
func (f *facets[C]) joinValues(by *facet[C], of *valuesOfDimension, first bool) (grown int64) {
	values := &by.values
	values.mu.Lock()
	defer values.mu.Unlock()
	before, known := values.bytes(), len(values.counts)
	if first {
		f.addCounts(&of.present, &by.present)
	}
	counts := of.counts
	for i, hash := range of.hashes {
		to := values.of(of.texts.At(int32(i)), hash)
		combinations := counts[0]
		counts = counts[1:]
		for range combinations {
			flags := int(counts[0])
			n, length := binary.Uvarint(counts[1:])
			counts = counts[1+length:]
			if to != nil {
				f.add(flags, int64(n), to)
			}
		}
	}
	f.different.Add(int64(len(values.counts) - known))
	return values.bytes() - before
}

// keeper makes the partial of a row group. A nil keeper makes none.
type keeper struct {
	worker   *worker
	question string
	partial  *valuesOfRows
}

// keeper returns a keeper for the row group that the worker reads, if its figures may be kept.
func (f *facets[C]) keeper(w *worker, first bool) *keeper {
	if !first || f.question == "" || !f.run.mayKeep(w.group) {
		return nil
	}
	return &keeper{w, f.question, &valuesOfRows{by: make([]valuesOfDimension, len(f.by))}}
}

// nothing keeps that there are no rows.
func (k *keeper) nothing() {
	if k != nil {
		k.worker.run.storeIf(k.worker.group, k.question, noRows{})
	}
}

func (k *keeper) all(n *flagCounts) {
	if k != nil {
		k.partial.all = *n
	}
}

// values adds the values of a dimension that the worker has met.
func (k *keeper) values(w *worker, dimension int, of *keyColumn, present *flagCounts) {
	if k == nil {
		return
	}
	length := 0
	for _, code := range w.met {
		length += len(of.entries.At(code))
	}
	d := valuesOfDimension{
		present: *present, texts: query.NewPackedTexts(len(w.met), length),
		hashes: slices.Clone(w.hashes), counts: make([]byte, 0, 4*len(w.met)),
	}
	for _, code := range w.met {
		d.texts.Add(of.entries.At(code))
		at := len(d.counts)
		d.counts = append(d.counts, 0)
		for flags, n := range w.counts[code] {
			if n > 0 {
				d.counts[at]++
				d.counts = binary.AppendUvarint(append(d.counts, byte(flags)), uint64(n))
			}
		}
	}
	k.partial.by[dimension] = d
}

// end keeps the partial.
func (k *keeper) end() {
	if k != nil {
		k.worker.run.storeIf(k.worker.group, k.question, k.partial)
	}
}
