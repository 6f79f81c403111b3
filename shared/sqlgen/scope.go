package sqlgen

import (
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// source is where the records of the query come from on Athena: the branches of the two tables that the span
// touches, each bounded by partition and exact time. The engine knows no relation between the two, so both are
// always written. Bounds are literals in exactly the key's format: a function round the key, or another spelling,
// reads every partition.
//
// With one branch the bounds belong into the statement's own WHERE; with two they are inside the union, which
// gives only the columns needed.
func (p *printer) source(columns []string) (from block, bounds []block) {
	branches := p.branches()
	if len(branches) == 1 {
		return lines(branches[0].table), branches[0].bounds
	}
	parts := make([]block, len(branches))
	for i, b := range branches {
		parts[i] = selection{columns: []fragment{join(names(columns), ", ")}, from: lines(b.table), where: b.bounds}.block()
	}
	return unionAll(parts).bracketed("", " AS traffic"), nil
}

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

// exactTime is the condition on the time itself.
func exactTime(span query.Period) fragment {
	return "ts_ms BETWEEN " + integer(span.FromMs) + " AND " + integer(span.ToMs)
}

// objects is where the records come from on DuckDB: exactly the objects that can hold some, and the exact time.
func (p *printer) objects() (from block, bounds []block) {
	from = lines("read_parquet([])")
	if len(p.paths) > 0 {
		from = append(lines("read_parquet(["), listed(p.texts(p.paths)).deeper()...)
		from = append(from, line{0, "])"})
	}
	return from, []block{lines(exactTime(p.query.Span()))}
}

// segment is the start of a record's segment in Unix seconds. Counting from the first segment of the scope keeps
// the division's operands non-negative, where engines agree on rounding.
func (p *printer) segment(seconds int64) fragment {
	length := seconds * 1000
	base := p.query.Scope.FromMs - mod(p.query.Scope.FromMs, length)
	return p.dialect.quotient("(ts_ms - "+integer(base)+")", integer(length)) + " * " + integer(seconds) + " + " + integer(base/1000)
}

func mod(a, b int64) int64 { return ((a % b) + b) % b }
