package parquet

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"unsafe"

	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/encoding/rle"

	"github.com/orrery/orrery/shared/lake"
)

// leaf is one Parquet column: how its values are stored, and where in a Row they are. All of it is read off the tags
// of Row.
type leaf struct {
	number     int // of the column, from 0
	path       []string
	kind       lake.Kind // Text, Int or Bool
	dictionary bool
	bloom      bool
	encoding   encoding.Encoding // of the values in a page, or of their numbers in the dictionary
	codec      compress.Codec

	maxRep, maxDef     byte
	repCoder, defCoder rle.Encoding
	site
}

// site is where in a Row the values of a leaf are: in a field, or in a member of the struct or of the elements of the
// list that the field holds.
type site struct {
	nest     nest
	field    uintptr // offset of the field in Row
	size     uintptr // of a list's element
	member   uintptr // offset of the member in struct or element
	optional bool    // the value is behind a pointer
}

type nest uint8

const (
	single nest = iota // the field is the value
	group              // the field points to a struct, nil if absent
	list               // the field is a slice, nil if absent
)

// The codecs are shared by all writers: their encoders take megabytes, and are used again.
var (
	fastZstd  = &zstd.Codec{Level: zstd.SpeedFastest}
	denseZstd = &zstd.Codec{Level: zstd.DefaultLevel}
)

// The encodings of pages.
var (
	plainEncoding plain.Encoding
	dictEncoding  rle.DictionaryEncoding
	deltaEncoding delta.BinaryPackedEncoding
)

// bloomColumns have a bloom filter: one looks for single values in them.
var bloomColumns = []string{"request_id", "ip", "session"}

// HasBloomFilter tells whether a column has a bloom filter.
func HasBloomFilter(column string) bool { return slices.Contains(bloomColumns, column) }

// newLeaf is the leaf of that number at a place of the schema. options is how its tag says that it is stored: integers
// without an encoding are delta encoded, which parquet-go knows no tag for on pointers.
func newLeaf(number int, kind lake.Kind, options []string, at place) leaf {
	l := leaf{
		number: number, path: at.path, kind: kind, bloom: HasBloomFilter(at.path[0]),
		encoding: &plainEncoding, codec: fastZstd,
		maxRep: at.rep, maxDef: at.def,
		site: siteOf(at.path),
	}
	l.repCoder.BitWidth, l.defCoder.BitWidth = bits.Len8(l.maxRep), bits.Len8(l.maxDef)
	l.dictionary = slices.Contains(options, "dict")
	switch {
	case l.dictionary:
		l.encoding = &dictEncoding
	case kind == lake.Int && !slices.Contains(options, "plain"):
		l.encoding = &deltaEncoding
	}
	if slices.Contains(options, "zstd") {
		l.codec = denseZstd
	}
	return l
}

// siteOf finds the place in a Row of the leaf at a path: a field's name, then "list" and "element" if it is a list, then
// the name of a member if it is one of structs.
func siteOf(path []string) site {
	field := fieldOf(reflect.TypeFor[lake.Row](), path[0])
	s, t, rest := site{field: field.Offset}, field.Type, path[1:]
	switch {
	case t.Kind() == reflect.Slice:
		t, rest = t.Elem(), rest[2:]
		s.nest, s.size = list, t.Size()
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		t = t.Elem()
		s.nest = group
	}
	if len(rest) > 0 {
		member := fieldOf(t, rest[0])
		s.member, t = member.Offset, member.Type
	}
	s.optional = t.Kind() == reflect.Pointer
	return s
}

func fieldOf(t reflect.Type, column string) reflect.StructField {
	for i := range t.NumField() {
		if name, _ := tagOf(t.Field(i), "parquet"); name == column {
			return t.Field(i)
		}
	}
	panic(fmt.Sprintf("parquet: %s has no column %s", t, column))
}

// levels is the repetition and definition levels of a page: what repeats, and what is absent.
type levels struct{ reps, defs []byte }

func (l *levels) reset() { l.reps, l.defs = l.reps[:0], l.defs[:0] }

// find appends the levels of the leaf in some rows, and the places of the values that are there: each leads to a
// string, an int64 or a bool.
func (l *leaf) find(rows []*lake.Row, to *levels, values []unsafe.Pointer) []unsafe.Pointer {
	switch {
	case l.nest == list:
		return l.findInLists(rows, to, values)
	case l.nest == group:
		for _, row := range rows {
			member := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(row), l.field))
			if member == nil {
				to.defs = append(to.defs, 0)
				continue
			}
			values = l.findOne(unsafe.Add(member, l.member), to, values)
		}
	case l.optional:
		for _, row := range rows {
			value := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(row), l.field))
			if value == nil {
				to.defs = append(to.defs, 0)
				continue
			}
			to.defs = append(to.defs, 1)
			values = append(values, value)
		}
	default:
		for _, row := range rows {
			values = append(values, unsafe.Add(unsafe.Pointer(row), l.field))
		}
	}
	return values
}

// findInLists: an absent list has level 0, an empty one level 1, an element a higher one.
func (l *leaf) findInLists(rows []*lake.Row, to *levels, values []unsafe.Pointer) []unsafe.Pointer {
	for _, row := range rows {
		// A slice of bytes only here: of any slice, the length is the number of elements.
		elements := *(*[]byte)(unsafe.Add(unsafe.Pointer(row), l.field))
		if len(elements) == 0 {
			def := byte(1)
			if elements == nil {
				def = 0
			}
			to.reps, to.defs = append(to.reps, 0), append(to.defs, def)
			continue
		}
		at, rep := unsafe.Pointer(unsafe.SliceData(elements)), byte(0)
		for i := range len(elements) {
			to.reps = append(to.reps, rep)
			rep = 1
			values = l.findOne(unsafe.Add(at, uintptr(i)*l.size+l.member), to, values)
		}
	}
	return values
}

// findOne takes in one value of a struct or list that is there.
func (l *leaf) findOne(at unsafe.Pointer, to *levels, values []unsafe.Pointer) []unsafe.Pointer {
	if l.optional {
		if at = *(*unsafe.Pointer)(at); at == nil {
			to.defs = append(to.defs, l.maxDef-1)
			return values
		}
	}
	to.defs = append(to.defs, l.maxDef)
	return append(values, at)
}
