package scan

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/pattern"
	"github.com/orrery/orrery/shared/query"
)

// maxPatternWork limits the work of all patterns of a query with all texts that they are tried on: instructions times
// bytes. Go's engine and RE2 did 1e9 of it in a second on one core of two, at worst.
const maxPatternWork = 4e9

// CheckPatterns checks that the patterns of q can be tried within seconds on the texts of the records that meet the
// other conditions. So a caller learns nothing about records that those exclude. Patterns with little work have no
// limit.
//
// Errors: engine.PatternWorkError, ErrUnsupported, *engine.ObjectError, ctx's own.
func CheckPatterns(ctx context.Context, q query.Query, objects []lake.Object, o Options) error {
	if q.PatternWork() <= pattern.FewWork {
		return nil
	}
	r := newRun(ctx, q, o)
	defer r.giveBack()
	r.query.Conditions = slices.DeleteFunc(slices.Clone(q.Conditions), query.Condition.HasPatterns)
	groups, err := r.survey(ctx, objects)
	if err != nil {
		return err
	}
	defer r.end(groups)
	var total atomic.Int64
	patterns := q.WithPatterns()
	return counting[patternWork]{
		question: "patterns " + query.ConditionsIdentity(patterns) + "\n\n" + query.ConditionsIdentity(r.query.Conditions),
		anyOrder: true,
		count:    func(w *worker, rows []int32) (patternWork, error) { return w.patternWork(rows, patterns) },
		join: func(work patternWork) error {
			if total.Add(int64(work)) > maxPatternWork {
				return engine.PatternWorkError()
			}
			return nil
		},
	}.run(ctx, r, groups)
}

// patternWork is the work of patterns with the texts of a row group.
type patternWork int64

func (patternWork) bytes() int64 { return 8 }

// patternsLast returns conditions in the order in which they are tested: those with patterns, which take longest, come
// last and are tested for the records that are left.
func patternsLast(conditions []query.Condition) []query.Condition {
	return slices.SortedStableFunc(slices.Values(conditions), func(a, b query.Condition) int {
		switch before, after := a.HasPatterns(), b.HasPatterns(); {
		case before == after:
			return 0
		case before:
			return 1
		}
		return -1
	})
}

// patternWork returns the work of the patterns of conditions with the texts of rows.
func (w *worker) patternWork(rows []int32, conditions []query.Condition) (work patternWork, _ error) {
	for _, c := range conditions {
		for _, t := range c.AllTerms() {
			perName, perValue := t.PatternWork()
			for _, part := range []struct {
				perByte int64
				member  string
			}{{perName, "name"}, {perValue, valueMember(t.Source)}} {
				if part.perByte == 0 {
					continue
				}
				column, err := w.column(t.Source.Column, part.member)
				if err != nil {
					return 0, err
				}
				work += patternWork(part.perByte * bytesOf(column, rows, t.Source.Layout == catalog.Scalar))
			}
		}
	}
	return work, nil
}

// bytesOf returns the length of all texts of rows.
func bytesOf(column *parquet.ColumnValues, rows []int32, single bool) (bytes int64) {
	if column.Texts.Len() == 0 {
		return 0
	}
	for _, row := range rows {
		from, to := row, row+1
		if !single {
			from, to = column.Starts[row], column.Starts[row+1]
		}
		for _, entry := range column.Codes[from:to] {
			if entry != parquet.Absent {
				bytes += int64(len(column.Texts.At(entry)))
			}
		}
	}
	return bytes
}
