package scan

import "github.com/orrery/orrery/shared/lake/parquet"

// union returns a dictionary of the entries of two, in which those of the first keep their codes, and the codes in it
// of the second's entries.
func union(first, second *parquet.Texts) (*parquet.Dictionary, []int32, error) {
	all := &parquet.Dictionary{}
	if err := all.Append(first); err != nil {
		return nil, nil, err
	}
	codes := make([]int32, second.Len())
	for i := range codes {
		text := second.At(int32(i))
		codes[i] = all.Code(text, parquet.Hash(text))
	}
	return all, codes, nil
}
