package scan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// maxValueObjects limits the number of objects in which Values looks, unless it counts.
const maxValueObjects = 20

// FoundValues is the result of Values.
type FoundValues struct {
	query.ValuesAnswer
	Looked []lake.Object // the objects in which it looked: all, if it counts

	Columns    []lake.Object // the objects among them whose columns were read as a whole
	Dictionary int64         // bytes of the dictionaries read instead in the others
}

// Values finds values that answer q, a query for values, in exactly these objects. It looks in the newest objects first
// and stops when it has as many values as asked for, after 20 objects, or when enough returns true, but not before it
// has looked in one. If the query asks for counts, it looks in all objects.
//
// For a field of one value and a caller who may see all branches, it reads dictionaries only. Then it finds the values
// of the row groups that overlap the period, which may come from records shortly before or after it. Otherwise it reads
// the columns, and every value comes from a record of the period.
//
// Errors: ErrUnsupported, *engine.ObjectError, ctx's own.
func Values(
	ctx context.Context, q query.Query, objects []lake.Object, enough func() bool, o Options,
) (FoundValues, error) {
	shape, ok := q.Shape.(query.Values)
	if !ok {
		panic(fmt.Sprintf("scan: a query for %T has no values", q.Shape))
	}
	r := newRun(ctx, q, o)
	defer r.giveBack()
	defer r.end(nil)
	if shape.Counts {
		return r.countedValues(ctx, shape, objects)
	}
	v := &values{run: r, by: shape.By, first: query.NewFirstValues(shape)}
	for i, object := range ValueObjects(shape, objects) {
		if i > 0 && (v.first.Full() || enough()) {
			break
		}
		if err := r.each(ctx, 1, func(w *worker, _ int) error { return v.look(w, object) }); err != nil {
			return FoundValues{}, err
		}
	}
	v.found.ValuesAnswer = v.first.Answer()
	return v.found, ctx.Err()
}

// ValueObjects returns the objects in which Values may look, the newest first.
func ValueObjects(shape query.Values, objects []lake.Object) []lake.Object {
	newest := slices.Clone(objects)
	slices.SortFunc(newest, func(a, b lake.Object) int {
		return cmp.Or(cmp.Compare(b.MaxTsMs, a.MaxTsMs), cmp.Compare(a.Path, b.Path))
	})
	if shape.Counts {
		return newest
	}
	return newest[:min(len(newest), maxValueObjects)]
}

// countedValues counts the records of each value that passes the test.
func (r *run) countedValues(ctx context.Context, shape query.Values, objects []lake.Object) (FoundValues, error) {
	groups, err := r.survey(ctx, objects)
	if err != nil {
		return FoundValues{}, err
	}
	asFacets := query.Facets{By: []query.Dimension{shape.By}, Limit: shape.Limit}
	answer, err := r.facetsOf(ctx, asFacets, groups, &shape.Find)
	found := FoundValues{Looked: objects, Columns: objects}
	if len(answer.Facets) > 0 {
		found.Values = answer.Facets[0].Values
		found.More = answer.Facets[0].Distinct > int64(shape.Limit)
	}
	return found, err
}

// values is a search for values.
type values struct {
	run   *run
	by    query.Dimension
	first *query.FirstValues
	found FoundValues
}

// look adds the values of an object.
func (v *values) look(w *worker, object lake.Object) error {
	whole := false // whether columns were read
	err := open(nil, object, func(c *parquet.ColumnReader, file fileVersion) error {
		for _, g := range v.run.groups(c, file) {
			w.begin(c, g)
			complete, err := v.fromDictionary(w)
			if err == nil && !complete {
				whole = true
				err = v.fromRows(w)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	v.found.Looked = append(v.found.Looked, object)
	if whole {
		v.found.Columns = append(v.found.Columns, object)
	}
	return nil
}

// fromDictionary adds the values in the dictionary of a row group. complete is false if these are not exactly the
// values of the row group: the dictionary lacks some of them, or has values of other branches or other members.
func (v *values) fromDictionary(w *worker) (complete bool, err error) {
	if len(v.run.query.Conditions) > 0 || !v.by.Single() {
		return false, nil
	}
	if w.ctx.Err() != nil {
		return false, context.Cause(w.ctx)
	}
	source := v.by.Sources[0]
	stored, ok := parquet.ColumnOf(source.Column, valueMember(source))
	if !ok {
		panic(fmt.Sprintf("scan: no column %s", source.Column))
	}
	entries, bytes, complete, err := w.reader.Dictionary(w.group.number, stored)
	if err != nil {
		return false, &engine.ObjectError{Path: w.group.file.path, Err: err}
	}
	v.found.Dictionary += bytes
	for i := range int32(entries.Len()) {
		if value, ok := v.by.ValueOf(string(entries.At(i))); ok {
			v.first.Add(value)
		}
	}
	return complete, nil
}

// fromRows adds the values of the rows of a row group that belong to the answer.
func (v *values) fromRows(w *worker) error {
	rows, err := w.chosen()
	if err != nil || len(rows) == 0 {
		return err
	}
	of, err := w.valuesOf(v.by)
	if err != nil {
		return err
	}
	used := make([]bool, of.entries.Len())
	w.pairs.each(&of, nil, rows, func(_, codes []int32) {
		for _, code := range codes {
			used[code] = true
		}
	})
	for code, is := range used {
		if is {
			v.first.Add(string(of.entries.At(int32(code))))
		}
	}
	return nil
}
