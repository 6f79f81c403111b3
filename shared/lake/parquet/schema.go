package parquet

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
)

// schema is the Parquet schema of new objects as footers hold it, each node before its members, and the leaves among
// the nodes. Both are derived from Row and its tags. A test compares them with the schema of parquet-go. Only tests use
// the main package of parquet-go, because it would double the size of a program.
var schema, leaves = schemaOf(reflect.TypeFor[lake.Row]())

func schemaOf(row reflect.Type) ([]format.SchemaElement, []leaf) {
	root := format.SchemaElement{Name: row.Name(), NumChildren: thrift.New(int32(row.NumField()))}
	s := schemaBuilder{nodes: []format.SchemaElement{root}}
	for i := range row.NumField() {
		s.field(row.Field(i), position{})
	}
	return s.nodes, s.leaves
}

type schemaBuilder struct {
	nodes  []format.SchemaElement
	leaves []leaf
}

// position is the place of a node in the schema: the names from the root, and the levels of its values.
type position struct {
	path     []string
	rep, def byte
}

func (p position) below(name string, repetition format.FieldRepetitionType) position {
	p.path = append(slices.Clip(p.path), name)
	switch repetition {
	case format.Optional:
		p.def++
	case format.Repeated:
		p.def++
		p.rep++
	}
	return p
}

// field adds the nodes of a field of Row, or of a struct in it.
func (s *schemaBuilder) field(field reflect.StructField, in position) {
	name, options := tagOf(field, "parquet")
	switch t := field.Type; {
	case t.Kind() == reflect.Slice:
		s.list(field, name, in)
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		s.group(t.Elem(), name, format.Optional, in)
	case t.Kind() == reflect.Pointer:
		s.leaf(t.Elem(), name, format.Optional, options, in)
	default:
		s.leaf(t, name, format.Required, options, in)
	}
}

// list adds the three nodes that the format requires for a list.
func (s *schemaBuilder) list(field reflect.StructField, name string, in position) {
	in = s.node(format.SchemaElement{
		Name: name, NumChildren: thrift.New(int32(1)),
		ConvertedType: thrift.New(deprecated.List), LogicalType: format.LogicalType{Value: &format.ListType{}},
	}, format.Optional, in)
	in = s.node(format.SchemaElement{Name: "list", NumChildren: thrift.New(int32(1))}, format.Repeated, in)
	if t := field.Type.Elem(); t.Kind() == reflect.Struct {
		s.group(t, "element", format.Required, in)
	} else {
		_, options := tagOf(field, "parquet-element")
		s.leaf(t, "element", format.Required, options, in)
	}
}

func (s *schemaBuilder) group(t reflect.Type, name string, repetition format.FieldRepetitionType, in position) {
	in = s.node(format.SchemaElement{Name: name, NumChildren: thrift.New(int32(t.NumField()))}, repetition, in)
	for i := range t.NumField() {
		s.field(t.Field(i), in)
	}
}

func (s *schemaBuilder) leaf(
	t reflect.Type, name string, repetition format.FieldRepetitionType, options []string, in position,
) {
	node := format.SchemaElement{Name: name}
	kind := lake.TypeOf(t).Kind
	node.Type = thrift.New(physical[kind])
	switch kind {
	case lake.Text:
		node.ConvertedType = thrift.New(deprecated.UTF8)
		node.LogicalType.Value = &format.StringType{}
	case lake.Int:
		node.TypeLength = thrift.New(int32(64))
		node.ConvertedType = thrift.New(deprecated.Int64)
		node.LogicalType.Value = &format.IntType{BitWidth: 64, IsSigned: true}
	case lake.Bool:
		node.TypeLength = thrift.New(int32(1))
	}
	s.leaves = append(s.leaves, newLeaf(len(s.leaves), kind, options, s.node(node, repetition, in)))
}

func (s *schemaBuilder) node(node format.SchemaElement, repetition format.FieldRepetitionType, in position) position {
	node.RepetitionType = thrift.New(repetition)
	s.nodes = append(s.nodes, node)
	return in.below(node.Name, repetition)
}

// tagOf returns the name and the options in a tag of a field.
func tagOf(field reflect.StructField, key string) (name string, options []string) {
	parts := strings.Split(field.Tag.Get(key), ",")
	return parts[0], parts[1:]
}

// newFooter returns the footer of an object without rows.
func newFooter() format.FileMetaData {
	version := strconv.Itoa(lake.SchemaVersion())
	footer := format.FileMetaData{
		Version:          2,
		Schema:           schema,
		CreatedBy:        writerName + " version " + version + "(build )",
		KeyValueMetadata: []format.KeyValue{{Key: versionKey, Value: version}},
	}
	for range leaves {
		footer.ColumnOrders = append(footer.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
	}
	return footer
}
