package main

import (
	"context"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/athena/types"

	"github.com/orrery/orrery/shared/engine/trino"
	"github.com/orrery/orrery/shared/engine/trino/trinotest"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/lake"
)

// TestTablesAreCreated creates the tables on a real Trino and queries them through Athena's client.
func TestTablesAreCreated(t *testing.T) {
	url, folder := trinotest.Server(t)
	o := options{
		Trino: url, Catalog: trinotest.Catalog, Database: "athenad_test",
		Lake: "local:///athenad-test/", FromYear: 2026,
	}
	for _, part := range []string{"fresh", "compact", "../lists"} {
		for _, lake := range []string{"athenad-test", "athenad-other"} {
			if err := os.MkdirAll(filepath.Join(folder, lake, part), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	client, err := trino.Connect(trino.Config{
		URL: o.Trino, Catalog: o.Catalog, Schema: o.Database, User: "test", Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"local:///athenad-other/", o.Lake} { // the second one replaces the first
		o := o
		o.Lake = other
		if tables, err := createTables(t.Context(), client, o); err != nil || len(tables) != 3 {
			t.Fatalf("%v, %v", tables, err)
		}
	}
	for _, table := range lake.TableNames {
		created, err := client.Query(t.Context(), "SHOW CREATE TABLE "+table)
		if err != nil || len(created) != 1 ||
			!strings.Contains(*created[0][0], "'"+strings.TrimSuffix(o.Lake, "/")+"/") {
			t.Errorf("table %s does not belong to %s: %v %v", table, o.Lake, err, created)
		}
	}
	t.Cleanup(func() {
		ctx := context.Background()
		for _, sql := range []string{
			"DROP TABLE " + lake.FreshTable, "DROP TABLE " + lake.CompactTable, "DROP TABLE " + lake.ListTable, "DROP SCHEMA " + o.Database,
		} {
			if _, err := client.Query(ctx, sql); err != nil {
				t.Error(err)
			}
		}
	})
	server, err := emulator.New(emulator.Config{
		Backend:    emulator.Trino{Client: client},
		Workgroups: map[string]emulator.Workgroup{"w": {Output: "s3://results/"}}, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	athenaClient := athena.New(athena.Options{
		BaseEndpoint: &web.URL, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	})
	const sql = "SELECT count(*) AS n, CAST(NULL AS varchar) AS nothing FROM traffic_fresh " +
		"WHERE datehour = '2026/01/01/00'"
	started, err := athenaClient.StartQueryExecution(t.Context(), &athena.StartQueryExecutionInput{
		QueryString: aws.String(sql), WorkGroup: aws.String("w"),
		QueryExecutionContext: &types.QueryExecutionContext{Database: &o.Database},
	})
	if err != nil {
		t.Fatal(err)
	}
	for {
		got, err := athenaClient.GetQueryExecution(t.Context(), &athena.GetQueryExecutionInput{
			QueryExecutionId: started.QueryExecutionId,
		})
		if err != nil {
			t.Fatal(err)
		}
		state := got.QueryExecution.Status.State
		if state == types.QueryExecutionStateSucceeded {
			break
		}
		if state == types.QueryExecutionStateFailed {
			t.Fatal(aws.ToString(got.QueryExecution.Status.StateChangeReason))
		}
	}
	page, err := athenaClient.GetQueryResults(t.Context(), &athena.GetQueryResultsInput{
		QueryExecutionId: started.QueryExecutionId,
	})
	if err != nil {
		t.Fatal(err)
	}
	row := page.ResultSet.Rows[1].Data
	if aws.ToString(row[0].VarCharValue) != "0" || row[1].VarCharValue != nil {
		t.Errorf("row %v", row)
	}
}

// TestTablesWithTheirOwnDataAreNotReplaced checks that athenad does not drop a table that contains its own data.
func TestTablesWithTheirOwnDataAreNotReplaced(t *testing.T) {
	url, _ := trinotest.Server(t)
	o := options{
		Trino: url, Catalog: trinotest.Catalog, Database: "athenad_managed",
		Lake: "local:///athenad-test/", FromYear: 2026,
	}
	client, err := trino.Connect(trino.Config{
		URL: o.Trino, Catalog: o.Catalog, Schema: o.Database, User: "test", Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context, sql string) [][]*string {
		t.Helper()
		rows, err := client.Query(ctx, sql)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	ask(t.Context(), "CREATE SCHEMA "+o.Database)
	ask(t.Context(), "CREATE TABLE "+lake.CompactTable+" AS SELECT 7 AS n")
	t.Cleanup(func() {
		ask(context.Background(), "DROP TABLE "+lake.CompactTable)
		ask(context.Background(), "DROP SCHEMA "+o.Database)
	})
	_, err = createTables(t.Context(), client, o)
	if err == nil || !strings.Contains(err.Error(), "choose another --database") {
		t.Error(err)
	}
	if rows := ask(t.Context(), "SELECT n FROM "+lake.CompactTable); len(rows) != 1 {
		t.Errorf("%d rows are left", len(rows))
	}
}

// TestInvalidFlagsAreRefused checks that athenad does not start with an invalid flag.
func TestEndsWithStandardInput(t *testing.T) {
	r, w := io.Pipe()
	ended := make(chan error, 1)
	ctx := untilEOF(t.Context(), r)
	o := options{Listen: "127.0.0.1:0", Trino: "http://127.0.0.1:1", Catalog: "c", Database: "d", Workgroup: map[string]int64{"w": 0}}
	go func() { ended <- run(ctx, o) }()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestInvalidFlagsAreRefused(t *testing.T) {
	if err := run(t.Context(), options{Trino: "no address", Catalog: "c", Database: "d"}); err == nil {
		t.Error("athenad started")
	}
}
