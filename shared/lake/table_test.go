package lake_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/testkit/goldentest"
)

// TestTable compares the DDL of the two tables with golden files.
func TestTable(t *testing.T) {
	for _, c := range []struct {
		file, schema, name, root string
		print                    func(lake.Table) (string, error)
	}{
		{"athena-fresh.sql", "traffic", lake.FreshTable, "s3://bucket/lake/", lake.Table.AthenaDDL},
		{"athena-compact.sql", "", lake.CompactTable, "s3://bucket/lake", lake.Table.AthenaDDL},
		{"athena-lists.sql", "", lake.ListTable, "s3://bucket/lake", lake.Table.AthenaDDL},
		{"trino-lists.sql", "", lake.ListTable, "s3://bucket/lake", lake.Table.TrinoDDL},
		{"trino-fresh.sql", "", lake.FreshTable, "s3://bucket/lake", lake.Table.TrinoDDL},
		{"trino-compact.sql", "awsdatacatalog.traffic", lake.CompactTable, "local:///", lake.Table.TrinoDDL},
	} {
		t.Run(c.file, func(t *testing.T) {
			location := lake.TableLocation(c.root, c.name)
			table := lake.Table{Schema: c.schema, Name: c.name, Location: location, FromYear: 2000}
			text, err := c.print(table)
			if err != nil {
				t.Fatal(err)
			}
			goldentest.Compare(t, "testdata/"+c.file, text+"\n")
		})
	}
}

func TestTableProperties(t *testing.T) {
	properties := lake.Table{Name: lake.FreshTable, Location: "s3://bucket/lake/fresh/", FromYear: 2024}.Properties()
	var got strings.Builder
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		fmt.Fprintf(&got, "%s=%s\n", key, properties[key])
	}
	const want = `projection.datehour.format=yyyy/MM/dd/HH
projection.datehour.interval=1
projection.datehour.interval.unit=HOURS
projection.datehour.range=2024/01/01/00,NOW+24HOURS
projection.datehour.type=date
projection.enabled=true
storage.location.template=s3://bucket/lake/fresh/${datehour}/
`
	if got.String() != want {
		t.Errorf("properties are\n%swant\n%s", got.String(), want)
	}
}

// TestTablePropertiesMatchObjectNames: the template of locations leads to the folders of objects.
func TestTablePropertiesMatchObjectNames(t *testing.T) {
	p := lake.PartitionOf(1_767_308_400_000)
	for table, object := range map[string]string{
		lake.FreshTable:   "lake/" + lake.ObjectName(p, "5f3a", 2),
		lake.CompactTable: "lake/" + lake.CompactName(p, "77aa"),
		lake.ListTable:    lake.ListName("0d5e"),
	} {
		location := lake.TableLocation("s3://bucket/lake", table)
		template := lake.Table{Name: table, Location: location, FromYear: 2000}.Properties()["storage.location.template"]
		folder := strings.NewReplacer("${datehour}", p.String(), "${digest}", "0d5e").Replace(template)
		if !strings.HasPrefix("s3://bucket/"+object, folder) {
			t.Errorf("%s reads %s, but an object is named %s", table, folder, object)
		}
	}
}

func TestTableRefusesNamesThatNeedQuotes(t *testing.T) {
	for _, c := range []struct {
		table lake.Table
		want  string
	}{
		{lake.Table{Name: "traffic", Location: "s3://b/", FromYear: 2000}, "not one of traffic_compact"},
		{lake.Table{Name: lake.FreshTable, Location: "/data/lake", FromYear: 2000}, "no scheme"},
		{lake.Table{Name: lake.FreshTable, Location: "s3://b/it's/", FromYear: 2000}, `contains "'"`},
		{lake.Table{Name: lake.FreshTable, Location: "s3://b/${x}/", FromYear: 2000}, `contains "$"`},
		{lake.Table{Name: lake.FreshTable, Location: "s3://b/", Schema: "a`b", FromYear: 2000}, "contains \"`\""},
		{lake.Table{Name: lake.FreshTable, Location: "s3://b/", FromYear: 0}, "year 0"},
	} {
		for _, print := range []func(lake.Table) (string, error){lake.Table.AthenaDDL, lake.Table.TrinoDDL} {
			if text, err := print(c.table); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %q, %v; want an error with %q", c.table, text, err, c.want)
			}
		}
	}
}
