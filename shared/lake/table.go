package lake

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The two tables over object storage, which have the same schema. Queries read hours before the watermark from the
// compacted table, and later hours from the fresh one.
const (
	CompactTable = "traffic_compact"
	FreshTable   = "traffic_fresh"
)

// TableNames lists both tables.
var TableNames = []string{CompactTable, FreshTable}

// PartitionKey is the only partition key of both tables. Its values have the format of Partition.String.
const (
	PartitionKey     = "datehour"
	PartitionKeyType = "string"
)

// ProjectedAhead is how far into the future the tables reach. Queries do not see later records, so they must not be
// published.
const ProjectedAhead = 24 * time.Hour

// partitionFormat is the format of Partition.String in the syntax of partition projection.
const partitionFormat = "yyyy/MM/dd/HH"

// HiveColumn is a column, with its type as Hive, Glue and Athena write it.
type HiveColumn struct{ Name, Type string }

// HiveColumns returns the columns of both tables in the order of Row, without the partition key.
func HiveColumns() []HiveColumn {
	columns := make([]HiveColumn, len(Columns))
	for i, c := range Columns {
		columns[i] = HiveColumn{c.Name, c.Type.String()}
	}
	return columns
}

// TableLocation returns the location of a table's objects under the root of a lake, such as "s3://bucket/lake/". It
// ends in a slash.
func TableLocation(root, table string) string {
	folder := map[string]string{CompactTable: compactFolder, FreshTable: freshFolder}[table]
	if folder == "" {
		panic("lake: no table " + table)
	}
	return folderOf(root) + folder + "/"
}

// TableProperties returns the properties that make an engine compute the partitions of a table (partition projection),
// so that nothing has to register them. They reach from the first hour of a year (UTC) to ProjectedAhead from now. An
// hour is visible as soon as its first object exists.
func TableProperties(location string, fromYear int) map[string]string {
	return map[string]string{
		"projection.enabled":                            "true",
		"projection." + PartitionKey + ".type":          "date",
		"projection." + PartitionKey + ".format":        partitionFormat,
		"projection." + PartitionKey + ".range":         firstProjected(fromYear) + "," + lastProjected,
		"projection." + PartitionKey + ".interval":      "1",
		"projection." + PartitionKey + ".interval.unit": "HOURS",
		"storage.location.template":                     locationTemplate(location),
	}
}

// Table is one of the two tables in the catalogue of an engine.
type Table struct {
	Schema   string // the database, as Athena calls it; for Trino a catalogue may precede it: "hive.traffic"
	Name     string // CompactTable or FreshTable
	Location string // of its objects, see TableLocation
	FromYear int    // first year of the partitions
}

// AthenaDDL returns the statement that creates the table in Athena or Hive. It returns an error if a location or name
// would need quoting.
func (t Table) AthenaDDL() (string, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	columns := make([]string, len(Columns))
	for i, c := range HiveColumns() {
		columns[i] = fmt.Sprintf("  `%s` %s", c.Name, c.Type)
	}
	properties := TableProperties(t.Location, t.FromYear)
	var set []string
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		set = append(set, fmt.Sprintf("  '%s' = '%s'", key, properties[key]))
	}
	return "CREATE EXTERNAL TABLE IF NOT EXISTS " + quotedName(t.Schema, "`") + "`" + t.Name + "` (\n" +
		strings.Join(columns, ",\n") + "\n)\n" +
		"PARTITIONED BY (`" + PartitionKey + "` " + PartitionKeyType + ")\n" +
		"STORED AS PARQUET\n" +
		"LOCATION '" + folderOf(t.Location) + "'\n" +
		"TBLPROPERTIES (\n" + strings.Join(set, ",\n") + "\n)", nil
}

// TrinoDDL returns the statement that creates the table in Trino's Hive connector. The location must exist when the
// statement runs. TrinoDDL returns an error if a location or name would need quoting.
func (t Table) TrinoDDL() (string, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	columns := make([]string, len(Columns))
	for i, c := range Columns {
		columns[i] = fmt.Sprintf("  %q %s", c.Name, c.Type.Trino())
	}
	return "CREATE TABLE IF NOT EXISTS " + quotedName(t.Schema, `"`) + `"` + t.Name + "\" (\n" +
		strings.Join(columns, ",\n") + ",\n" +
		`  "` + PartitionKey + "\" varchar WITH (\n" +
		"    partition_projection_type = 'date',\n" +
		"    partition_projection_format = '" + partitionFormat + "',\n" +
		"    partition_projection_range = ARRAY['" + firstProjected(t.FromYear) + "', '" + lastProjected + "'],\n" +
		"    partition_projection_interval = 1,\n" +
		"    partition_projection_interval_unit = 'HOURS'\n" +
		"  )\n" +
		") WITH (\n" +
		"  format = 'PARQUET',\n" +
		"  external_location = '" + folderOf(t.Location) + "',\n" +
		"  partitioned_by = ARRAY['" + PartitionKey + "'],\n" +
		"  partition_projection_enabled = true,\n" +
		"  partition_projection_location_template = '" + locationTemplate(t.Location) + "'\n" +
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
	if !slices.Contains(TableNames, t.Name) {
		return fmt.Errorf("table %q is not one of %s", t.Name, strings.Join(TableNames, ", "))
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

func locationTemplate(location string) string { return folderOf(location) + "${" + PartitionKey + "}/" }

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
