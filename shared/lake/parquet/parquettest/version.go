package parquettest

import (
	"embed"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
)

//go:embed objects
var stored embed.FS

// Stored returns an object of a version of the schema, as the programs of that version wrote it. Every version has one,
// which never changes. A test of package parquet writes the object of a new version.
func Stored(t testing.TB, version int) []byte {
	t.Helper()
	object, err := stored.ReadFile(fmt.Sprintf("objects/v%d.parquet", version))
	if err != nil {
		t.Fatal(err)
	}
	return object
}

// AddColumns makes the named columns of lake.Row an addition of the next version of the schema until the test ends.
// Objects that are written before have the version before, and Older removes the columns from them. The test must not
// run in parallel with others.
func AddColumns(t testing.TB, columns ...string) {
	before := lake.Additions
	t.Cleanup(func() { lake.Additions = before })
	lake.Additions = append(slices.Clone(before), columns)
}

// Forget sets the columns of the last version of the schema to absent in a row, as Older does in an object.
func Forget(row *lake.Row) {
	v := reflect.ValueOf(row).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("parquet"), ",")
		if lake.AddedIn(name) == lake.SchemaVersion() {
			v.Field(i).SetZero()
		}
	}
}

// Older returns the object as a program before the last version of the schema would have written it: without the
// columns of that version. The pages of these columns stay in the object, but the footer does not lead to them.
func Older(t testing.TB, object []byte) []byte {
	t.Helper()
	version := lake.SchemaVersion() - 1
	return WithFooter(t, object, func(footer *format.FileMetaData) {
		for _, name := range lake.Additions[version-1] {
			RemoveColumn(t, footer, name)
		}
		SetVersion(footer, version)
	})
}

// NewColumn is the name of the column that Newer adds. Row does not have it.
const NewColumn = "edge"

// Newer returns the object as a program with the next version of the schema might have written it: with the additional
// column NewColumn, which has the values of the column host.
func Newer(t testing.TB, object []byte) []byte {
	t.Helper()
	return WithFooter(t, object, func(footer *format.FileMetaData) {
		c := find(t, footer, "host")
		node := footer.Schema[c.node]
		node.Name = NewColumn
		footer.Schema = slices.Insert(footer.Schema, c.node, node)
		footer.Schema[0].NumChildren.V++
		footer.ColumnOrders = slices.Insert(footer.ColumnOrders, c.leaf, footer.ColumnOrders[c.leaf])
		for i := range footer.RowGroups {
			g := &footer.RowGroups[i]
			chunk := g.Columns[c.leaf]
			chunk.MetaData.PathInSchema = []string{NewColumn}
			g.Columns = slices.Insert(g.Columns, c.leaf, chunk)
		}
		SetVersion(footer, lake.SchemaVersion()+1)
	})
}

const versionKey = "orrery.schema_version"

// SetVersion sets the version of the schema in a footer.
func SetVersion(footer *format.FileMetaData, version int) {
	footer.KeyValueMetadata = []format.KeyValue{{Key: versionKey, Value: strconv.Itoa(version)}}
}

// PresentVersion is the option of a writer of parquet-go for objects of the present version of the schema.
func PresentVersion() parquet.WriterOption {
	return parquet.KeyValueMetadata(versionKey, strconv.Itoa(lake.SchemaVersion()))
}

// RemoveColumn removes a top-level column from a footer.
func RemoveColumn(t testing.TB, footer *format.FileMetaData, column string) {
	t.Helper()
	c := find(t, footer, column)
	footer.Schema = slices.Delete(footer.Schema, c.node, c.nodeEnd)
	footer.Schema[0].NumChildren.V--
	footer.ColumnOrders = slices.Delete(footer.ColumnOrders, c.leaf, c.leafEnd)
	for i := range footer.RowGroups {
		g := &footer.RowGroups[i]
		g.Columns = slices.Delete(g.Columns, c.leaf, c.leafEnd)
	}
}

// WithFooter returns the object with a changed footer.
func WithFooter(t testing.TB, object []byte, change func(*format.FileMetaData)) []byte {
	t.Helper()
	const tail = 8 // the length of the footer and the magic word
	end := len(object) - tail
	begin := end - int(binary.LittleEndian.Uint32(object[end:]))
	var footer format.FileMetaData
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, object[begin:end], &footer); err != nil {
		t.Fatal(err)
	}
	change(&footer)
	text, err := thrift.Marshal(&thrift.CompactProtocol{}, &footer)
	if err != nil {
		t.Fatal(err)
	}
	changed := append(slices.Clone(object[:begin]), text...)
	changed = binary.LittleEndian.AppendUint32(changed, uint32(len(text)))
	return append(changed, object[end+4:]...)
}

// place is where a top-level column is in a footer: its nodes and its leaves.
type place struct{ node, nodeEnd, leaf, leafEnd int }

func find(t testing.TB, footer *format.FileMetaData, column string) place {
	t.Helper()
	c := place{nodeEnd: 1}
	for c.nodeEnd < len(footer.Schema) {
		c.node, c.leaf = c.nodeEnd, c.leafEnd
		for open := 1; open > 0; c.nodeEnd++ {
			n := int(footer.Schema[c.nodeEnd].NumChildren.V)
			if open += n - 1; n == 0 {
				c.leafEnd++
			}
		}
		if footer.Schema[c.node].Name == column {
			return c
		}
	}
	t.Fatalf("the object has no column %s", column)
	return place{}
}
