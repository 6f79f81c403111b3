package lake

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The tables of the traffic in object storage, which have the same schema. Queries read hours before the watermark from
// the compacted table, and later hours from the fresh one.
const (
	CompactTable = "traffic_compact"
	FreshTable   = "traffic_fresh"
)

// ListTable is the table of the values of lists that filters name. Each list is a partition: a text with one value a line.
const ListTable = "value_lists"

// TableNames lists the tables of the traffic.
var TableNames = []string{CompactTable, FreshTable}

// PartitionKey is the only partition key of the tables of the traffic. Its values have the format of Partition.String.
const (
	PartitionKey     = "datehour"
	PartitionKeyType = "string"
)

// The column of ListTable, and its partition key, which a query must name.
const (
	ListColumn = "value"
	ListKey    = "digest"
)

// ListName returns the name of the object with the values of a list, in the bucket of a lake.
func ListName(digest string) string { return listFolder + "/" + digest + "/values.txt" }

// ProjectedAhead is how far into the future the tables reach. Queries do not see later records, so they must not be
// published.
const ProjectedAhead = 24 * time.Hour

// partitionFormat is the format of Partition.String in the syntax of partition projection.
const partitionFormat = "yyyy/MM/dd/HH"

// HiveColumn is a column, with its type as Hive, Glue and Athena write it.
type HiveColumn struct{ Name, Type string }

// HiveColumns returns the columns of the tables of the traffic in the order of Row, without the partition key.
func HiveColumns() []HiveColumn {
	columns := make([]HiveColumn, len(Columns))
	for i, c := range Columns {
		columns[i] = HiveColumn{c.Name, c.Type.String()}
	}
	return columns
}

// TableLocation returns the location of a table's objects, for the root of a lake, such as "s3://bucket/lake/". That of
// ListTable is beside the root. It ends in a slash.
func TableLocation(root, table string) string {
	folder := map[string]string{CompactTable: compactFolder, FreshTable: freshFolder}[table]
	if table == ListTable {
		root, folder = root[:strings.LastIndex(strings.TrimSuffix(root, "/"), "/")+1], listFolder
	}
	if folder == "" {
		panic("lake: no table " + table)
	}
	return folderOf(root) + folder + "/"
}

// Table is a table in the catalogue of an engine.
type Table struct {
	Schema   string // the database, as Athena calls it; for Trino a catalogue may precede it: "hive.traffic"
	Name     string // CompactTable, FreshTable or ListTable
	Location string // of its objects, see TableLocation
	FromYear int    // first year of the partitions
}

// Tables returns all tables of a lake under a root, such as "s3://bucket/lake/".
func Tables(root, schema string, fromYear int) []Table {
	var all []Table
	for _, name := range append(slices.Clone(TableNames), ListTable) {
		all = append(all, Table{Schema: schema, Name: name, Location: TableLocation(root, name), FromYear: fromYear})
	}
	return all
}

// Key returns the partition key of the table, which is a text.
func (t Table) Key() string {
	if t.Name == ListTable {
		return ListKey
	}
	return PartitionKey
}

// Columns returns the columns of the table without the partition key.
func (t Table) Columns() []HiveColumn {
	if t.Name == ListTable {
		return []HiveColumn{{ListColumn, "string"}}
	}
	return HiveColumns()
}

// Properties returns the properties that make an engine compute the partitions of the table (partition projection), so that
// nothing has to register them. Those of the traffic reach from the first hour of a year (UTC) to ProjectedAhead from
// now. An hour is visible as soon as its first object exists. The partitions of ListTable are those that queries name; no
// value of a list is empty, so the text of NULL is.
func (t Table) Properties() map[string]string {
	if t.Name == ListTable {
		return map[string]string{
			"projection.enabled":              "true",
			"projection." + ListKey + ".type": "injected",
			"serialization.null.format":       "",
			"storage.location.template":       t.locationTemplate(),
		}
	}
	return map[string]string{
		"projection.enabled":                            "true",
		"projection." + PartitionKey + ".type":          "date",
		"projection." + PartitionKey + ".format":        partitionFormat,
		"projection." + PartitionKey + ".range":         firstProjected(t.FromYear) + "," + lastProjected,
		"projection." + PartitionKey + ".interval":      "1",
		"projection." + PartitionKey + ".interval.unit": "HOURS",
		"storage.location.template":                     t.locationTemplate(),
	}
}

func (t Table) locationTemplate() string { return folderOf(t.Location) + "${" + t.Key() + "}/" }

// AthenaDDL returns the statement that creates the table in Athena or Hive. It returns an error if a location or name
// would need quoting.
func (t Table) AthenaDDL() (string, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	var columns, set []string
	for _, c := range t.Columns() {
		columns = append(columns, fmt.Sprintf("  `%s` %s", c.Name, c.Type))
	}
	properties := t.Properties()
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		set = append(set, fmt.Sprintf("  '%s' = '%s'", key, properties[key]))
	}
	return "CREATE EXTERNAL TABLE IF NOT EXISTS " + quotedName(t.Schema, "`") + "`" + t.Name + "` (\n" +
		strings.Join(columns, ",\n") + "\n)\n" +
		"PARTITIONED BY (`" + t.Key() + "` " + PartitionKeyType + ")\n" +
		"STORED AS " + t.format() + "\n" +
		"LOCATION '" + folderOf(t.Location) + "'\n" +
		"TBLPROPERTIES (\n" + strings.Join(set, ",\n") + "\n)", nil
}

// format returns the format of the objects, as Athena and Trino call it.
func (t Table) format() string {
	if t.Name == ListTable {
		return "TEXTFILE"
	}
	return "PARQUET"
}

// TrinoDDL returns the statement that creates the table in Trino's Hive connector. The location must exist when the
// statement runs. TrinoDDL returns an error if a location or name would need quoting.
func (t Table) TrinoDDL() (string, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	var columns []string
	projection, null := []string{"type = 'injected'"}, "  null_format = '',\n"
	if t.Name == ListTable {
		columns = []string{fmt.Sprintf("  %q varchar", ListColumn)}
	} else {
		for _, c := range Columns {
			columns = append(columns, fmt.Sprintf("  %q %s", c.Name, c.Type.Trino()))
		}
		projection = []string{
			"type = 'date'",
			"format = '" + partitionFormat + "'",
			"range = ARRAY['" + firstProjected(t.FromYear) + "', '" + lastProjected + "']",
			"interval = 1",
			"interval_unit = 'HOURS'",
		}
		null = ""
	}
	return "CREATE TABLE IF NOT EXISTS " + quotedName(t.Schema, `"`) + `"` + t.Name + "\" (\n" +
		strings.Join(columns, ",\n") + ",\n" +
		`  "` + t.Key() + "\" varchar WITH (\n" +
		"    partition_projection_" + strings.Join(projection, ",\n    partition_projection_") + "\n" +
		"  )\n" +
		") WITH (\n" +
		"  format = '" + t.format() + "',\n" + null +
		"  external_location = '" + folderOf(t.Location) + "',\n" +
		"  partitioned_by = ARRAY['" + t.Key() + "'],\n" +
		"  partition_projection_enabled = true,\n" +
		"  partition_projection_location_template = '" + t.locationTemplate() + "'\n" +
		")", nil
}

// Trino returns the type as Trino and Athena's queries write it: array(row(name varchar, value varchar)).
func (t Type) Trino() string {
	switch t.Kind {
	case Text:
		return "varchar"
	case Int:
		return "bigint"
	case Bool:
		return "boolean"
	case List:
		return "array(" + t.Elem.Trino() + ")"
	case Struct:
		members := make([]string, len(t.Members))
		for i, m := range t.Members {
			members[i] = m.Name + " " + m.Type.Trino()
		}
		return "ROW(" + strings.Join(members, ", ") + ")"
	}
	panic(fmt.Sprintf("lake: no kind %d", t.Kind))
}

// check refuses names and locations that would need quoting, because engines quote differently. The names of buckets,
// paths and schemas never need it.
func (t Table) check() error {
	if !slices.Contains(TableNames, t.Name) && t.Name != ListTable {
		return fmt.Errorf("table %q is not one of %s, %s", t.Name, strings.Join(TableNames, ", "), ListTable)
	}
	if !strings.Contains(t.Location, "://") {
		return fmt.Errorf("location %q has no scheme; write it like s3://bucket/lake/fresh/", t.Location)
	}
	if i := strings.IndexAny(t.Location, "'\"\\`${} \t\r\n"); i >= 0 {
		return fmt.Errorf("location %q contains %q, which is not allowed", t.Location, t.Location[i:i+1])
	}
	if i := strings.IndexAny(t.Schema, "'\"\\` \t\r\n"); i >= 0 {
		return fmt.Errorf("schema %q contains %q; use letters, digits and _", t.Schema, t.Schema[i:i+1])
	}
	if t.FromYear < 1 || t.FromYear > 9999 {
		return fmt.Errorf("year %d is not in 1…9999", t.FromYear)
	}
	return nil
}

// lastProjected is ProjectedAhead from now, in the syntax of partition projection.
var lastProjected = fmt.Sprintf("NOW+%dHOURS", int(ProjectedAhead.Hours()))

func firstProjected(year int) string { return fmt.Sprintf("%04d/01/01/00", year) }

func folderOf(location string) string { return strings.TrimSuffix(location, "/") + "/" }

// quotedName returns a schema, with its catalogue if it has one: each part in quotes and followed by a dot. It returns
// "" for "".
func quotedName(schema, quote string) string {
	if schema == "" {
		return ""
	}
	var out strings.Builder
	for part := range strings.SplitSeq(schema, ".") {
		out.WriteString(quote + part + quote + ".")
	}
	return out.String()
}
