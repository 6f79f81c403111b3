package localaws

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/fakeaws/iamproxy"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/permissions"
	"github.com/orrery/orrery/shared/report/destination"
)

// gate is the proxy between the functions and the servers. LocalStack checks no permissions; behind the gate, a
// function that lacks a grant fails as it would on AWS.
type gate struct {
	iam    *iamproxy.Transport
	server *http.Server
	url    string
	ready  chan struct{} // closed when resources is set

	mu        sync.Mutex
	resources permissions.Resources
	backends  map[string]*url.URL // by service; "" for all others
	denied    []string
}

// startGuard starts the gate and sends functions that start from now on to it. It needs the endpoint of LocalStack.
func (d *Deployment) startGuard(ctx context.Context) error {
	g := &gate{ready: make(chan struct{}), backends: map[string]*url.URL{}}
	if err := g.connect("", d.Endpoint); err != nil {
		return err
	}
	g.iam = iamproxy.New(iamproxy.Config{
		Function: iamproxy.ByAccessKey(Name + "-"), // which the plugin of LocalStack sets
		Policy:   g.policy,
		Account:  Account,
		Base:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute},
		Denied: func(_, reason string) {
			g.deny(reason)
			_, _ = io.WriteString(d.options.Output, "denied: "+reason+"\n") // only for information
			if d.options.Denied != nil {
				d.options.Denied(reason)
			}
		},
		Record: d.options.Record,
	})
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	g.url = "http://" + listener.Addr().String()
	g.server = &http.Server{Handler: g.iam.Proxy(g.backend), ReadHeaderTimeout: time.Minute}
	go func() { _ = g.server.Serve(listener) }() // it ends by Close
	d.gate = g
	return d.setVariables("AWS_ENDPOINT_URL="+g.url, "AWS_ENDPOINT_URL_ATHENA="+g.url)
}

// stopGuard ends the gate and the connections through it.
func (d *Deployment) stopGuard() error {
	if d.gate == nil {
		return nil
	}
	err := d.gate.server.Close()
	d.gate = nil
	return err
}

// open sets the resources of the deployment, and lets the requests through that have waited for them. needs are the
// needs of the destinations of scheduled reports.
func (g *gate) open(outputs map[string]string, needs destination.Needs) {
	g.mu.Lock()
	defer g.mu.Unlock()
	first := g.resources.Table == ""
	names := permissions.Names{
		Region: Region, Account: Account, Database: Name, Workgroup: Name + "-interactive",
		Table: outputs[tableOutput], RawBucket: outputs["RawBucketName"],
		RawQueue: path.Base(outputs["RawQueueURL"]), RawDeadLetters: path.Base(outputs["RawDeadLettersURL"]),
		LakeBucket: outputs["LakeBucketName"], ResultBucket: outputs["ResultsBucketName"],
		ReportsWorkgroup: Name + "-reports", ReportQueue: path.Base(outputs["ReportQueueURL"]),
		PartFunction: Name + "-" + lambdas.Part,
	}
	g.resources = names.Reaching(needs)
	if first {
		close(g.ready)
	}
}

func (g *gate) policy(ctx context.Context) (iamproxy.Policy, error) {
	select {
	case <-g.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.resources, nil
}

// connect sets the server of a service.
func (g *gate) connect(service, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.backends[service] = u
	return nil
}

func (g *gate) backend(service string) *url.URL {
	g.mu.Lock()
	defer g.mu.Unlock()
	if u, known := g.backends[service]; known {
		return u
	}
	return g.backends[""]
}

func (g *gate) deny(reason string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.iam.Record && !slices.Contains(g.denied, reason) {
		g.denied = append(g.denied, reason)
	}
}

// Permissions returns the calls that functions have made, the calls that were denied, and the resources of both. It
// needs Options.Record.
func (d *Deployment) Permissions() (calls permissions.Calls, denied []string, in permissions.Resources) {
	d.gate.mu.Lock()
	defer d.gate.mu.Unlock()
	return d.gate.iam.Calls(), slices.Clone(d.gate.denied), d.gate.resources
}
