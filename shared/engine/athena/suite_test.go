package athena_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/athena"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/athena/athenatest"
	"github.com/orrery/orrery/shared/engine/athena/emulator"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// now is when all tests of this package happen.
func now() time.Time { return time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC) }

// fixed is a state of the lake that does not change by itself.
type fixed struct{ state engine.State }

func (f *fixed) State(context.Context) (engine.State, error) { return f.state, nil }

func extentOf(rows []lake.Row) lake.Extent {
	var e lake.Extent
	for i, r := range rows {
		if i == 0 {
			e.MinTsMs, e.MaxTsMs = r.TsMs, r.TsMs
		}
		e.MinTsMs, e.MaxTsMs, e.Rows = min(e.MinTsMs, r.TsMs), max(e.MaxTsMs, r.TsMs), e.Rows+1
	}
	return e
}

// impatient waits no time, but lets others work.
func impatient(ctx context.Context, _ time.Duration) error {
	runtime.Gosched()
	return ctx.Err()
}

// serve starts a server and returns it with a client of it.
func serve(t testing.TB, c emulator.Config, transport http.RoundTripper) (*emulator.Server, *sdk.Client) {
	t.Helper()
	if c.Workgroups == nil {
		c.Workgroups = map[string]emulator.Workgroup{"interactive": {Output: "s3://results/results/"}}
	}
	if c.Now == nil {
		c.Now = now
	}
	s, err := emulator.New(c)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return s, sdk.New(sdk.Options{
		BaseEndpoint: &web.URL, Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		HTTPClient: &http.Client{Transport: transport}, RetryMaxAttempts: 1, Logger: nil, AppID: "", ClientLogMode: aws.ClientLogMode(0),
	})
}

// newEngine is an engine over a client; special changes what it is made of.
func newEngine(t testing.TB, client athena.Client, states engine.States, special func(*athena.Config)) *athena.Engine {
	t.Helper()
	c := athena.Config{
		Client: client, States: states, Workgroup: "interactive", Database: "traffic",
		Now: now, Sleep: impatient, Random: func() float64 { return 0.5 },
	}
	if special != nil {
		special(&c)
	}
	e, err := athena.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// told is an engine whose backend is told of every query before it is asked.
type told struct {
	*athena.Engine
	backend   *athenatest.Reference
	watermark lake.Partition
}

func (e told) know(q query.Query) {
	q.Scope.Watermark = e.watermark
	e.backend.Know(q)
}

func (e told) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	e.know(q)
	return e.Engine.Run(ctx, q)
}

// openReference is an engine over rows that stand on both sides of the watermark.
func openReference(t *testing.T) func(rows []lake.Row) engine.Engine {
	return func(rows []lake.Row) engine.Engine {
		states := &fixed{engine.State{Extent: extentOf(rows), Watermark: lake.PartitionOf(enginetest.Start.UnixMilli()) + 2, Version: 1}}
		backend := athenatest.NewReference(rows)
		_, client := serve(t, emulator.Config{Backend: backend}, nil)
		return told{newEngine(t, client, states, nil), backend, states.state.Watermark}
	}
}

// TestEngine holds the way through Athena's protocol to the contract; what SQL means is for Trino to say.
func TestEngine(t *testing.T) { enginetest.Run(t, openReference(t)) }
