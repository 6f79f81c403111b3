package parquet

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"

	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
)

// ErrSchema reports that an object does not have exactly the columns of its schema version. The object is damaged, or
// was written by a program with a different list of versions.
var ErrSchema = errors.New("the object has different columns than the version of its schema")

// ErrNewerSchema reports that a newer program wrote the object, so that this program cannot do what was asked with it.
// The object is not damaged.
var ErrNewerSchema = errors.New("the object has a newer schema than this program")

// SchemaVersion returns the version of the schema of an object, which may be newer than this program's version. It
// reads only the footer.
func SchemaVersion(r io.ReaderAt, size int64) (version int, err error) {
	defer contain(&err)
	o := &object{in: r, size: size}
	if err := o.readFooter(); err != nil {
		return 0, fmt.Errorf("open parquet object: %w", err)
	}
	return o.schemaVersion()
}

// columnsOfObject are the leaves of the present schema in an object.
type columnsOfObject struct {
	of    []int // number of the object's column for each leaf, or missing
	total int   // number of the object's columns, including columns that only a newer schema has
}

const missing = -1

// schemaVersion returns the version in the metadata of the object. Objects without one are of version 1.
func (o *object) schemaVersion() (int, error) {
	for _, entry := range o.footer.KeyValueMetadata {
		if entry.Key != versionKey {
			continue
		}
		version, err := strconv.Atoi(entry.Value)
		if err != nil || version < 1 {
			return 0, fmt.Errorf("open parquet object: %q is not the version of a schema", entry.Value)
		}
		return version, nil
	}
	return 1, nil
}

// findColumns finds the columns of the present schema in the object. An object of an older schema must have exactly
// the columns of its version. One of a newer schema must have all columns of the present one, and may have others.
func (o *object) findColumns() (err error) {
	if o.version, err = o.schemaVersion(); err != nil {
		return err
	}
	present := lake.SchemaVersion()
	if o.version == present && reflect.DeepEqual([]format.SchemaElement(o.footer.Schema), schema) {
		o.columns = presentColumns
		return nil
	}
	var problem string
	if o.columns, problem = matchColumns(o.footer.Schema, o.version); problem == "" {
		return nil
	}
	kind := ErrSchema
	if o.version > present {
		kind = ErrNewerSchema
	}
	return fmt.Errorf("%w: its version is %d: %s", kind, o.version, problem)
}

// presentColumns are the columns of an object of exactly the present schema.
var presentColumns = func() columnsOfObject {
	c := columnsOfObject{total: len(leaves)}
	for i := range leaves {
		c.of = append(c.of, i)
	}
	return c
}()

// topColumn is a top-level column of a schema.
type topColumn struct {
	nodes  []format.SchemaElement
	first  int // number of its first leaf
	leaves int // how many it has
}

func (c topColumn) name() string { return c.nodes[0].Name }

// presentTop are the top-level columns of the present schema.
var presentTop = func() map[string]topColumn {
	byName := map[string]topColumn{}
	top, _ := topColumns(schema)
	for _, c := range top {
		byName[c.name()] = c
	}
	return byName
}()

// matchColumns compares the nodes of a schema of some version with the present schema. problem is "" if they match.
func matchColumns(nodes []format.SchemaElement, version int) (found columnsOfObject, problem string) {
	theirs, ok := topColumns(nodes)
	if !ok {
		return columnsOfObject{}, "the tree of its columns is damaged"
	}
	for range leaves {
		found.of = append(found.of, missing)
	}
	present, has := lake.SchemaVersion(), map[string]bool{}
	for _, column := range theirs {
		name := column.name()
		mine, known := presentTop[name]
		switch {
		case has[name]:
			return columnsOfObject{}, "it has column " + name + " twice"
		case known && lake.AddedIn(name) > version, !known && version <= present:
			return columnsOfObject{}, "it has column " + name
		case known && !reflect.DeepEqual(column.nodes, mine.nodes):
			return columnsOfObject{}, "its column " + name + " is of another type"
		}
		has[name] = true
		found.total += column.leaves
		for i := range mine.leaves {
			found.of[mine.first+i] = column.first + i
		}
	}
	for _, name := range lake.ColumnNames {
		if !has[name] && lake.AddedIn(name) <= version {
			return columnsOfObject{}, "it does not have column " + name
		}
	}
	return found, ""
}

// topColumns divides the nodes of a schema into its top-level columns. ok is false if the nodes are not a tree.
func topColumns(nodes []format.SchemaElement) (top []topColumn, ok bool) {
	if len(nodes) == 0 {
		return nil, false
	}
	next, leaf := 1, 0
	for next < len(nodes) {
		size, leaves := treeSize(nodes[next:])
		if size == 0 {
			return nil, false
		}
		top = append(top, topColumn{nodes: nodes[next : next+size], first: leaf, leaves: leaves})
		next, leaf = next+size, leaf+leaves
	}
	return top, len(top) == children(&nodes[0])
}

// treeSize returns how many nodes, and leaves among them, the tree has that begins with the first node. size is 0 if
// nodes are missing.
func treeSize(nodes []format.SchemaElement) (size, leaves int) {
	for open := 1; open > 0; size++ {
		if size == len(nodes) {
			return 0, 0
		}
		n := children(&nodes[size])
		switch {
		case n < 0:
			return 0, 0
		case n == 0:
			leaves++
		}
		open += n - 1
	}
	return size, leaves
}

func children(node *format.SchemaElement) int { return int(node.NumChildren.V) }
