package trino

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Explain returns the statements that Run would send, and the hours that the cluster would read for them. Most queries
// for logs need only the first of their statements. The plan has no objects and bytes, because they are not known
// before a query has run.
func (e *Engine) Explain(ctx context.Context, q query.Query) (engine.Plan, error) {
	state, err := e.state(ctx)
	if err != nil {
		return engine.Plan{}, err
	}
	q.Scope.Watermark = state.Watermark
	plan := engine.Plan{By: e.Name(), Columns: q.Columns()}
	for i, window := range q.Windows() {
		part := q
		part.Scope.Period = window
		script, err := scriptOf(part)
		if err != nil {
			return engine.Plan{}, err
		}
		plan.Warnings = script.Warnings
		for _, s := range script.Statements {
			partitions, err := e.partitions(ctx, s.SQL)
			if err != nil {
				return engine.Plan{}, failure(ctx, q, fmt.Errorf("explain which hours a query reads: %w", err))
			}
			plan.Partitions = append(plan.Partitions, partitions...)
			if i > 0 {
				s.Title += engine.EarlierHours
			}
			plan.SQL = append(plan.SQL, engine.Statement(s))
		}
	}
	slices.Sort(plan.Partitions)
	plan.Partitions = slices.Compact(plan.Partitions)
	return plan, nil
}

// ioPlan is the part of the result of EXPLAIN (TYPE IO) that describes the tables that are read.
type ioPlan struct {
	InputTableColumnInfos []struct {
		Table      struct{ SchemaTable struct{ Table string } }
		Constraint struct {
			ColumnConstraints []struct {
				ColumnName string
				Domain     struct{ Ranges []ioRange }
			}
		}
	}
}

type ioRange struct{ Low, High struct{ Value, Bound string } }

// partitions returns the hours that the cluster would read for a statement. The statement does not run.
func (e *Engine) partitions(ctx context.Context, sql string) ([]lake.Partition, error) {
	table, err := e.client.Query(ctx, "EXPLAIN (TYPE IO, FORMAT JSON) "+sql)
	if err != nil {
		return nil, err
	}
	if len(table) != 1 || len(table[0]) != 1 || table[0][0] == nil {
		return nil, fmt.Errorf("the plan has %d rows", len(table))
	}
	var plan ioPlan
	if err := json.Unmarshal([]byte(*table[0][0]), &plan); err != nil {
		return nil, err
	}
	var out []lake.Partition
	for _, input := range plan.InputTableColumnInfos {
		for _, column := range input.Constraint.ColumnConstraints {
			if column.ColumnName != lake.PartitionKey {
				continue
			}
			for _, r := range column.Domain.Ranges {
				first, err := parsePartition(r.Low.Value)
				if err != nil {
					return nil, err
				}
				last, err := parsePartition(r.High.Value)
				if err != nil {
					return nil, err
				}
				for p := first; p <= last; p++ {
					out = append(out, p)
				}
			}
		}
	}
	return out, nil
}

func parsePartition(key string) (lake.Partition, error) {
	at, err := time.Parse("2006/01/02/15", key)
	if err != nil {
		return 0, fmt.Errorf("%s %q is not an hour: %w", lake.PartitionKey, key, err)
	}
	return lake.PartitionOf(at.UnixMilli()), nil
}
