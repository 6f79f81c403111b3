package representation

import (
	"fmt"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/tabular"
)

// layout is how a media type holds results.
type layout interface {
	// open returns what comes before the results.
	open() []byte
	// result returns a result, given as JSON. It is valid until the next call.
	result(text []byte, first bool) []byte
	// close returns what comes after the results.
	close(meta search.Meta) []byte
}

// layoutFor returns the layout of a representation, for the results of a route. tz is the zone of their segments, or "".
func layoutFor(f Choice, to search.Route, fields []string, tz string) layout {
	switch f.MediaType {
	case content.CSV:
		table, ok := TableOf(to, fields)
		if !ok {
			panic(fmt.Sprintf("representation: no table for route %q", to))
		}
		if table.Raw = f.raw; tz != "" {
			table = WithLocalTimes(table)
		}
		return csvLayout{tabular.NewEncoder(table)}
	case content.NDJSON:
		return ndjsonLayout{}
	}
	return &jsonLayout{}
}

// jsonLayout is the container of results and meta.
type jsonLayout struct{ separated []byte }

func (*jsonLayout) open() []byte { return []byte(resultsOpen) }

func (l *jsonLayout) result(text []byte, first bool) []byte {
	if first {
		return text
	}
	l.separated = append(append(l.separated[:0], ','), text...)
	return l.separated
}

func (*jsonLayout) close(meta search.Meta) []byte {
	return append(append([]byte(resultsClose), content.Encode(meta)...), '}')
}

// ndjsonLayout has a result on each line.
type ndjsonLayout struct{}

func (ndjsonLayout) open() []byte                       { return nil }
func (ndjsonLayout) result(text []byte, _ bool) []byte  { return append(text, '\n') }
func (ndjsonLayout) close(search.Meta) (nothing []byte) { return nil }

// csvLayout has the rows of a table.
type csvLayout struct{ encoder *tabular.Encoder }

func (l csvLayout) open() []byte { return l.encoder.Head() }

func (l csvLayout) result(text []byte, _ bool) []byte {
	rows, err := l.encoder.Rows(text)
	if err != nil {
		panic("representation: a result has no row: " + err.Error())
	}
	return rows
}

func (csvLayout) close(search.Meta) (nothing []byte) { return nil }
