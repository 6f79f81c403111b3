package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/internal/version"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/httpserver"
	"github.com/orrery/orrery/scripts/orrery/internal/keep"
	"github.com/orrery/orrery/scripts/orrery/internal/logs"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/scripts/orrery/internal/watch"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/geoip"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/report/link"
)

type serveCommand struct {
	Data    target.Folder `default:".orrery" env:"ORRERY_DATA" help:"Folder that holds the data." placeholder:"DIR"`
	Listen  string        `default:"127.0.0.1:8080" env:"ORRERY_LISTEN" help:"Address to listen on." placeholder:"ADDRESS"`
	Public  string        `name:"public-url" env:"ORRERY_PUBLIC_URL" help:"Address at which readers reach the console and the API, for links and commands in reports." placeholder:"URL"`
	APIKey  *string       `env:"ORRERY_API_KEY" name:"api-key" help:"Key to accept in addition to the keys of 'orrery key'." placeholder:"KEY"`
	Metrics string        `name:"metrics-listen" env:"ORRERY_METRICS_LISTEN" help:"Second address to serve /metrics at, without a key: [HOST]:PORT." placeholder:"ADDRESS"`
	Watch   bool          `help:"Import files that are put into the folder's raw/, and the files of the sources in orrery.toml."`
	Horizon *watch.Days   `help:"With --watch: quarantine records that are more than this number of days older than the last change of their file; 0 quarantines none; default: 35. Sources may have their own max-age." placeholder:"DAYS"`
	Keep    *keep.Age     `help:"Keep records up to this age, such as 90d: remove older hours, and leave older records out of imports; 0d keeps all; default: the value of keep in orrery.toml." placeholder:"AGE"`
	Demo    bool          `default:"true" negatable:"" help:"Generate a demo of three days if there is no data."`
	httpserver.Certificate

	Proxies []httpserver.Network `name:"trusted-proxy" sep:"," env:"ORRERY_TRUSTED_PROXIES" help:"Proxy whose X-Forwarded-For names the clients; the server counts wrong keys by client. An address, or a narrow network with only proxies, because every machine in it can name any client; may be repeated." placeholder:"NETWORK"`

	GeoIP []string `name:"geoip" sep:"none" help:"With --watch: MaxMind database with the places of clients; may be repeated." placeholder:"FILE"`
	target.Cluster
}

// The length of the demo, and the number of its records.
const (
	demoDays    = 3
	demoRecords = 150_000
)

// Run serves until ctx ends, then waits for running requests. On any address other than a loopback address, it requires
// a key.
func (s *serveCommand) Run(ctx context.Context, c terminal.Console, k clock) error {
	n := newNotices(c.Err)
	return n.ended(ctx, s.run(ctx, c, n, k))
}

func (s *serveCommand) run(ctx context.Context, c terminal.Console, n notices, k clock) (err error) {
	if s.Watch && s.Trino != "" {
		return exit.With(exit.Usage, "--watch imports into the folder, but --trino queries the "+
			"cluster; import with 'orrery import' and copy the objects to the storage of the cluster")
	}
	if s.Keep != nil && s.Trino != "" {
		return exit.With(exit.Usage, "--keep removes hours from the folder, but --trino queries the cluster")
	}
	if err := s.Certificate.Check(); err != nil {
		return err
	}
	if wrong := link.Check(s.Public); wrong != "" {
		return exit.With(exit.Usage, "--public-url: "+wrong)
	}
	apiKey, err := s.ownKey()
	if err != nil {
		return err
	}
	known, err := local.OpenKeys(ctx, string(s.Data))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, known.Close()) }()
	access := local.Access{Address: s.Listen, APIKey: apiKey, Keys: known}
	keyed, err := access.NeedKey(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(local.CheckAddress(s.Listen, keyed), local.CheckKey(s.Listen, apiKey)); err != nil {
		return exit.With(exit.Usage, err.Error())
	}
	if !s.Certificate.Given() && !local.Loopback(s.Listen) {
		n.notEncrypted(s.Listen)
	}
	// Listen before generating the demo, so that an address in use is reported at once and not a minute later.
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w (choose another with --listen)", s.Listen, err)
	}
	forMetrics, err := s.listenForMetrics(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if forMetrics != nil {
		defer func() { _ = forMetrics.Close() }() // its server has closed it
	}
	product, err := s.open(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	err = s.serve(ctx, c, n, k, product, access, listener, forMetrics)
	return errors.Join(err, product.Close())
}

// listenForMetrics listens on the address of --metrics-listen. It returns nil without the flag. An address without a
// host is a loopback address.
func (s *serveCommand) listenForMetrics(ctx context.Context) (net.Listener, error) {
	if s.Metrics == "" {
		return nil, nil
	}
	host, port, err := net.SplitHostPort(s.Metrics)
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Sprintf(
			"%q is not an address for --metrics-listen; write PORT with a colon before it, such as :9464, or HOST:PORT",
			s.Metrics))
	}
	if host == "" {
		host = "127.0.0.1"
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w (choose another with --metrics-listen)", s.Metrics, err)
	}
	return listener, nil
}

// ownKey returns the key of --api-key or its variable, or "" if neither is set. It refuses a blank key, because a user
// who sets one expects a server that requires a key.
func (s *serveCommand) ownKey() (string, error) {
	if s.APIKey == nil {
		return "", nil
	}
	if strings.TrimSpace(*s.APIKey) == "" {
		return "", exit.With(exit.Usage, "the API key is empty: "+
			"set --api-key or ORRERY_API_KEY to a value, or set neither to serve without a key")
	}
	return *s.APIKey, nil
}

// open opens the product over the records of the folder or of a cluster.
func (s *serveCommand) open(ctx context.Context) (*local.Product, error) {
	if s.Trino == "" {
		return local.Open(ctx, string(s.Data))
	}
	client, err := s.Connect()
	if err != nil {
		return nil, exit.With(exit.Usage, err.Error())
	}
	return local.OpenTrino(ctx, string(s.Data), client)
}

// serve serves on the listener until ctx ends.
func (s *serveCommand) serve(
	ctx context.Context, c terminal.Console, n notices, k clock, product *local.Product, access local.Access,
	listener, forMetrics net.Listener,
) (err error) {
	places, err := geoip.Open(s.GeoIP)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, places.Close()) }()
	databases, err := logs.AbsolutePaths(s.GeoIP)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	sources, closeSources, err := s.sources(n, databases)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, closeSources()) }()
	age, err := s.keep(product)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	extent, err := s.ensureData(ctx, c, n, product)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	keyed, err := access.NeedKey(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	logger := n.log
	metrics := product.Metrics()
	options := local.ServeOptions{
		Access: &access, Proxies: httpserver.Prefixes(s.Proxies), Log: logger, Version: version.String(), Metrics: metrics,
		Address: s.Public,
	}
	handler, err := product.Handler(options)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	reports, err := product.ReportRunner(options, k.now)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	lists, err := product.ListRefresher(logger, k.now)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := httpserver.New(handler, logger)
	ended := make(chan error, 2)
	go func() { ended <- s.Certificate.Serve(server, listener, logger) }()
	if forMetrics != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", metrics)
		server := httpserver.New(mux, logger)
		go func() { ended <- server.Serve(forMetrics) }()
		defer func() { _ = server.Close() }() // a scrape has no effects, so it is not waited for
		n.metrics("http://" + httpserver.Reachable(forMetrics.Addr()) + "/metrics")
	}
	var watching sync.WaitGroup
	background, stop := context.WithCancel(ctx)
	defer func() { // also if a listener fails
		stop()
		watching.Wait()
	}()
	if s.Watch {
		options := ingest.Options{Horizon: s.horizon(), Complete: places.Complete, GeoIP: databases}
		watching.Go(func() { watch.Run(background, product, options, sources, logger) })
	}
	if s.Watch || age != nil {
		watching.Go(func() { watch.NewTidier(product, age, logger).Loop(background) })
	}
	watching.Go(func() { warm(background, product, logger) })
	if reports != nil {
		watching.Go(func() { reports.Loop(background, k.minutes()) })
	}
	if lists != nil {
		watching.Go(func() { lists.Loop(background, k.minutes()) })
	}
	scheme := "http://"
	if s.Certificate.Given() {
		scheme = "https://"
	}
	base := scheme + httpserver.Reachable(listener.Addr())
	if n.person {
		if s.welcome(c.Err, base, extent) {
			looking, cancel := context.WithTimeout(ctx, tryWithin)
			tryQuestions(looking, c.Err, base, product, extent, keyed)
			cancel()
		}
	} else {
		s.logServing(logger, base, extent, keyed)
	}

	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	n.stopping()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), httpserver.DrainWait)
	defer cancel()
	return server.Shutdown(drain)
}

// warm makes the first dashboard that is opened as fast as the next ones.
func warm(ctx context.Context, product *local.Product, logger *slog.Logger) {
	began := time.Now()
	done, err := product.Warm(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		logger.Warn("the first dashboard may be slow", "error", err)
	case done.Questions > 0:
		logger.Info("ready for dashboards", "questions", done.Questions, "bytes", done.Bytes,
			"seconds", time.Since(began).Seconds())
	}
}

// keep returns how long records are kept, or nil if nothing says so, and makes imports leave out older ones.
func (s *serveCommand) keep(product *local.Product) (*time.Duration, error) {
	if product.Store == nil {
		return nil, nil
	}
	return keep.Apply(product.Store, s.Keep, s.Data)
}

// sources returns the files of the sources of orrery.toml, which a server imports with --watch.
func (s *serveCommand) sources(
	n notices, databases []string,
) (watched []datadir.Watched, closeAll func() error, err error) {
	if !s.Watch {
		return nil, func() error { return nil }, nil
	}
	return watch.Sources(n.sameFiles, s.Data, databases, s.horizon())
}

// horizon returns the horizon of watched files.
func (s *serveCommand) horizon() time.Duration {
	if s.Horizon == nil {
		return ingest.DefaultHorizon
	}
	return s.Horizon.Duration()
}

// ensureData generates a demo if there are no records.
func (s *serveCommand) ensureData(
	ctx context.Context, c terminal.Console, n notices, product *local.Product,
) (lake.Extent, error) {
	if !s.Demo {
		product.WithoutDemo()
	}
	extent, err := product.Engine.Extent(ctx)
	if err != nil || extent.Rows > 0 || !s.Demo || s.Trino != "" {
		return extent, err
	}
	to := time.Now().UTC().Truncate(time.Second)
	n.demo(string(s.Data))
	options := gen.Options{Records: demoRecords, Seed: 1, From: to.AddDate(0, 0, -demoDays), To: to}
	err = product.MakeDemo(ctx, func(store *datadir.Store) error {
		_, err := logs.ImportGenerated(ctx, store, "demo", gen.New(options), demoRecords, c.Err)
		return err
	})
	if err != nil {
		return extent, fmt.Errorf("generate the demo: %w", err)
	}
	return product.Engine.Extent(ctx)
}
