package parquet

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
)

// Entries are the different values of a column in a row group.
type Entries struct {
	texts *Texts
	ints  []int64
}

// Len returns the number of entries.
func (e Entries) Len() int {
	if e.texts != nil {
		return e.texts.Len()
	}
	return len(e.ints)
}

// At returns an entry as text, integers in digits. The bytes must not be changed.
func (e Entries) At(i int32) []byte {
	if e.texts != nil {
		return e.texts.At(i)
	}
	return strconv.AppendInt(nil, e.ints[i], 10)
}

// Dictionary reads the different values of a column in a row group from the dictionary page. It reads no other page. It
// also returns the size of that page. complete is false if the page does not have all values: the column has no
// dictionary, or some of its pages do not use it. If the object lacks the column, it has no values.
func (c *ColumnReader) Dictionary(group int, column Column) (entries Entries, bytes int64, complete bool, err error) {
	l := column.leaf
	defer func() {
		if err != nil {
			err = fmt.Errorf("row group %d, dictionary of %s: %w", group, l.path, err)
		}
	}()
	defer contain(&err)
	if c.columns.of[l.number] == missing {
		return Entries{}, 0, true, nil
	}
	place := c.groups[group].chunks[l.number]
	if place.dictionary == 0 {
		return Entries{}, 0, false, nil
	}
	bytes = place.dictionary
	in, err := sectionOf(c.in, c.size, place.offset, bytes)
	if err != nil {
		return Entries{}, 0, false, err
	}
	p := pageReaders.Get().(*pageReader)
	defer pageReaders.Put(p)
	p.reset(l, in)
	isData, err := p.readPage()
	switch {
	case errors.Is(err, io.EOF):
		return Entries{}, 0, false, unexpected(err)
	case err != nil:
		return Entries{}, 0, false, err
	case isData:
		return Entries{}, 0, false, errors.New("a data page is in its place")
	}
	if l.kind == lake.Int {
		return Entries{ints: append([]int64(nil), p.entries.ints...)}, bytes, true, nil
	}
	entries.texts = &Texts{}
	*entries.texts, p.entries.texts = p.entries.texts, Texts{} // the reader must not use the memory again
	return entries, bytes, true, nil
}

// dictionaryLength returns the length of the dictionary page of a column of a row group, or 0 if the page does not have
// all values.
func dictionaryLength(meta *format.ColumnMetaData) int64 {
	if meta.DictionaryPageOffset == 0 || !onlyCodes(meta) {
		return 0
	}
	return meta.DataPageOffset - meta.DictionaryPageOffset
}

// onlyCodes reports whether all data pages of a column of a row group have codes of the dictionary. A writer may stop
// to use a dictionary that has grown too large.
func onlyCodes(meta *format.ColumnMetaData) bool {
	pages := 0
	for _, stats := range meta.EncodingStats {
		if stats.PageType != format.DataPage && stats.PageType != format.DataPageV2 {
			continue
		}
		if stats.Encoding != format.RLEDictionary {
			return false
		}
		pages++
	}
	return pages > 0
}
