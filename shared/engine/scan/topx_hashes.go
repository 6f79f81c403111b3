package scan

import (
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake/parquet"
)

// topKeys are the keys of a column in a row group with their hashes.
type topKeys struct {
	keyColumn // without codes until readCodes, if the hashes are kept; without entries until readTexts
	keyHashes
	column string
}

// keyHashes are the hashes of the keys of a row group, by code. Keys of different row groups are matched by them. The
// first pass keeps them, because reading and hashing the texts again would take most of the time of the other passes.
type keyHashes struct {
	hashes []uint64 // of the texts
	checks []uint32 // other hashes of the texts, which tell that two texts have the same hash
}

// keyHashBytes is the memory of the hashes of a key.
const keyHashBytes = 8 + 4

// topKeys returns the keys of a column in the row group. They are valid until the next call.
func (w *worker) topKeys(column string) (of topKeys, err error) {
	if hashes, kept := w.group.hashes[column]; kept {
		return topKeys{keyHashes: hashes, column: column}, nil
	}
	of.column = column
	if of.keyColumn, err = w.keysOf(column); err != nil {
		return of, err
	}
	of.keyHashes = w.hashesOf(&of)
	w.keepHashes(&of)
	return of, nil
}

// hashesInUse are the hashes of the keys of a column in the row group that a worker reads, for other scans of it.
type hashesInUse struct {
	keyHashes
	group groupID
	by    uint64 // run.hashID
}

// hashesOf returns the hashes of the keys of a column.
func (w *worker) hashesOf(of *topKeys) keyHashes {
	last := w.hashed[of.column]
	if last == nil {
		last = new(hashesInUse)
		w.hashed[of.column] = last
	}
	n, group, by := of.entries.Len(), w.group.id(), w.run.hashID()
	if last.group == group && last.by == by && len(last.hashes) == n {
		return last.keyHashes
	}
	last.group, last.by = group, by
	last.hashes, last.checks = slices.Grow(last.hashes[:0], n)[:n], slices.Grow(last.checks[:0], n)[:n]
	for code := range n {
		h := w.run.textHash(of.entries.At(int32(code)))
		last.hashes[code], last.checks[code] = h.hash, h.check
	}
	return last.keyHashes
}

// keepHashes keeps the hashes of the keys, if there is enough memory and codes alone can be read later, and if no other
// scans share them.
func (w *worker) keepHashes(of *topKeys) {
	bytes := int64(len(of.hashes)) * keyHashBytes
	if w.run.isPart || of.starts == nil && !w.hasCompleteDictionary(of.column) || !w.run.spare(bytes, w.run.memory/2) {
		return
	}
	if w.group.hashes == nil {
		w.group.hashes = map[string]keyHashes{}
	}
	w.group.hashes[of.column] = keyHashes{slices.Clone(of.hashes), slices.Clone(of.checks)}
}

func (w *worker) hasCompleteDictionary(column string) bool {
	stored, _ := parquet.ColumnOf(column, "")
	return w.reader.HasCompleteDictionary(w.group.number, stored)
}

// readCodes reads the codes of the rows, if they have not been read.
func (k *topKeys) readCodes(w *worker) (err error) {
	switch {
	case k.codes != nil:
		return nil
	case !w.hasCompleteDictionary(k.column) || k.column == "reason":
		return k.readTexts(w)
	}
	k.codes, err = w.codesOf(k.column, len(k.hashes))
	return err
}

// readTexts reads the texts of the keys, and the codes of the rows.
func (k *topKeys) readTexts(w *worker) (err error) {
	if k.entries != nil {
		return nil
	}
	k.keyColumn, err = w.keysOf(k.column)
	if err == nil && k.entries.Len() != len(k.hashes) {
		err = &engine.ObjectError{
			Path: w.group.file.path, Err: fmt.Errorf("column %s has changed while it was read", k.column),
		}
	}
	return err
}

// keysOf returns the keys of a column.
func (w *worker) keysOf(column string) (keyColumn, error) {
	values, err := w.column(column, "")
	if err != nil {
		return keyColumn{}, err
	}
	if column != "reason" {
		return keyColumn{codes: values.Codes, entries: &values.Texts}, nil
	}
	more, err := w.column("monitor_reasons", "")
	if err != nil {
		return keyColumn{}, err
	}
	return reasons(values, more)
}
