package sqlgen

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// View writes the statement for DuckDB that creates a view of the records in objects, with the columns of
// catalog.ViewColumns. Times are timestamps in UTC, and durations are seconds. The view has the records of the period,
// or all for nil.
func View(view string, objects []lake.Object, period *query.Period) (string, error) {
	if !plainName.MatchString(view) {
		return "", fmt.Errorf("%q is not a name of lower-case letters, digits and underscores", view)
	}
	p := &printer{dialect: duckDB{}, objects: objects}
	columns, values := p.viewColumns("make_timestamp(ts_ms * 1000 + ts_nanos // 1000)")
	var where []block
	if period != nil {
		where = []block{lines(exactTime([]query.Period{*period}))}
	}
	s := selection{columns: values, from: p.viewSource(columns), where: where}
	return append(lines("CREATE OR REPLACE VIEW "+name(view)+" AS"), s.block()...).String(), p.err
}

// viewColumns returns the columns that a view reads, and those that it has. at is the time of a record.
func (p *printer) viewColumns(at fragment) (columns []string, values []fragment) {
	columns = []string{"ts_ms", "ts_nanos"}
	for _, c := range catalog.ViewColumns() {
		value := name(c.Column)
		switch c.Type {
		case catalog.Time:
			value = at
		case catalog.Float:
			value += " / " + p.number(1e6)
		}
		if c.Type != catalog.Time {
			columns = append(columns, c.Column)
		}
		values = append(values, value+" AS "+name(c.Name))
	}
	return columns, values
}

// maxTrinoBytes is the default of query.max-length of Trino.
const maxTrinoBytes = 1_000_000

// TrinoView is like View for Trino, over the tables of lake.Table.TrinoDDL in the schema of the session. The objects
// are copied to a location, such as "s3://bucket/lake/". The error is a *LimitError if the statement is too long for
// Trino.
func TrinoView(view, location string, objects []lake.Object, period *query.Period) (string, error) {
	if !plainName.MatchString(view) || slices.Contains(lake.TableNames, view) {
		return "", fmt.Errorf("%q is not a name of lower-case letters, digits and underscores, or is a table", view)
	}
	p := &printer{dialect: athena{}}
	columns, values := p.viewColumns("from_unixtime_nanos(CAST(ts_ms AS DECIMAL(19, 0)) * 1000000 + ts_nanos)")
	var tables []block
	for _, table := range lake.TableNames {
		paths, hours := p.pathsIn(table, location, objects)
		if len(paths) == 0 {
			continue
		}
		where := []block{hours, append(append(lines(`"$path" IN (`), listed(paths).deeper()...), line{0, ")"})}
		if period != nil {
			where = append(where, lines(exactTime([]query.Period{*period})))
		}
		tables = append(tables, selection{columns: names(columns), from: lines(name(table)), where: where}.block())
	}
	if len(tables) == 0 {
		return "", errors.New("there are no objects")
	}
	s := selection{columns: values, from: unionAll(tables).bracketed("", " AS traffic")}
	text := append(lines("CREATE OR REPLACE VIEW "+name(view)+" AS"), s.block()...).String()
	if len(text) > maxTrinoBytes {
		p.fail(&LimitError{What: "bytes of SQL", Got: len(text), Limit: maxTrinoBytes})
	}
	return text, p.err
}

// pathsIn returns the paths of the objects in a table, as Trino names them, and the condition on their hours.
func (p *printer) pathsIn(table, location string, objects []lake.Object) (paths []fragment, hours block) {
	first, last := lake.Partition(math.MaxInt64), lake.Partition(math.MinInt64)
	for _, o := range objects {
		path := strings.TrimSuffix(location, "/") + "/" + lake.NameOf(o.Path)
		if strings.HasPrefix(path, lake.TableLocation(location, table)) {
			paths = append(paths, p.text(path))
			first, last = min(first, o.Partition), max(last, o.Partition)
		}
	}
	return paths, lines(lake.PartitionKey + " BETWEEN " + p.text(first.String()) + " AND " + p.text(last.String()))
}

// viewSource returns the FROM clause of a view: a union if objects of an older schema lack columns.
func (p *printer) viewSource(columns []string) block {
	parts := byColumns(p.objects, columns)
	if len(parts) == 0 || len(parts) == 1 && len(parts[0].missing) == 0 {
		return p.readParquet(p.objects)
	}
	union := make([]block, len(parts))
	for i, part := range parts {
		union[i] = selection{columns: part.values(columns), from: p.readParquet(part.objects)}.block()
	}
	return unionAll(union).bracketed("", " AS traffic")
}
