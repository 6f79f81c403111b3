package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// ColumnReader reads whole columns of an object, one row group at a time, in the form they are stored in: texts as
// codes of a dictionary. It is what a scan over few columns and all rows wants; File is for few rows. It keeps the
// footer only and is safe for concurrent use.
type ColumnReader struct {
	file   *parquet.File
	groups []parquet.RowGroup
}

// OpenColumns reads the footer of an object.
func OpenColumns(r io.ReaderAt, size int64) (_ *ColumnReader, err error) {
	defer contain(&err)
	file, err := openParquet(r, size, parquet.SkipPageIndex(true), parquet.ReadBufferSize(readBuffer))
	if err != nil {
		return nil, err
	}
	return &ColumnReader{file: file, groups: file.RowGroups()}, nil
}

// readBuffer is how much is read ahead: a compressed page of an ordinary column.
const readBuffer = 64 << 10

// RowGroup is what the footer tells of a row group.
type RowGroup struct {
	Rows             int
	MinTsMs, MaxTsMs int64 // ts_ms of the first and of the last row
}

// RowGroups lists the row groups of the object.
func (c *ColumnReader) RowGroups() (all []RowGroup, err error) {
	defer contain(&err)
	for i, g := range c.groups {
		chunk, ok := g.ColumnChunks()[leavesOf["ts_ms"][0]].(*parquet.FileColumnChunk)
		if !ok {
			return nil, fmt.Errorf("row group %d: no column of times", i)
		}
		first, last, ok := chunk.Bounds()
		if !ok || g.NumRows() > maxGroupRows {
			return nil, fmt.Errorf("row group %d: the footer tells no bounds of its time, or %d rows", i, g.NumRows())
		}
		all = append(all, RowGroup{Rows: int(g.NumRows()), MinTsMs: first.Int64(), MaxTsMs: last.Int64()})
	}
	return all, nil
}

// maxGroupRows is more than any writer puts into a row group; a footer that says more is damaged.
const maxGroupRows = 1 << 24

// StoredColumn is a Parquet column: a top-level column of one value or a list, or a member of its structs.
type StoredColumn struct {
	number   int
	kind     parquet.Kind
	repeated bool
	full     byte // definition level of a value that is there
	dict     bool
	bloom    bool
}

// StoredColumnOf finds the Parquet column that holds a top-level column, or a member of its structs.
func StoredColumnOf(column, member string) (StoredColumn, bool) {
	for _, number := range leavesOf[column] {
		path := rowSchema.Columns()[number]
		if last := path[len(path)-1]; member != "" && last != member {
			continue
		}
		found, ok := rowSchema.Lookup(path...)
		return StoredColumn{
			number: number, kind: found.Node.Type().Kind(), repeated: found.MaxRepetitionLevel > 0, full: byte(found.MaxDefinitionLevel),
			dict:  found.Node.Encoding() != nil && found.Node.Encoding().Encoding() == format.RLEDictionary,
			bloom: HasBloomFilter(column),
		}, ok
	}
	return StoredColumn{}, false
}

// HasDictionary tells whether equal values are stored once a row group.
func (c StoredColumn) HasDictionary() bool { return c.dict }

// HasBloomFilter tells whether a row group can be passed over that lacks a value.
func (c StoredColumn) HasBloomFilter() bool { return c.bloom }

// Absent is the code of a row without a value, and the state of such a flag.
const Absent = -1

// ColumnValues is a Parquet column of a row group: Codes for texts, and for integers that have a dictionary; else
// Ints, or Flags. Reading into it again uses its memory again.
//
// Of a list, the values of row i are those from Starts[i] to Starts[i+1], and none is absent: an element without
// the member is left out. Otherwise Starts is empty and every row has one value or none.
type ColumnValues struct {
	Starts []int32

	Codes []int32 // entries by number; Absent for none
	Texts Texts   // the entries of texts, no two equal
	Ints  []int64 // the entries of integers, no two equal; without Codes the values, 0 for none

	Present []bool // which of the integers without Codes are there; empty when all are
	Flags   []int8 // 0, 1 or Absent

	from  parquet.Dictionary // that the entries begin with
	texts *Dictionary        // of the entries, made when a page has no codes
	ints  *intDictionary
}

// Entries is how many entries the dictionary has.
func (v *ColumnValues) Entries() int { return max(v.Texts.Len(), len(v.Ints)) }

func (v *ColumnValues) reset() {
	v.Starts, v.Codes, v.Ints, v.Present, v.Flags = v.Starts[:0], v.Codes[:0], v.Ints[:0], v.Present[:0], v.Flags[:0]
	v.Texts, v.from, v.texts, v.ints = Texts{}, nil, nil, nil
}

// Read reads a column of a row group.
func (c *ColumnReader) Read(group int, column StoredColumn, v *ColumnValues) error {
	switch {
	case column.kind == parquet.Boolean:
		return c.readFlags(group, column, v)
	case column.kind == parquet.Int64 && !column.dict:
		return c.readInts(group, column, v)
	}
	return c.readCodes(group, column, v)
}

// readCodes reads values as codes of a dictionary. Pages that were written without one, as happens when it grew too
// large, get entries of their own.
func (c *ColumnReader) readCodes(group int, column StoredColumn, v *ColumnValues) error {
	read := func(page parquet.Page) (err error) {
		data := page.Data()
		var codes []int32
		dictionary := page.Dictionary()
		switch {
		case dictionary != nil:
			if err = v.take(dictionary, column.kind); err != nil {
				return err
			}
			codes = data.Int32()
			if n := int32(v.Entries()); outside(codes, n) {
				return fmt.Errorf("a code is none of %d entries", n)
			}
		case column.kind == parquet.Int64:
			codes = v.addInts(data.Int64())
		default:
			if codes, err = v.addTexts(data.ByteArray()); err != nil {
				return err
			}
		}
		v.Codes, err = spread(column, page, v, v.Codes, codes, Absent)
		return err
	}
	return c.read(group, column, v, read, func() int { return len(v.Codes) })
}

// take makes a page's dictionary the entries, once for a column.
func (v *ColumnValues) take(dictionary parquet.Dictionary, kind parquet.Kind) error {
	if v.from == dictionary {
		return nil
	}
	if v.Entries() > 0 {
		return errors.New("a dictionary follows on values without one")
	}
	v.from = dictionary
	data := dictionary.Page().Data()
	if kind == parquet.Int64 {
		v.Ints = append(v.Ints, data.Int64()...)
		return nil
	}
	text, offsets := data.ByteArray()
	v.Texts = Texts{bytes: slices.Clip(text), offsets: slices.Clip(offsets)}
	return nil
}

// addTexts returns the codes of texts, and adds those that are new to the entries.
func (v *ColumnValues) addTexts(text []byte, offsets []uint32) ([]int32, error) {
	if v.texts == nil {
		v.texts = &Dictionary{}
		if err := v.texts.Append(&v.Texts); err != nil {
			return nil, err
		}
	}
	page := Texts{bytes: text, offsets: offsets}
	codes := make([]int32, page.Len())
	for i := range codes {
		one := page.At(int32(i))
		codes[i] = v.texts.Code(one, Hash(one))
	}
	v.Texts = v.texts.Texts
	return codes, nil
}

// addInts is addTexts for integers.
func (v *ColumnValues) addInts(values []int64) []int32 {
	if v.ints == nil {
		v.ints = &intDictionary{}
		for _, n := range v.Ints {
			v.ints.code(n)
		}
	}
	codes := make([]int32, len(values))
	for i, n := range values {
		codes[i] = v.ints.code(n)
	}
	v.Ints = v.ints.entries
	return codes
}

// readInts reads integers as they are.
func (c *ColumnReader) readInts(group int, column StoredColumn, v *ColumnValues) error {
	read := func(page parquet.Page) (err error) {
		data := page.Data()
		var values []int64
		if dictionary := page.Dictionary(); dictionary != nil {
			stored := dictionary.Page().Data()
			entries, codes := stored.Int64(), data.Int32()
			if outside(codes, int32(len(entries))) {
				return fmt.Errorf("a code is none of %d entries", len(entries))
			}
			values = make([]int64, len(codes))
			for i, code := range codes {
				values[i] = entries[code]
			}
		} else {
			values = data.Int64()
		}
		if !column.repeated {
			v.Present = column.presence(page, v.Present, len(v.Ints))
		}
		v.Ints, err = spread(column, page, v, v.Ints, values, 0)
		return err
	}
	return c.read(group, column, v, read, func() int { return len(v.Ints) })
}

// readFlags reads truths; there are no lists of them.
func (c *ColumnReader) readFlags(group int, column StoredColumn, v *ColumnValues) error {
	var values []int8
	read := func(page parquet.Page) (err error) {
		data := page.Data()
		bits := data.Boolean()
		values = values[:0]
		for i := range page.NumValues() - page.NumNulls() {
			values = append(values, int8(bits[i/8]>>(i%8)&1))
		}
		v.Flags, err = spread(column, page, v, v.Flags, values, Absent)
		return err
	}
	return c.read(group, column, v, read, func() int { return len(v.Flags) })
}

// read hands over the pages of a column one by one, and checks that they are the rows of the group.
func (c *ColumnReader) read(group int, column StoredColumn, v *ColumnValues, each func(parquet.Page) error, length func() int) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("row group %d, column %s: %w", group, rowSchema.Columns()[column.number], err)
		}
	}()
	defer contain(&err)
	v.reset()
	pages := c.groups[group].ColumnChunks()[column.number].Pages()
	defer func() { err = errors.Join(err, pages.Close()) }()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		err = each(page)
		parquet.Release(page)
		if err != nil {
			return err
		}
	}
	rows := length()
	if column.repeated {
		rows = len(v.Starts)
		v.Starts = append(v.Starts, int32(length()))
	}
	if want := c.groups[group].NumRows(); int64(rows) != want {
		return fmt.Errorf("%d rows instead of %d", rows, want)
	}
	return nil
}

// spread puts the values of a page, which are only those that are there, where their rows are.
func spread[T any](column StoredColumn, page parquet.Page, v *ColumnValues, all, values []T, absent T) ([]T, error) {
	levels := page.DefinitionLevels()
	if column.repeated {
		repeats, next := page.RepetitionLevels(), 0
		for i, level := range levels {
			if repeats[i] == 0 {
				v.Starts = append(v.Starts, int32(len(all)))
			}
			if level == column.full {
				all = append(all, values[next])
				next++
			}
		}
		return all, sameNumber(next, len(values))
	}
	if len(levels) == 0 || len(levels) == len(values) {
		return append(all, values...), nil
	}
	next := 0
	for _, level := range levels {
		if level == column.full {
			all = append(all, values[next])
			next++
		} else {
			all = append(all, absent)
		}
	}
	return all, sameNumber(next, len(values))
}

func sameNumber(used, have int) error {
	if used != have {
		return fmt.Errorf("the levels tell of %d values, the page has %d", used, have)
	}
	return nil
}

// presence tells which of the rows of a page have a value; nothing is written down while all have.
func (c StoredColumn) presence(page parquet.Page, present []bool, before int) []bool {
	levels := page.DefinitionLevels()
	if len(present) == 0 && (len(levels) == 0 || bytes.Count(levels, []byte{c.full}) == len(levels)) {
		return present
	}
	for len(present) < before {
		present = append(present, true)
	}
	for _, level := range levels {
		present = append(present, level == c.full)
	}
	return present
}

// outside tells whether a code is not one of n entries.
func outside(codes []int32, n int32) bool {
	for _, code := range codes {
		if uint32(code) >= uint32(n) {
			return true
		}
	}
	return false
}
