package scan

import "github.com/orrery/orrery/shared/lake/parquet"

// union returns a dictionary with the entries of first, under their codes, and those of second. codes are the codes in
// it of the entries of second.
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
