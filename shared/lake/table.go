package lake

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The two tables of one schema over object storage: compacted hours lie before the watermark, fresh ones from it on.
const (
	CompactTable = "traffic_compact"
	FreshTable   = "traffic_fresh"
)

// TableNames is both tables.
var TableNames = []string{CompactTable, FreshTable}

// PartitionKey is the one partition key of both tables; its values are Partition.String.
const (
	PartitionKey     = "datehour"
	PartitionKeyType = "string"
)

// ProjectedAhead is how far into the future the tables reach: what lies later is not seen by queries, and so must
// not be published.
const ProjectedAhead = 24 * time.Hour

// partitionFormat is the format of Partition.String in the words of projection.
const partitionFormat = "yyyy/MM/dd/HH"

// HiveColumn is a column in the words of Hive, Glue and Athena.
type HiveColumn struct{ Name, Type string }

// HiveColumns is the columns of both tables in the order of Row, without the partition key.
func HiveColumns() []HiveColumn {
	columns := make([]HiveColumn, len(Columns))
	for i, c := range Columns {
		columns[i] = HiveColumn{c.Name, c.Type.String()}
	}
	return columns
}

// TableLocation is where the objects of a table lie under the root of a lake, "s3://bucket/lake/", ending in a slash.
func TableLocation(root, table string) string {
	folder := map[string]string{CompactTable: compactFolder, FreshTable: freshFolder}[table]
	if folder == "" {
		panic("lake: no table " + table)
	}
	return folderOf(root) + folder + "/"
}

// TableProperties is what makes an engine compute the partitions of a table at a location instead of being told
// them, from the first hour of a year (UTC) to ProjectedAhead from now. An hour is visible the moment its first
// object is there.
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

// Table is one of the two tables as some engine's catalogue is to know it.
type Table struct {
	Schema   string // database in Athena's words; for Trino a catalogue may stand before it: "hive.traffic"
	Name     string // CompactTable or FreshTable
	Location string // where its objects lie, see TableLocation
	FromYear int    // first year of the partitions
}

// AthenaDDL is the statement that creates the table in Athena or Hive. Errors: a location or name that cannot be
// written in one.
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

// TrinoDDL is the statement that creates the table in Trino's Hive connector. The location must exist. Errors: a
// location or name that cannot be written in one.
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

// Trino is the type in the words of Trino and of Athena's queries: array(row(name varchar, value varchar)).
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

// check refuses what would need quoting, in which engines differ; buckets, paths and schemas never do.
func (t Table) check() error {
	if !slices.Contains(TableNames, t.Name) {
		return fmt.Errorf("table %q is none of %s", t.Name, strings.Join(TableNames, ", "))
	}
	if !strings.Contains(t.Location, "://") {
		return fmt.Errorf("location %q has no scheme; write it like s3://bucket/lake/fresh/", t.Location)
	}
	if i := strings.IndexAny(t.Location, "'\"\\`${} \t\r\n"); i >= 0 {
		return fmt.Errorf("location %q holds %q, which tables cannot name", t.Location, t.Location[i:i+1])
	}
	if i := strings.IndexAny(t.Schema, "'\"\\` \t\r\n"); i >= 0 {
		return fmt.Errorf("schema %q holds %q; use letters, digits and _", t.Schema, t.Schema[i:i+1])
	}
	if t.FromYear < 1 || t.FromYear > 9999 {
		return fmt.Errorf("year %d is not in 1…9999", t.FromYear)
	}
	return nil
}

// lastProjected is ProjectedAhead from now, in the words of projection.
var lastProjected = fmt.Sprintf("NOW+%dHOURS", int(ProjectedAhead.Hours()))

func firstProjected(year int) string { return fmt.Sprintf("%04d/01/01/00", year) }

func locationTemplate(location string) string { return folderOf(location) + "${" + PartitionKey + "}/" }

func folderOf(location string) string { return strings.TrimSuffix(location, "/") + "/" }

// quotedName is a schema, with its catalogue if it names one, each part in quotes and followed by a dot; "" for none.
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
