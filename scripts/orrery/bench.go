package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/orrery/orrery/scripts/internal/bench"
	"github.com/orrery/orrery/scripts/internal/bench/screen"
	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/httpserver"
	"github.com/orrery/orrery/scripts/orrery/internal/logs"
	"github.com/orrery/orrery/scripts/orrery/internal/memory"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/testkit/browser"
)

type benchCommand struct {
	Dir      string        `default:".orrery/bench" help:"Folder for the data; reused later." placeholder:"DIR"`
	Records  int           `default:"1000000" help:"Records in the generated day." placeholder:"N"`
	Runs     int           `default:"7" help:"Measured runs of each query." placeholder:"N"`
	Clients  int           `default:"32" help:"Concurrent clients of the load test." placeholder:"N"`
	Duration time.Duration `default:"60s" help:"Duration of the load test."`
	Console  bool          `help:"Measure only the console, in a browser."`
	JSON     bool          `name:"json" help:"Print the report as JSON."`
}

// Run measures this machine and prints one table. It fails if answers differ, but never because of a measured time.
func (b *benchCommand) Run(ctx context.Context, c terminal.Console) error {
	if b.Console {
		return b.measureConsole(ctx, c, screen.Options{})
	}
	report, err := bench.Run(ctx, bench.Options{
		Dir: b.Dir, Records: b.Records, Runs: b.Runs, Clients: b.Clients, Duration: b.Duration,
		Progress: c.Err, Open: openForBench,
	})
	if err != nil {
		return err
	}
	return errors.Join(b.print(c, report), report.Err())
}

// print prints a report as JSON or as a table.
func (b *benchCommand) print(c terminal.Console, report interface{ WriteTable(w io.Writer) error }) error {
	if b.JSON {
		return json.NewEncoder(c.Out).Encode(report)
	}
	return report.WriteTable(c.Out)
}

// measureConsole measures the console with a day of as many records as the demo day, and prints the report. It fails if
// there is no browser or a screen gets no answer, never because of a figure.
func (b *benchCommand) measureConsole(ctx context.Context, c terminal.Console, o screen.Options) (err error) {
	if o.Browser, err = browser.Find(os.LookupEnv); err != nil {
		return err
	}
	product, err := local.Open(ctx, filepath.Join(b.Dir, "console"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, product.Close()) }()
	product.WithoutDemo()
	o.From, o.To = bench.Day, bench.Day.AddDate(0, 0, 1)
	extent, err := product.Engine.Extent(ctx)
	if err != nil {
		return err
	}
	if extent.Rows == 0 {
		options := gen.Options{Records: demoRecords, Seed: 1, From: o.From, To: o.To}
		if _, err := logs.ImportGenerated(ctx, product.Store, "day", gen.New(options), demoRecords, c.Err); err != nil {
			return err
		}
	}
	handler, err := product.Handler(local.ServeOptions{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen on a loopback port: %w", err)
	}
	server := httpserver.New(handler, slog.New(slog.DiscardHandler))
	go func() { _ = server.Serve(listener) }() // until Close; if it ends earlier, the browser gets no answer
	defer func() { err = errors.Join(err, server.Close()) }()
	o.URL = "http://" + listener.Addr().String() + "/"
	report, err := screen.Run(ctx, o)
	if err != nil {
		return err
	}
	return b.print(c, report)
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
		Compact: func(ctx context.Context) error {
			_, err := product.Store.Compact(ctx, datadir.CompactOptions{})
			return err
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
		RollUp: func(ctx context.Context) error {
			_, err := product.RollUp(ctx, nil)
			return err
		},
		RollupsFolder: local.RollupsFolder,
		Close:         func() error { return errors.Join(known.Close(), product.Close()) },
	}, nil
}
