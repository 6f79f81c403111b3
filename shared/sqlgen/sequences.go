package sqlgen

import (
	"slices"
	"strconv"

	"github.com/orrery/orrery/shared/query"
)

// Sequences are the records of the keys that have more than so many of them. A window function counts the records of a
// key, so that they are read once. The rows have no order; query.Sequences.SequencesOf sorts them.

func keyPart(i int) fragment   { return name("key_" + strconv.Itoa(i+1)) }
func withValue(i int) fragment { return name("with_" + strconv.Itoa(i+1)) }

// sequencedRecords are the columns of a record in a sequence.
func (p *printer) sequencedRecords(shape query.Sequences) []fragment {
	columns := []fragment{"ts_ms", "ts_nanos", p.selectedBits(shape.Of) + " AS selected"}
	for i, d := range shape.Key {
		columns = append(columns, p.dimension(d)+" AS "+keyPart(i))
	}
	for i, d := range slices.Concat(shape.With, shape.Also) {
		columns = append(columns, p.dimension(d)+" AS "+withValue(i))
	}
	return columns
}

// selectedBits is the number whose bit i is set if selection i has the record.
func (p *printer) selectedBits(of []query.Selection) fragment {
	sum := fragment("0")
	for i, s := range of {
		parts, _ := p.holding(s.Conditions)
		sum += " + CASE WHEN " + both(parts) + " THEN " + integer(1<<i) + " ELSE 0 END"
	}
	return "(" + sum + ")"
}

func (p *printer) sequences(shape query.Sequences, records block) block {
	var key, present []fragment
	columns := []fragment{"ts_ms", "ts_nanos", "selected"}
	for i := range shape.Key {
		key, present = append(key, keyPart(i)), append(present, keyPart(i)+" IS NOT NULL")
	}
	columns = append(columns, key...)
	for i := range len(shape.With) + len(shape.Also) {
		columns = append(columns, withValue(i))
	}
	partition := fragment("")
	if len(key) > 0 {
		partition = "PARTITION BY " + join(key, ", ")
	}
	counted := selection{
		columns: append(slices.Clone(columns), "count(*) OVER ("+partition+") AS n"),
		from:    records.bracketed("", " AS records"),
		where:   []block{lines(both(present))},
	}
	return selection{
		columns: columns,
		from:    counted.block().bracketed("", " AS counted"),
		where:   []block{lines("n > " + integer(shape.Over))},
		limit:   integer(query.MaxSequenced + 1),
	}.block()
}

func (p *printer) athenaSequences(shape query.Sequences) block {
	return p.sequences(shape, p.matching(selection{columns: p.sequencedRecords(shape)}, p.query.Columns()).block())
}

func (p *printer) duckDBSequences(shape query.Sequences) block {
	return p.sequences(shape, p.reading(selection{columns: p.sequencedRecords(shape)}).block())
}
