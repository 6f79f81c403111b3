// Command bench measures the console in a browser, with generated records, and prints a table of figures and goals. Run it
// in a checkout:
//
//	go run ./scripts/console/bench
//	go run ./scripts/console/bench -days 30 -records 1000000
//
// It fails if there is no browser or a screen gets no answer, never because of a figure. It is not a part of the command
// orrery, because its browser library is several megabytes.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/orrery/orrery/scripts/internal/bench"
	"github.com/orrery/orrery/scripts/internal/bench/screen"
	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/testkit/browser"
)

// options are the flags of the command.
type options struct {
	dir     string // folder for the data; "": one for the days and records in .orrery/bench
	days    int
	records int // a day
	json    bool
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	var o options
	flag.StringVar(&o.dir, "dir", "", "`folder` for the data; reused later (default .orrery/bench/console-DAYSxRECORDS)")
	flag.IntVar(&o.days, "days", 1, "days that the dashboard shows; events and navigations are about the last of them")
	flag.IntVar(&o.records, "records", 100_000, "records of each day")
	flag.BoolVar(&o.json, "json", false, "print the report as JSON")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%s is not a flag; bench -help lists them", flag.Arg(0))
	}
	if o.days < 1 || o.records < 1 {
		log.Fatal("-days and -records are at least 1")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := measure(ctx, o, os.Stdout, screen.Options{})
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// measure measures the console over the data of a folder, which it generates if there is none, and prints the report.
func measure(ctx context.Context, o options, out io.Writer, of screen.Options) (err error) {
	if of.Browser, err = browser.Find(os.LookupEnv); err != nil {
		return err
	}
	if o.dir == "" {
		o.dir = fmt.Sprintf(".orrery/bench/console-%dx%d", o.days, o.records)
	}
	product, err := local.Open(ctx, o.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, product.Close()) }()
	product.WithoutDemo()
	of.To = bench.Day.AddDate(0, 0, 1)
	of.From, of.LastDay = of.To.AddDate(0, 0, -o.days), bench.Day
	if err := o.generate(ctx, product, of.From, of.To); err != nil {
		return err
	}
	handler, err := product.Handler(local.ServeOptions{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen on a loopback port: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // until Close; if it ends earlier, the browser gets no answer
	defer func() { err = errors.Join(err, server.Close()) }()
	of.URL = "http://" + listener.Addr().String() + "/"
	report, err := screen.Run(ctx, of)
	if err != nil {
		return err
	}
	if o.json {
		return json.NewEncoder(out).Encode(report)
	}
	return report.WriteTable(out)
}

// generate imports the records of a period unless the folder has them. It merges the objects of each hour and rolls up
// the full days.
func (o options) generate(ctx context.Context, product *local.Product, from, to time.Time) error {
	wanted := int64(o.days) * int64(o.records)
	extent, err := product.Engine.Extent(ctx)
	if err != nil {
		return err
	}
	if extent.Rows != 0 && extent.Rows != wanted {
		return fmt.Errorf("%s has %d records, not %d; name another folder with -dir, or remove this one", o.dir, extent.Rows, wanted)
	}
	if extent.Rows == 0 {
		log.Printf("importing %d records", wanted)
		all := gen.New(gen.Options{Records: int(wanted), Seed: 1, From: from, To: to})
		if _, err := product.Store.Import(ctx, "generated", all, ingest.Options{Format: "orrery"}); err != nil {
			return err
		}
	}
	if o.days == 1 {
		return nil
	}
	log.Print("merging the objects of each hour, and rolling up the days")
	if _, err := product.Store.Compact(ctx, datadir.CompactOptions{}); err != nil {
		return err
	}
	_, err = product.RollUp(ctx, nil)
	return err
}
