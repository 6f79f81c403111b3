package parquet

import (
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
)

// Parquet returns the value as a value of parquet-go.
func (v *RawValue) Parquet() parquet.Value {
	value := parquet.NullValue()
	switch v.kind {
	case lake.Text:
		value = parquet.ByteArrayValue([]byte(v.text()))
	case lake.Int:
		value = parquet.Int64Value(int64(v.number))
	case lake.Bool:
		value = parquet.BooleanValue(v.number != 0)
	}
	return value.Level(int(v.rep), int(v.def), int(v.leaf))
}

// Storage is the path, encoding, codec and levels of a leaf.
type Storage struct {
	Path     []string
	Encoding format.Encoding
	Dense    bool // compressed by the codec's default level
	Rep, Def int
}

// Leaves lists the storage of the leaves.
func Leaves() (all []Storage) {
	for i := range leaves {
		l := &leaves[i]
		all = append(all, Storage{l.path, l.encoding.Encoding(), l.codec == denseZstd, int(l.maxRep), int(l.maxDef)})
	}
	return all
}
