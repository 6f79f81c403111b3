// Command bench measures the console in a browser, with a generated day of records, and prints a table of figures and
// goals. Run it in a checkout:
//
//	go run ./scripts/console/bench
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
	"github.com/orrery/orrery/shared/testkit/browser"
)

// records is the number of records of the day, the same as of the demo.
const records = 100_000

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	dir := flag.String("dir", ".orrery/bench/console", "folder for the data; reused later")
	asJSON := flag.Bool("json", false, "print the report as JSON")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%s is not a flag; bench -help lists them", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := measure(ctx, *dir, *asJSON, os.Stdout, screen.Options{})
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// measure measures the console over the data of a folder, which it generates if there is none, and prints the report.
func measure(ctx context.Context, dir string, asJSON bool, out io.Writer, o screen.Options) (err error) {
	if o.Browser, err = browser.Find(os.LookupEnv); err != nil {
		return err
	}
	product, err := local.Open(ctx, dir)
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
		day := gen.New(gen.Options{Records: records, Seed: 1, From: o.From, To: o.To})
		if _, err := product.Store.Import(ctx, "day", day, ingest.Options{Format: "orrery"}); err != nil {
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
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // until Close; if it ends earlier, the browser gets no answer
	defer func() { err = errors.Join(err, server.Close()) }()
	o.URL = "http://" + listener.Addr().String() + "/"
	report, err := screen.Run(ctx, o)
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(out).Encode(report)
	}
	return report.WriteTable(out)
}
