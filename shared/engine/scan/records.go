package scan

import (
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
)

// objectsAtOnce is how many objects Records reads rows of at the same time.
const objectsAtOnce = 8

// Records reads columns of the rows at places, in their order, from objects of a source: all rows, or the first half if they
// take more than most bytes, and so on. A single row may take more. Errors: ErrUnsupported, *engine.ObjectError, ctx's own.
func Records(
	ctx context.Context, source Source, places []engine.Place, columns []string, most int64,
) ([]*lake.Row, error) {
	return FirstRows(places, most, func(places []engine.Place, budget *parquet.Budget) ([]*lake.Row, error) {
		rows := make([]*lake.Row, len(places))
		byObject := map[string][]int{} // the indexes of their places
		for i, place := range places {
			byObject[place.Path] = append(byObject[place.Path], i)
		}
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(objectsAtOnce)
		for _, path := range slices.Sorted(maps.Keys(byObject)) {
			group.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				numbers := make([]int64, 0, len(byObject[path]))
				for _, i := range byObject[path] {
					numbers = append(numbers, places[i].Row)
				}
				read, err := recordsOf(source, path, numbers, columns, budget)
				for n, row := range read {
					rows[byObject[path][n]] = row
				}
				return err
			})
		}
		return rows, group.Wait()
	})
}

// FirstRows calls read for all places. While it returns parquet.ErrMemory, FirstRows calls it for the first half. The last
// place may take any memory.
func FirstRows(
	places []engine.Place, most int64, read func([]engine.Place, *parquet.Budget) ([]*lake.Row, error),
) ([]*lake.Row, error) {
	for n := len(places); ; n = (n + 1) / 2 {
		if n <= 1 {
			most = math.MaxInt64
		}
		rows, err := read(places[:n], parquet.NewBudget(most))
		if !errors.Is(err, parquet.ErrMemory) {
			return rows, err
		}
	}
}

// recordsOf reads columns of rows of an object. It announces the footer, then the page index, then the pages.
func recordsOf(
	source Source, path string, numbers []int64, columns []string, budget *parquet.Budget,
) (rows []*lake.Row, err error) {
	err = openFile(source, path, func(in io.ReaderAt) (err error) {
		object := in.(Input)
		length := FooterBytes(object.Size())
		if err := object.Expect([]parquet.Part{{Offset: object.Size() - length, Length: length}}); err != nil {
			return err
		}
		file, err := parquet.OpenFileByEnd(in, object.Size())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		for _, parts := range []func([]int64, []string) ([]parquet.Part, error){file.IndexParts, file.RowParts} {
			announced, err := parts(numbers, columns)
			if err != nil {
				return err
			}
			if err := object.Expect(announced); err != nil {
				return err
			}
		}
		rows, err = file.RowsWithin(budget, numbers, columns)
		return err
	})
	if err == nil || errors.Is(err, parquet.ErrMemory) || errors.Is(err, ErrUnsupported) || errors.As(err, new(*engine.ObjectError)) {
		return rows, err
	}
	return nil, &engine.ObjectError{Path: path, Err: err}
}
