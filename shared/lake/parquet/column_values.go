package parquet

import (
	"errors"
	"slices"

	"github.com/orrery/orrery/shared/lake"
)

// Absent is the code of a row without a value, and the state of such a flag.
const Absent = -1

// ColumnValues is a Parquet column of a row group: Codes for texts, and for integers that have a dictionary; otherwise
// Ints, or Flags. Reading into it again reuses its memory.
//
// If the column is a list, row i has the values from Starts[i] to Starts[i+1]. No value is absent, because elements
// without the member are left out. Otherwise Starts is empty and every row has at most one value.
type ColumnValues struct {
	Starts []int32

	Codes []int32 // indexes of entries; Absent for no value
	Texts Texts   // the entries of texts, no two equal
	Ints  []int64 // the entries of integers, no two equal; without Codes the values, 0 if absent

	Present []bool // whether a row has an integer, if there are no Codes; empty if all rows have one
	Flags   []int8 // 0, 1 or Absent

	hasDictionary bool           // the entries come from the dictionary page
	texts         *Dictionary    // of the entries and further ones, once a page has no codes
	ints          *intDictionary // the same for integers

	pageCodes []int32
	pageInts  []int64
	pageFlags []int8
}

// Entries returns the number of entries of the dictionary.
func (v *ColumnValues) Entries() int { return max(v.Texts.Len(), len(v.Ints)) }

// Memory returns about how many bytes the values take.
func (v *ColumnValues) Memory() int64 {
	values := 4*(cap(v.Starts)+cap(v.Codes)) + 8*cap(v.Ints) + cap(v.Present) + cap(v.Flags)
	entries := cap(v.Texts.bytes) + 4*cap(v.Texts.offsets)
	pages := 4*cap(v.pageCodes) + 8*cap(v.pageInts) + cap(v.pageFlags)
	return int64(values + entries + pages)
}

func (v *ColumnValues) reset() {
	v.Starts, v.Codes, v.Ints, v.Present, v.Flags = v.Starts[:0], v.Codes[:0], v.Ints[:0], v.Present[:0], v.Flags[:0]
	v.Texts.reset()
	v.hasDictionary, v.texts, v.ints = false, nil, nil
}

// grow makes room for a column of as many rows: for its values, or, if it is a list, for the starts of its rows. There
// may be less room if a damaged footer gives far more rows than row groups have.
func (v *ColumnValues) grow(l *leaf, rows int) {
	rows = min(rows, maxRoom)
	switch {
	case l.maxRep > 0:
		v.Starts = slices.Grow(v.Starts, rows+1)
	case l.kind == lake.Bool:
		v.Flags = slices.Grow(v.Flags, rows+7) // appendBits writes eight at a time
	case l.kind == lake.Int && !l.dictionary:
		v.Ints = slices.Grow(v.Ints, rows)
	default:
		v.Codes = slices.Grow(v.Codes, rows)
	}
}

// end ends the column and returns the number of its rows.
func (v *ColumnValues) end(l *leaf) (rows int) {
	values := max(len(v.Codes), len(v.Flags))
	if values == 0 && !l.dictionary {
		values = len(v.Ints)
	}
	if l.maxRep == 0 {
		return values
	}
	rows = len(v.Starts)
	v.Starts = append(v.Starts, int32(values))
	return rows
}

// appendCodes appends a page of a column with a dictionary. Pages without codes, which some writers make when a
// dictionary has grown too large, add their values to the entries.
func (v *ColumnValues) appendCodes(p *pageReader) error {
	codes := p.codes
	switch {
	case p.coded:
		if err := v.takeDictionary(p); err != nil {
			return err
		}
	case p.leaf.kind == lake.Text:
		if err := v.addTexts(&p.plain.texts); err != nil {
			return err
		}
		codes = v.pageCodes
	default:
		v.addInts(p.plain.ints)
		codes = v.pageCodes
	}
	v.Codes = appendByRow(v, v.Codes, p, codes, Absent)
	return nil
}

// takeDictionary sets the entries of the column to the entries of the dictionary page. Later calls do nothing.
func (v *ColumnValues) takeDictionary(p *pageReader) error {
	if v.hasDictionary {
		return nil
	}
	if v.Entries() > 0 {
		return errors.New("a dictionary follows values that have none")
	}
	v.hasDictionary = true
	if p.leaf.kind == lake.Int {
		v.Ints = append(v.Ints, p.entries.ints...)
	} else {
		v.Texts, p.entries.texts = p.entries.texts, Texts{} // which Read has given the memory of v
	}
	return nil
}

// addTexts sets the page's codes to the codes of texts, and adds new texts to the entries.
func (v *ColumnValues) addTexts(texts *Texts) error {
	if v.texts == nil {
		v.texts = &Dictionary{}
		if err := v.texts.Append(&v.Texts); err != nil {
			return err
		}
	}
	v.pageCodes = v.pageCodes[:0]
	for i := range int32(texts.Len()) {
		text := texts.At(i)
		v.pageCodes = append(v.pageCodes, v.texts.Code(text, Hash(text)))
	}
	v.Texts = v.texts.Texts
	return nil
}

// addInts is addTexts for integers.
func (v *ColumnValues) addInts(values []int64) {
	if v.ints == nil {
		v.ints = &intDictionary{}
		for _, n := range v.Ints {
			v.ints.code(n)
		}
	}
	v.pageCodes = v.pageCodes[:0]
	for _, n := range values {
		v.pageCodes = append(v.pageCodes, v.ints.code(n))
	}
	v.Ints = v.ints.entries
}

// appendInts appends a page of integers.
func (v *ColumnValues) appendInts(p *pageReader) error {
	values := p.plain.ints
	if p.coded {
		v.pageInts = v.pageInts[:0]
		for _, code := range p.codes {
			v.pageInts = append(v.pageInts, p.entries.ints[code])
		}
		values = v.pageInts
	}
	if p.leaf.maxRep == 0 {
		v.appendPresent(p)
	}
	v.Ints = appendByRow(v, v.Ints, p, values, 0)
	return nil
}

// appendPresent records which rows of a page have a value. Present stays empty as long as all rows have one.
func (v *ColumnValues) appendPresent(p *pageReader) {
	if len(v.Present) == 0 && p.numPresent == p.numValues {
		return
	}
	for len(v.Present) < len(v.Ints) {
		v.Present = append(v.Present, true)
	}
	for i := range p.numValues {
		v.Present = append(v.Present, p.leaf.maxDef == 0 || p.defs[i] == p.leaf.maxDef)
	}
}

// appendFlags appends a page of booleans. No list holds booleans.
func (v *ColumnValues) appendFlags(p *pageReader) error {
	if p.coded {
		return errors.New("flags have codes")
	}
	if p.numPresent == p.numValues {
		v.Flags = appendBits(v.Flags, p.plain.bits, p.numPresent)
		return nil
	}
	v.pageFlags = appendBits(v.pageFlags[:0], p.plain.bits, p.numPresent)
	v.Flags = appendByRow(v, v.Flags, p, v.pageFlags, Absent)
	return nil
}

// flagsOfByte has the eight flags of each byte, the lowest bit first.
var flagsOfByte = func() (all [256][8]int8) {
	for b := range all {
		for i := range all[b] {
			all[b][i] = int8(b >> i & 1)
		}
	}
	return all
}()

// appendBits appends the first n bits as flags.
func appendBits(flags []int8, bits []byte, n int) []int8 {
	first := len(flags)
	flags = slices.Grow(flags, n+7)[:first+(n+7)/8*8]
	for i, b := range bits[:(n+7)/8] {
		*(*[8]int8)(flags[first+8*i:]) = flagsOfByte[b]
	}
	return flags[:first+n]
}

// appendByRow appends the values of a page; values lacks absent ones. It appends absent for each row without a value,
// or, for a list, the start of each row to Starts.
func appendByRow[T any](v *ColumnValues, all []T, p *pageReader, values []T, absent T) []T {
	max, next := p.leaf.maxDef, 0
	switch {
	case p.leaf.maxRep > 0:
		start := int32(len(all))
		reps := p.reps[:len(p.defs)]
		for i, def := range p.defs {
			if reps[i] == 0 {
				v.Starts = append(v.Starts, start)
			}
			if def == max {
				start++
			}
		}
		return append(all, values[:p.numPresent]...)
	case p.numPresent == p.numValues:
		return append(all, values...)
	default:
		all = slices.Grow(all, len(p.defs))
		for _, def := range p.defs {
			if def == max {
				all = append(all, values[next])
				next++
			} else {
				all = append(all, absent)
			}
		}
	}
	return all
}
