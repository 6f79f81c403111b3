package main

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/athena/types"

	"github.com/orrery/orrery/shared/engine/athena/athenatest"
	"github.com/orrery/orrery/shared/engine/trino"
	"github.com/orrery/orrery/shared/engine/trino/trinotest"
	"github.com/orrery/orrery/shared/lake"
)

// TestTablesAreThere makes the tables on a real Trino, and asks them through Athena's own client.
func TestTablesAreThere(t *testing.T) {
	url, folder := trinotest.Server(t)
	o := options{Trino: url, Catalog: trinotest.Catalog, Database: "athenad_test", Lake: "local:///athenad-test/", FromYear: 2026}
	for _, part := range []string{"fresh", "compact"} {
		if err := os.MkdirAll(filepath.Join(folder, "athenad-test", part), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	client, err := trino.Connect(trino.Config{URL: o.Trino, Catalog: o.Catalog, Schema: o.Database, User: "test", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time they are there
		if tables, err := makeTables(t.Context(), client, o); err != nil || len(tables) != 2 {
			t.Fatalf("%v, %v", tables, err)
		}
	}
	t.Cleanup(func() {
		ctx := context.Background()
		for _, sql := range []string{"DROP TABLE " + lake.FreshTable, "DROP TABLE " + lake.CompactTable, "DROP SCHEMA " + o.Database} {
			if _, err := client.Query(ctx, sql); err != nil {
				t.Error(err)
			}
		}
	})
	server, err := athenatest.New(athenatest.Config{
		Backend: athenatest.Trino{Client: client}, Workgroups: map[string]athenatest.Workgroup{"w": {Output: "s3://results/"}}, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	asked := athena.New(athena.Options{BaseEndpoint: &web.URL, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	begun, err := asked.StartQueryExecution(t.Context(), &athena.StartQueryExecutionInput{
		QueryString:           aws.String("SELECT count(*) AS n, CAST(NULL AS varchar) AS nothing FROM traffic_fresh WHERE datehour = '2026/01/01/00'"),
		QueryExecutionContext: &types.QueryExecutionContext{Database: &o.Database}, WorkGroup: aws.String("w"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for {
		got, err := asked.GetQueryExecution(t.Context(), &athena.GetQueryExecutionInput{QueryExecutionId: begun.QueryExecutionId})
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
	page, err := asked.GetQueryResults(t.Context(), &athena.GetQueryResultsInput{QueryExecutionId: begun.QueryExecutionId})
	if err != nil {
		t.Fatal(err)
	}
	row := page.ResultSet.Rows[1].Data
	if aws.ToString(row[0].VarCharValue) != "0" || row[1].VarCharValue != nil {
		t.Errorf("row %v", row)
	}
}

// TestMistakesOfTheCommandLineAreTold before anything is served.
func TestMistakesOfTheCommandLineAreTold(t *testing.T) {
	if err := run(t.Context(), options{Trino: "no address", Catalog: "c", Database: "d"}); err == nil {
		t.Error("it serves")
	}
}
