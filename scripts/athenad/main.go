// Command athenad is an Athena endpoint over a Trino of your own: for machines without AWS, and for tests of what is
// deployed. It makes the lake's two tables in Trino, in place of those that are there, speaks Athena's protocol (and
// Glue's GetTable) at --listen, and writes results to S3.
//
//	go run ./scripts/athenad --trino http://127.0.0.1:8080 --s3 http://127.0.0.1:4566 --lake s3://lake/lake/ --results s3://results/results/
//
// Then AWS_ENDPOINT_URL_ATHENA (and AWS_ENDPOINT_URL_GLUE) of whoever is to use it is the URL that it prints.
package main

import (
	"context"
	"errors"
	"fmt"
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

	"github.com/orrery/orrery/shared/engine/athena/emulator"
	"github.com/orrery/orrery/shared/engine/trino"
	"github.com/orrery/orrery/shared/lake"
)

type options struct {
	Listen    string           `default:"127.0.0.1:0" help:"Address to listen on; port 0 is any free one."`
	Trino     string           `required:"" help:"URL of the Trino server."`
	Catalog   string           `default:"awsdatacatalog" help:"Catalogue of its Hive connector."`
	S3        string           `name:"s3" help:"URL of the S3 endpoint that results are written to; none are without it." env:"AWS_ENDPOINT_URL_S3"`
	Region    string           `default:"us-east-1" env:"AWS_REGION"`
	KeyID     string           `default:"test" help:"Of the S3 endpoint." env:"AWS_ACCESS_KEY_ID"`
	Secret    string           `default:"test" help:"Of the S3 endpoint." env:"AWS_SECRET_ACCESS_KEY"`
	Database  string           `default:"traffic" help:"Schema that the tables are made in."`
	Lake      string           `help:"Where the lake lies, s3://BUCKET/lake/; no tables are made without it."`
	FromYear  int              `default:"2000" help:"First year of the tables."`
	Results   string           `default:"s3://results/results/" help:"Where results are written."`
	Workgroup map[string]int64 `default:"primary=0;interactive=0;reports=0" placeholder:"NAME=BYTES;…" help:"The workgroups, and the bytes that one query in each may scan; 0 is no limit."`
}

func main() {
	var o options
	kong.Parse(&o, kong.Name("athenad"), kong.Description("An Athena endpoint over Trino."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "athenad:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends. The one line on standard output is the URL, once the server answers.
func run(ctx context.Context, o options) error {
	client, err := trino.Connect(trino.Config{URL: o.Trino, Catalog: o.Catalog, Schema: o.Database, User: "athena", Now: time.Now})
	if err != nil {
		return err
	}
	tables, err := makeTables(ctx, client, o)
	if err != nil {
		return err
	}
	c := emulator.Config{
		Backend: emulator.Trino{Client: client}, Workgroups: map[string]emulator.Workgroup{}, Tables: tables, Now: time.Now,
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

// makeTables makes the schema and the two tables. Tables that are there are replaced: they may be those of another
// lake.
func makeTables(ctx context.Context, client *trino.Client, o options) ([]lake.Table, error) {
	if o.Lake == "" {
		return nil, nil
	}
	schema := `"` + strings.ReplaceAll(o.Database, `"`, `""`) + `"`
	if _, err := query(ctx, client, "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil {
		return nil, err
	}
	var tables []lake.Table
	for _, name := range lake.TableNames {
		t := lake.Table{Schema: o.Database, Name: name, Location: lake.TableLocation(o.Lake, name), FromYear: o.FromYear}
		ddl, err := t.TrinoDDL()
		if err != nil {
			return nil, err
		}
		if err := drop(ctx, client, name); err != nil {
			return nil, err
		}
		if _, err := query(ctx, client, ddl); err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// drop removes a table if it is there. The data of an external table stays; any other table is an error.
func drop(ctx context.Context, client *trino.Client, table string) error {
	found, err := query(ctx, client, "SHOW TABLES LIKE '"+table+"'")
	if err != nil || len(found) == 0 {
		return err
	}
	made, err := query(ctx, client, "SHOW CREATE TABLE "+table)
	if err != nil {
		return err
	}
	if len(made) != 1 || made[0][0] == nil || !strings.Contains(*made[0][0], "external_location = ") {
		return fmt.Errorf("the table %s holds data of its own and is not replaced; choose another --database", table)
	}
	_, err = query(ctx, client, "DROP TABLE "+table)
	return err
}

// query runs a statement. An error begins with its first line.
func query(ctx context.Context, client *trino.Client, sql string) ([][]*string, error) {
	rows, err := client.Query(ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.SplitN(sql, "\n", 2)[0], err)
	}
	return rows, nil
}

// lastAnswers is how long answers under way may take when the server ends.
const lastAnswers = 2 * time.Second

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
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastAnswers)
	defer cancel()
	err = server.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	return err
}
