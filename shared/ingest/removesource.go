package ingest

import (
	"iter"
	"path/filepath"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
)

// RemoveSource writes the rows of the object in the file path that are not of a source to one verified object, a file
// with that name in dir. It compares every value of every row written with the rows read. It returns the number of rows
// of the source. If no other rows are in the object, it writes nothing and returns an object without rows.
func RemoveSource(dir, name, path, source string) (others lake.Object, dropped int64, err error) {
	rows := func(yield func(parquet.Raw, error) bool) {
		dropped = 0
		for row, err := range mergeRows([]string{path}) {
			if err == nil {
				if from, _ := parquet.RawPlace(row); from == source {
					dropped++
					continue
				}
			}
			if !yield(row, err) {
				return
			}
		}
	}
	some, err := hasRow(rows)
	if err == nil && some {
		others, err = writeChecked(filepath.Join(dir, name), rows)
	}
	return others, dropped, err
}

// hasRow reports whether there is a row.
func hasRow(rows iter.Seq2[parquet.Raw, error]) (bool, error) {
	for _, err := range rows {
		return err == nil, err
	}
	return false, nil
}
