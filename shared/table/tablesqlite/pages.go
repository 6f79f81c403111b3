package tablesqlite

import (
	"context"
	"database/sql"
	"fmt"
	"math"

	"github.com/orrery/orrery/shared/sqlitefile"
	"github.com/orrery/orrery/shared/table"
)

// pages reads the items of a range, a page at a time.
type pages struct {
	partition string
	low, high bound
	backwards bool
	left      int // items to read
}

// bound is a condition on sort keys.
type bound struct {
	operator string
	sort     any
}

const pageSize = 16 // items; a text of a document may have 350,000 bytes

func pagesOf(r table.Range) pages {
	// A BLOB is greater than every TEXT.
	p := pages{r.Partition, bound{">=", r.From}, bound{"<", []byte{}}, r.Backwards, math.MaxInt}
	switch n := len(r.Prefix); {
	case n > 0: // no byte of UTF-8 is 0xff
		p.low.sort, p.high.sort = r.Prefix, r.Prefix[:n-1]+string([]byte{r.Prefix[n-1] + 1})
	case r.To != "":
		p.high = bound{"<=", r.To}
	}
	if r.Limit > 0 {
		p.left = r.Limit
	}
	return p
}

// next reads the next page. It is empty after the last item.
func (p *pages) next(ctx context.Context, conn *sql.Conn) ([]table.Item, error) {
	order := "sort"
	if p.backwards {
		order = "sort DESC"
	}
	query := fmt.Sprintf("SELECT sort, attributes FROM items WHERE partition = ? AND sort %s ? AND sort %s ? ORDER BY %s LIMIT ?",
		p.low.operator, p.high.operator, order)
	page, err := sqlitefile.Rows(ctx, conn, func(row *sql.Rows) (table.Item, error) {
		var sort, text string
		if err := row.Scan(&sort, &text); err != nil {
			return table.Item{}, err
		}
		return itemOf(table.Key{Partition: p.partition, Sort: sort}, text)
	}, query, p.partition, p.low.sort, p.high.sort, min(p.left, pageSize))
	if err != nil || len(page) == 0 {
		return nil, err
	}
	p.left -= len(page)
	if last := page[len(page)-1].Key.Sort; p.backwards {
		p.high = bound{"<", last}
	} else {
		p.low = bound{">", last}
	}
	return page, nil
}
