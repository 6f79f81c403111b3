package sqlgen

import (
	"fmt"

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
	columns := []string{"ts_ms", "ts_nanos"}
	var values []fragment
	for _, c := range catalog.ViewColumns() {
		value := name(c.Column)
		switch c.Type {
		case catalog.Time:
			value = "make_timestamp(ts_ms * 1000 + ts_nanos // 1000)"
		case catalog.Float:
			value += " / " + p.number(1e6)
		}
		if c.Type != catalog.Time {
			columns = append(columns, c.Column)
		}
		values = append(values, value+" AS "+name(c.Name))
	}
	var where []block
	if period != nil {
		where = []block{lines(exactTime([]query.Period{*period}))}
	}
	s := selection{columns: values, from: p.viewSource(columns), where: where}
	return append(lines("CREATE OR REPLACE VIEW "+name(view)+" AS"), s.block()...).String(), p.err
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
