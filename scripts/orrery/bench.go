package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/orrery/orrery/scripts/internal/bench"
	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
)

type benchCommand struct {
	Dir      string        `default:".orrery/bench" help:"Folder for the data; reused later." placeholder:"DIR"`
	Records  int           `default:"1000000" help:"Records in the generated day." placeholder:"N"`
	Runs     int           `default:"7" help:"Measured runs of each query." placeholder:"N"`
	Clients  int           `default:"32" help:"Concurrent clients of the load test." placeholder:"N"`
	Duration time.Duration `default:"60s" help:"Duration of the load test."`
	JSON     bool          `name:"json" help:"Print the report as JSON."`
}

// Run measures this machine and prints one table. It fails if answers differ, but never because of a measured time.
func (b *benchCommand) Run(ctx context.Context, c console) error {
	report, err := bench.Run(ctx, bench.Options{
		Dir: b.Dir, Records: b.Records, Runs: b.Runs, Clients: b.Clients, Duration: b.Duration,
		Progress: c.err, Open: openForBench,
	})
	if err != nil {
		return err
	}
	write := report.WriteTable
	if b.JSON {
		write = func(w io.Writer) error { return json.NewEncoder(w).Encode(report) }
	}
	return errors.Join(write(c.out), report.Err())
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
	return bench.Product{
		Import: func(ctx context.Context, name string, r io.Reader) error {
			defer forImport()()
			_, err := product.Store.Import(ctx, name, r, ingest.Options{Format: "orrery"})
			return err
		},
		Compact: func(ctx context.Context) error {
			_, err := product.Store.Compact(ctx, datadir.CompactOptions{})
			return err
		},
		Index:   product.Store.Index(),
		Handler: handler,
		Close:   product.Close,
	}, nil
}
