package sqlgen

import (
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// source returns the FROM clause of the query on Athena: the branches of the two tables that the span touches, each
// bounded by partition and by exact time. The engine does not know how the two are related, so both bounds are always
// written. The bounds of the partition are literals in exactly the key's format: with a function around the key, or
// another spelling, Athena reads every partition.
//
// With one branch, source returns the bounds for the statement's own WHERE. With two, the bounds are inside the union,
// which selects only the columns needed.
func (p *printer) source(columns []string) (from block, bounds []block) {
	branches := p.branches()
	if len(branches) == 1 {
		return lines(branches[0].table), branches[0].bounds
	}
	parts := make([]block, len(branches))
	for i, b := range branches {
		parts[i] = selection{
			columns: []fragment{join(names(columns), ", ")},
			from:    lines(b.table),
			where:   b.bounds,
		}.block()
	}
	return unionAll(parts).bracketed("", " AS traffic"), nil
}

// branch is the part of the span that one table holds.
type branch struct {
	table  fragment
	bounds []block
}

func (p *printer) branches() []branch {
	span := p.query.Span()
	first, last := lake.PartitionOf(span.FromMs), lake.PartitionOf(span.ToMs)
	watermark := p.query.Scope.Watermark
	var out []branch
	if first < watermark {
		out = append(out, p.branch(lake.CompactTable, span, first, min(last, watermark-1)))
	}
	if last >= watermark || len(out) == 0 {
		out = append(out, p.branch(lake.FreshTable, span, max(first, watermark), last))
	}
	return out
}

func (p *printer) branch(table fragment, span query.Period, first, last lake.Partition) branch {
	return branch{table, []block{
		lines(lake.PartitionKey + " BETWEEN " + p.text(first.String()) + " AND " + p.text(last.String())),
		lines(exactTime(span)),
	}}
}

// exactTime returns the condition on the time itself.
func exactTime(span query.Period) fragment {
	return "ts_ms BETWEEN " + integer(span.FromMs) + " AND " + integer(span.ToMs)
}

// objects returns the FROM clause on DuckDB, which lists exactly the objects that can hold records of the query, and
// the condition on the exact time.
func (p *printer) objects() (from block, bounds []block) {
	from = lines("read_parquet([])")
	if len(p.paths) > 0 {
		from = append(lines("read_parquet(["), listed(p.texts(p.paths)).deeper()...)
		from = append(from, line{0, "])"})
	}
	return from, []block{lines(exactTime(p.query.Span()))}
}

// segment returns the start of a record's segment in Unix seconds. It counts from the first segment of the scope, so
// that no operand of the division is negative: the engines round negative quotients differently.
func (p *printer) segment(seconds int64) fragment {
	length := seconds * 1000
	base := p.query.Scope.FromMs - mod(p.query.Scope.FromMs, length)
	number := p.dialect.quotient("(ts_ms - "+integer(base)+")", integer(length))
	return number + " * " + integer(seconds) + " + " + integer(base/1000)
}

func mod(a, b int64) int64 { return ((a % b) + b) % b }
