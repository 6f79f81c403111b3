package scan

import "github.com/orrery/orrery/shared/lake/parquet"

// union returns a dictionary with the entries of first and second. The entries of first keep their codes. codes has the
// new code of each entry of second.
func union(first, second *parquet.Texts) (all *parquet.Dictionary, codes []int32, err error) {
	all = &parquet.Dictionary{}
	if err := all.Append(first); err != nil {
		return nil, nil, err
	}
	codes = make([]int32, second.Len())
	for i := range codes {
		text := second.At(int32(i))
		codes[i] = all.Code(text, parquet.Hash(text))
	}
	return all, codes, nil
}

// addEntry returns the code of an entry of a row group in a dictionary of all row groups, and the memory by which the
// dictionary has grown. known[entry] is the code of an entry that was added before, plus one, or 0.
func addEntry(all *parquet.Dictionary, entries texts, entry int32, known []int32) (code int32, grown int64) {
	if known[entry] == 0 {
		text, before := entries.At(entry), all.Memory()
		known[entry] = all.Code(text, parquet.Hash(text)) + 1
		grown = all.Memory() - before
	}
	return known[entry] - 1, grown
}
