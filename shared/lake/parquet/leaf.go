package parquet

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/encoding/rle"

	"github.com/orrery/orrery/shared/lake"
)

// leaf is one Parquet column, a leaf of the schema: how its values are stored, and where in a Row they are. All of it
// is derived from the tags of Row.
type leaf struct {
	number     int // of the column, from 0
	path       []string
	kind       lake.Kind // Text, Int or Bool
	dictionary bool
	bloom      bool
	encoding   encoding.Encoding // of the values in a page, or of their codes
	codec      compress.Codec

	maxRep, maxDef     byte // the greatest repetition and definition level
	repCoder, defCoder rle.Encoding
	location
}

// location is the place of a leaf's values in a Row: a field, a member of the field's struct, or a member of the
// elements of the field's list.
type location struct {
	layout   layout
	items    reflect.Type // a slice of the struct, or of the elements of the list
	offset   uintptr      // of the field in Row
	size     uintptr      // of the struct, or of an element of the list
	member   uintptr      // offset of the member in struct or element
	optional bool         // the value is behind a pointer
	first    bool         // no earlier leaf is in the same field
}

type layout uint8

const (
	valueLayout  layout = iota // the field is the value
	structLayout               // the field points to a struct, nil if absent
	listLayout                 // the field is a slice, nil if absent
)

// elementLevel is the definition level from which a list has elements. An absent list has level 0, an empty one 1.
const elementLevel = 2

// leavesOf has the leaves of each top-level column.
var leavesOf = func() map[string][]*leaf {
	all := map[string][]*leaf{}
	for i := range leaves {
		l := &leaves[i]
		all[l.path[0]] = append(all[l.path[0]], l)
	}
	return all
}()

// adjacentColumns are the columns that queries for figures and for the newest records read most, in an order in which
// the columns of one query are next to each other. A reader of object storage gets them in few requests.
var adjacentColumns = []string{
	"ts_ms", "ts_nanos", "source", "line", "hostname", "host", "request_length", "total_us", "bytes_sent", "session",
	"status", "upstream_status", "ip", "blocked", "challenge", "ichallenge", "human", "bot", "monitor",
	"monitor_reasons", "reason", "country", "organization", "asn", "referer", "svcid", "user_agent", "origin_us",
	"svc_us", "url",
}

// writingOrder has the numbers of the leaves in the order in which the columns of a row group are written. The footer
// lists them in the order of the schema. Readers find a column by its offset there.
var writingOrder = func() (order []int) {
	for _, name := range adjacentColumns {
		for _, l := range leavesOf[name] {
			order = append(order, l.number)
		}
	}
	for i := range leaves {
		if !slices.Contains(adjacentColumns, leaves[i].path[0]) {
			order = append(order, i)
		}
	}
	return order
}()

// The codecs are shared by all writers: their encoders need megabytes and are reused.
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

// bloomColumns have a bloom filter, because queries look for single values in them.
var bloomColumns = []string{"request_id", "ip", "session"}

// HasBloomFilter reports whether a column has a bloom filter.
func HasBloomFilter(column string) bool { return slices.Contains(bloomColumns, column) }

// newLeaf returns the leaf at a position of the schema. options are the options of its tag. Integers without an
// encoding are delta encoded, for which parquet-go has no tag on pointers.
func newLeaf(number int, kind lake.Kind, options []string, at position) leaf {
	l := leaf{
		number: number, path: at.path, kind: kind, bloom: HasBloomFilter(at.path[0]),
		encoding: &plainEncoding, codec: fastZstd,
		maxRep: at.rep, maxDef: at.def,
		location: locate(at.path),
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

// locate finds the leaf at a path in a Row. A path is the name of a field, then "list" and "element" if it is a list,
// then the name of a member if the elements are structs.
func locate(path []string) location {
	field, _ := fieldOf(reflect.TypeFor[lake.Row](), path[0])
	l := location{offset: field.Offset, first: true}
	t, rest := field.Type, path[1:]
	switch {
	case t.Kind() == reflect.Slice:
		t, rest = t.Elem(), rest[2:]
		l.layout, l.items, l.size = listLayout, field.Type, t.Size()
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		t = t.Elem()
		l.layout, l.items, l.size = structLayout, reflect.SliceOf(t), t.Size()
	}
	if len(rest) > 0 {
		member, i := fieldOf(t, rest[0])
		l.member, l.first, t = member.Offset, i == 0, member.Type
	}
	l.optional = t.Kind() == reflect.Pointer
	return l
}

// fieldOf returns the field of a column, and its number.
func fieldOf(t reflect.Type, column string) (reflect.StructField, int) {
	for i := range t.NumField() {
		if name, _ := tagOf(t.Field(i), "parquet"); name == column {
			return t.Field(i), i
		}
	}
	panic(fmt.Sprintf("parquet: %s has no column %s", t, column))
}
