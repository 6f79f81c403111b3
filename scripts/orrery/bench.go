package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/orrery/orrery/scripts/internal/bench"
	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/memory"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/search"
)

type benchCommand struct {
	Dir      string        `default:".orrery/bench" help:"Folder for the data; reused later." placeholder:"DIR"`
	Records  int           `default:"1000000" help:"Records in the generated day." placeholder:"N"`
	Days     int           `default:"10" help:"Full days: the day and those before it." placeholder:"N"`
	Uniform  bool          `help:"Make all clients, paths and browsers equally frequent."`
	Runs     int           `default:"7" help:"Measured runs of each query." placeholder:"N"`
	Clients  int           `default:"32" help:"Concurrent clients of the load test." placeholder:"N"`
	Duration time.Duration `default:"60s" help:"Duration of the load test."`
	S3       bench.Network `name:"s3" help:"Only measure the scan of a function over an object store with this latency and throughput." placeholder:"25ms,90MB/s"`
	JSON     bool          `name:"json" help:"Print the report as JSON."`
}

// Run measures this machine and prints one table. It fails if answers differ, but never because of a measured time.
func (b *benchCommand) Run(ctx context.Context, c terminal.Console) error {
	o := bench.Options{
		Dir: b.Dir, Records: b.Records, Days: b.Days, Uniform: b.Uniform, Runs: b.Runs, Clients: b.Clients, Duration: b.Duration,
		Progress: c.Err, Open: openForBench,
	}
	if b.S3 != (bench.Network{}) {
		return bench.RunRemote(ctx, o, b.S3, c.Out)
	}
	report, err := bench.Run(ctx, o)
	if err != nil {
		return err
	}
	if b.JSON {
		err = json.NewEncoder(c.Out).Encode(report)
	} else {
		err = report.WriteTable(c.Out)
	}
	return errors.Join(err, report.Err())
}

// openForBench opens the product over dir for the benchmark.
func openForBench(ctx context.Context, dir string) (bench.Product, error) {
	product, err := local.Open(ctx, dir)
	if err != nil {
		return bench.Product{}, err
	}
	handler, err := product.Handler(local.ServeOptions{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return bench.Product{}, errors.Join(err, product.Close())
	}
	known, err := local.OpenKeys(ctx, dir)
	if err != nil {
		return bench.Product{}, errors.Join(err, product.Close())
	}
	return bench.Product{
		HandlerFor: func(key string) (http.Handler, error) {
			access := &local.Access{Address: "127.0.0.1:0", APIKey: key, Keys: known}
			return product.Handler(local.ServeOptions{Access: access, Log: slog.New(slog.DiscardHandler)})
		},
		Import: func(ctx context.Context, name, format string, r io.Reader) error {
			defer memory.ForImport()()
			_, err := product.Store.Import(ctx, name, r, ingest.Options{Format: format})
			return err
		},
		Compact: func(ctx context.Context) (int64, error) {
			defer memory.ForImport()()
			report, err := product.Store.Compact(ctx, datadir.CompactOptions{Memory: memory.Merge})
			return report.Rows, err
		},
		Export: func(ctx context.Context, filter string, w io.Writer) error {
			q := queryCommand{Route: string(search.Logs), Filter: []string{filter}, All: true, Format: "csv"}
			q.Data = target.Folder(dir)
			return q.Run(ctx, terminal.Console{Out: w, Err: io.Discard})
		},
		Report: func(ctx context.Context, filter string, w io.Writer) error {
			r := reportRunCommand{
				Filter: []string{filter}, TZ: "UTC", Template: "traffic", Compare: "previous", Format: "html",
			}
			r.Data = target.Folder(dir)
			return r.Run(ctx, terminal.Console{Out: w, Err: io.Discard})
		},
		Index:   product.Store.Index(),
		Handler: handler,
		Forget:  product.Forget,
		RollUp: func(ctx context.Context) (records int64, err error) {
			defer memory.ForImport()()
			report, err := product.RollUp(ctx, nil)
			return report.Records, err
		},
		RollupsFolder: local.RollupsFolder,
		Close:         func() error { return errors.Join(known.Close(), product.Close()) },
	}, nil
}
