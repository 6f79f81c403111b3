package sqlgen

import (
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// source returns the FROM clause of the query on Athena: the branches of the two tables that the spans touch, each
// bounded by partition and by exact time. The engine does not know how the two are related, so both bounds are always
// written. The bounds of the partition are literals in exactly the key's format: with a function around the key, or
// another spelling, Athena reads every partition.
//
// With one branch, source returns the bounds for the statement's own WHERE. With two, the bounds are inside the union,
// which selects only the columns needed.
func (p *printer) source(columns []string) (from block, bounds []block) {
	p.scans++
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

// branch is the part of a span that one table holds.
type branch struct {
	table  fragment
	bounds []block
}

func (p *printer) branches() (out []branch) {
	reach := p.query.TimeBounds()
	for _, span := range reach.Spans() {
		out = append(out, p.branchesOf(reach, span)...)
	}
	return out
}

func (p *printer) branchesOf(reach query.TimeBounds, span query.Period) (out []branch) {
	first, last := lake.PartitionOf(span.FromMs), lake.PartitionOf(span.ToMs)
	watermark := p.query.Scope.Watermark
	if first < watermark {
		out = append(out, p.branch(lake.CompactTable, reach, span, first, min(last, watermark-1)))
	}
	if last >= watermark || len(out) == 0 {
		out = append(out, p.branch(lake.FreshTable, reach, span, max(first, watermark), last))
	}
	return out
}

func (p *printer) branch(
	table fragment, reach query.TimeBounds, span query.Period, first, last lake.Partition,
) branch {
	hours := lake.PartitionKey + " BETWEEN " + p.text(first.String()) + " AND " + p.text(last.String())
	if few, fewer := reach.Hours(first, last); fewer && len(few) > 0 {
		keys := make([]string, len(few))
		for i, hour := range few {
			keys[i] = hour.String()
		}
		hours = oneOf(lake.PartitionKey, p.texts(keys))
	}
	return branch{table, []block{
		lines(hours),
		lines(exactTime([]query.Period{span})),
	}}
}

// exactTime returns the condition on the time itself, which is in any of the spans.
func exactTime(spans []query.Period) fragment {
	parts := make([]fragment, len(spans))
	for i, span := range spans {
		parts[i] = "ts_ms BETWEEN " + integer(span.FromMs) + " AND " + integer(span.ToMs)
	}
	return either(parts)
}

// objectSource returns the FROM clause on DuckDB, which lists exactly the objects that can hold records of the query,
// and the condition on the exact time. virtual are columns that DuckDB adds to the columns of the objects.
//
// If some objects have an older schema and lack columns that are needed, the clause is a union of selections, each over
// the objects with the same columns. DuckDB's union_by_name would open every object before the query starts, and could
// not name a column that no object has.
func (p *printer) objectSource(columns []string, virtual ...fragment) (from block, bounds []block) {
	bounds = []block{lines(exactTime(p.query.Spans()))}
	parts := byColumns(p.objects, columns)
	if len(parts) == 0 || len(parts) == 1 && len(parts[0].missing) == 0 {
		return p.readParquet(p.objects), bounds
	}
	union := make([]block, len(parts))
	for i, part := range parts {
		union[i] = selection{
			columns: []fragment{join(append(part.values(columns), virtual...), ", ")},
			from:    p.readParquet(part.objects),
			where:   bounds,
		}.block()
	}
	return unionAll(union).bracketed("", " AS traffic"), nil
}

// objectPart is the objects that lack the same columns among the ones needed.
type objectPart struct {
	missing []string
	objects []lake.Object
}

// byColumns divides objects by the columns that they lack, in the order of the first object of each part.
func byColumns(objects []lake.Object, columns []string) (parts []objectPart) {
	for _, o := range objects {
		missing := slices.DeleteFunc(slices.Clone(columns), o.Has)
		i := slices.IndexFunc(parts, func(p objectPart) bool { return slices.Equal(p.missing, missing) })
		if i < 0 {
			i, parts = len(parts), append(parts, objectPart{missing: missing})
		}
		parts[i].objects = append(parts[i].objects, o)
	}
	return parts
}

// values returns the columns, with NULL for columns that the objects do not have.
func (o objectPart) values(columns []string) []fragment {
	values := names(columns)
	for i, column := range columns {
		if slices.Contains(o.missing, column) {
			c, _ := lake.ColumnByName(column)
			values[i] = "CAST(NULL AS " + duckDBType(c.Type) + ") AS " + values[i]
		}
	}
	return values
}

// readParquet returns the table function of DuckDB that reads objects.
func (p *printer) readParquet(objects []lake.Object) block {
	if len(objects) == 0 {
		return lines("read_parquet([])")
	}
	paths := make([]string, len(objects))
	for i, o := range objects {
		paths[i] = o.Path
	}
	b := append(lines("read_parquet(["), listed(p.texts(paths)).deeper()...)
	return append(b, line{0, "])"})
}

// segment returns the start of a record's segment in Unix seconds. It counts from the first segment of the scope, so
// that no operand of the division is negative: the engines round negative quotients differently.
//
// By a local clock there is a case for each run of segments of equal length. Package query has computed the runs, so
// all engines agree on the segments, whatever they know about time zones.
func (p *printer) segment() fragment {
	runs := p.query.Segmentation(p.query.Scope.Period).Runs()
	if most := p.dialect.maxBranches(); most > 0 && len(runs) > most {
		p.fail(&LimitError{What: "branches for changes of the clock", Got: len(runs), Limit: most})
	}
	earlier, last := runs[:len(runs)-1], runs[len(runs)-1]
	if len(earlier) == 0 {
		return p.segmentIn(last)
	}
	branches := make([]fragment, len(earlier))
	for i, run := range earlier {
		branches[i] = "WHEN ts_ms < " + integer(run.UntilMs) + " THEN " + p.segmentIn(run)
	}
	return "CASE " + join(branches, " ") + " ELSE " + p.segmentIn(last) + " END"
}

// segmentIn returns the start of the segment of a record whose segment is in a run.
func (p *printer) segmentIn(run query.SegmentRun) fragment {
	number := p.dialect.quotient("(ts_ms - "+integer(run.Start*1000)+")", integer(run.Seconds*1000))
	return number + " * " + integer(run.Seconds) + " + " + integer(run.Start)
}
