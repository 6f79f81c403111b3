// Command athenad is an Athena endpoint over a Trino server, for machines without AWS and for tests of deployments. It
// creates the lake's two tables in Trino, replacing existing ones, serves Athena's protocol (and Glue's GetTable) at
// --listen, and writes results to S3.
//
//	go run ./scripts/servers/athenad --trino http://127.0.0.1:8080 --s3 http://127.0.0.1:4566 \
//	    --lake s3://lake/lake/ --results s3://results/results/
//
// Programs use it if AWS_ENDPOINT_URL_ATHENA (and AWS_ENDPOINT_URL_GLUE) is the URL that it prints.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/shared/engine/trino"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/lake"
)

// options are the flags. Scan limits are in bytes; 0 means no limit. Without S3, results
// are not written.
type options struct {
	Listen    string           `default:"127.0.0.1:0" help:"Address to listen on; port 0 is any free one."`
	Trino     string           `required:"" help:"URL of the Trino server."`
	Catalog   string           `default:"awsdatacatalog" help:"Catalogue of its Hive connector."`
	S3        string           `name:"s3" env:"AWS_ENDPOINT_URL_S3" help:"URL of the S3 endpoint for results."`
	Region    string           `default:"us-east-1" env:"AWS_REGION"`
	KeyID     string           `default:"test" help:"Access key of the S3 endpoint." env:"AWS_ACCESS_KEY_ID"`
	Secret    string           `default:"test" help:"Secret key of the S3 endpoint." env:"AWS_SECRET_ACCESS_KEY"`
	Database  string           `default:"traffic" help:"Schema of the tables."`
	Lake      string           `help:"URL of the lake, s3://BUCKET/lake/; without it no tables are created."`
	FromYear  int              `default:"2000" help:"First year of the tables."`
	Results   string           `default:"s3://results/results/" help:"Folder for the results."`
	UntilEOF  bool             `name:"until-eof" help:"End when standard input ends."`
	Workgroup map[string]int64 `default:"primary=0;interactive=0;reports=0" help:"Workgroups and scan limits."`
}

func main() {
	var o options
	kong.Parse(&o, kong.Name("athenad"), kong.Description("An Athena endpoint over Trino."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.UntilEOF {
		ctx = untilEOF(ctx, os.Stdin)
	}
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "athenad:", err)
		os.Exit(1)
	}
}

// untilEOF returns a context that ends with another one, or when r ends.
func untilEOF(parent context.Context, r io.Reader) context.Context {
	ctx, end := context.WithCancel(parent)
	go func() {
		_, _ = io.Copy(io.Discard, r) // an error is an end, too
		end()
	}()
	return ctx
}

// run serves until ctx ends. It prints one line to standard output: the URL, as soon as the server accepts requests.
func run(ctx context.Context, o options) error {
	client, err := trino.Connect(trino.Config{
		URL: o.Trino, Catalog: o.Catalog, Schema: o.Database, User: "athena", Now: time.Now,
	})
	if err != nil {
		return err
	}
	tables, err := createTables(ctx, client, o)
	if err != nil {
		return err
	}
	c := emulator.Config{
		Backend: emulator.Trino{Client: client}, Workgroups: map[string]emulator.Workgroup{}, Tables: tables,
		Now: time.Now,
	}
	for name, cutoff := range o.Workgroup {
		c.Workgroups[name] = emulator.Workgroup{Output: o.Results, CutoffBytes: cutoff}
	}
	if o.S3 != "" {
		c.S3 = s3.New(s3.Options{
			BaseEndpoint: &o.S3, Region: o.Region, UsePathStyle: true,
			Credentials: aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider(o.KeyID, o.Secret, "")),
		})
	}
	server, err := emulator.New(c)
	if err != nil {
		return err
	}
	return serve(ctx, o.Listen, server)
}

// createTables creates the schema and the tables of a lake. It replaces existing tables, because they may belong to
// another lake.
func createTables(ctx context.Context, client *trino.Client, o options) ([]lake.Table, error) {
	if o.Lake == "" {
		return nil, nil
	}
	schema := `"` + strings.ReplaceAll(o.Database, `"`, `""`) + `"`
	if _, err := query(ctx, client, "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil {
		return nil, err
	}
	tables := lake.Tables(o.Lake, o.Database, o.FromYear)
	for _, t := range tables {
		ddl, err := t.TrinoDDL()
		if err != nil {
			return nil, err
		}
		if err := drop(ctx, client, t.Name); err != nil {
			return nil, err
		}
		if _, err := query(ctx, client, ddl); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

// drop drops a table if it exists. It only drops an external table, whose data stays; another table is an error.
func drop(ctx context.Context, client *trino.Client, table string) error {
	found, err := query(ctx, client, "SHOW TABLES LIKE '"+table+"'")
	if err != nil || len(found) == 0 {
		return err
	}
	created, err := query(ctx, client, "SHOW CREATE TABLE "+table)
	if err != nil {
		return err
	}
	if len(created) != 1 || created[0][0] == nil || !strings.Contains(*created[0][0], "external_location = ") {
		return fmt.Errorf("the table %s is not external, so dropping it would delete its data; "+
			"choose another --database", table)
	}
	_, err = query(ctx, client, "DROP TABLE "+table)
	return err
}

// query runs a statement. An error starts with the statement's first line.
func query(ctx context.Context, client *trino.Client, sql string) ([][]*string, error) {
	rows, err := client.Query(ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.SplitN(sql, "\n", 2)[0], err)
	}
	return rows, nil
}

// shutdownTimeout is how long the server waits for running requests when it stops.
const shutdownTimeout = 2 * time.Second

// serve serves h at the address until ctx ends.
func serve(ctx context.Context, address string, h http.Handler) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	fmt.Println("http://" + listener.Addr().String())
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err = server.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	return err
}
