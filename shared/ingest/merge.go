package ingest

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"path/filepath"
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
)

// mergeLimits bound what is merged at once. If files exceed them, some are merged before the others.
type mergeLimits struct {
	width int   // files, each of which takes the memory of a page per column
	bytes int64 // of their row groups together, each of which takes the memory of its dictionaries
}

// mergeShare is the part of the memory of a merge that the row groups have as bytes of the file.
const mergeShare = 3

// limitsWithin returns the limits of a merge with some memory, in bytes; 0: DefaultMergeMemory.
func limitsWithin(memory int64) mergeLimits {
	const least, most = 16, 64
	bytes := cmp.Or(memory, DefaultMergeMemory) / mergeShare
	return mergeLimits{int(min(max(bytes>>22, least), most)), bytes}
}

// mergeRows yields the rows of sorted Parquet files in order. A row is valid until the next iteration.
func mergeRows(paths []string) iter.Seq2[parquet.Raw, error] {
	return func(yield func(parquet.Raw, error) bool) {
		var front mergeFront
		err := front.open(paths)
		wanted := true
		for err == nil && len(front) > 0 {
			least := &front[0]
			if wanted = yield(least.row, nil); !wanted {
				break
			}
			if least.row, err = least.file.row(); err != nil {
				break
			}
			if least.row != nil {
				heap.Fix(&front, 0)
				continue
			}
			err = least.file.close()
			heap.Pop(&front)
		}
		for _, f := range front {
			err = errors.Join(err, f.file.close())
		}
		if err != nil && wanted {
			yield(nil, err)
		}
	}
}

// mergeFront is a heap of the next row of each file.
type mergeFront []mergeHead

type mergeHead struct {
	row  parquet.Raw
	file *objectFile
}

func (m *mergeFront) open(paths []string) error {
	for _, path := range paths {
		f, err := openObject(path)
		if err != nil {
			return err
		}
		row, err := f.row()
		if err != nil || row == nil {
			err = errors.Join(err, f.close())
			if err != nil {
				return err
			}
			continue
		}
		*m = append(*m, mergeHead{row, f})
	}
	heap.Init(m)
	return nil
}

func (m mergeFront) Len() int           { return len(m) }
func (m mergeFront) Less(i, j int) bool { return parquet.CompareRaw(m[i].row, m[j].row) < 0 }
func (m mergeFront) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *mergeFront) Push(x any)        { *m = append(*m, x.(mergeHead)) }
func (m *mergeFront) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

// narrow merges files until the remaining ones can be merged at once. It merges as few files as possible, because each
// merge reads and writes all of their rows. It writes new files to dir and removes none: the caller removes the whole
// directory.
func narrow(dir string, paths []string, limits mergeLimits) ([]string, error) {
	var sizes []int64 // of the row groups
	for n := 0; ; n++ {
		for _, path := range paths[len(sizes):] {
			f, err := openObject(path)
			if err != nil {
				return nil, err
			}
			sizes = append(sizes, f.reader.GroupBytes())
			if err := f.close(); err != nil {
				return nil, err
			}
		}
		first := limits.excess(sizes)
		if first == 0 {
			return paths, nil
		}
		path := filepath.Join(dir, fmt.Sprintf("merged-%d.parquet", n))
		if _, err := writeFile(path, rawRows(mergeRows(paths[:first]))); err != nil {
			return nil, fmt.Errorf("merge runs: %w", err)
		}
		paths, sizes = append(slices.Clone(paths[first:]), path), sizes[first:]
	}
}

// excess returns how many of the first files must be merged before the others, given the sizes of their row groups: as
// many as are needed to keep the limits, or as can be merged at once. It is 0 if all files can be merged at once. Two
// files always can.
func (l mergeLimits) excess(sizes []int64) (n int) {
	var merged, others int64
	for _, size := range sizes {
		others += size
	}
	if len(sizes) <= 2 || l.allow(len(sizes), others) {
		return 0
	}
	for n < 2 || l.allow(n+1, merged+sizes[n]) && !l.allow(len(sizes)-n+1, others+min(merged, parquet.GroupBytes)) {
		merged, others = merged+sizes[n], others-sizes[n]
		n++
	}
	return n
}

// allow reports whether files can be merged at once.
func (l mergeLimits) allow(files int, bytes int64) bool { return files <= l.width && bytes <= l.bytes }

// Merge merges objects of one hour into one verified object, a file with that name in dir. It compares every value of
// every row written with the rows read. The new object has the present schema, whatever those of the others are;
// objects of a newer schema cannot be merged, see IsNewer. Merge also writes temporary files to dir; the caller removes
// the directory. With more memory, in bytes, it reads fewer rows twice; 0 is DefaultMergeMemory.
func Merge(dir, name string, paths []string, memory int64) (lake.Object, error) {
	narrowed, err := narrow(dir, paths, limitsWithin(memory))
	if err != nil {
		return lake.Object{}, err
	}
	return writeChecked(filepath.Join(dir, name), mergeRows(narrowed))
}

// writeChecked writes rows, which must be in order, to one verified object, and compares every value of every row in
// the file with the rows.
func writeChecked(file string, rows iter.Seq2[parquet.Raw, error]) (lake.Object, error) {
	sum := parquet.RawSum{Seed: maphash.MakeSeed()}
	object, err := writeObject(file, rawRows(func(yield func(parquet.Raw, error) bool) {
		for row, err := range rows {
			if err == nil {
				sum.Add(row)
			}
			if !yield(row, err) {
				return
			}
		}
	}))
	if err != nil {
		return lake.Object{}, err
	}
	written := parquet.RawSum{Seed: sum.Seed}
	for row, err := range mergeRows([]string{file}) {
		if err != nil {
			return lake.Object{}, err
		}
		written.Add(row)
	}
	if written.Sum != sum.Sum {
		return lake.Object{}, errors.New("the rows written differ from the rows read")
	}
	return object, nil
}
