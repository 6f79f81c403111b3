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
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/fakeaws/athenatest"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// now is the time in all tests of this package.
func now() time.Time { return time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC) }

// staticStates returns the same state of the lake until a test changes it.
type staticStates struct{ state engine.State }

func (s *staticStates) State(context.Context) (engine.State, error) { return s.state, nil }

// newStates returns the states of a lake with the given rows. The hours before the third are compacted.
func newStates(rows []lake.Row) *staticStates {
	return &staticStates{engine.State{
		Extent:    extentOf(rows),
		Watermark: lake.PartitionOf(enginetest.Start.UnixMilli()) + 2,
		Version:   1,
	}}
}

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

// noSleep does not wait, but lets other goroutines run.
func noSleep(ctx context.Context, _ time.Duration) error {
	runtime.Gosched()
	return ctx.Err()
}

// serve starts an emulator and returns it with a client for it.
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
		BaseEndpoint:     &web.URL,
		Region:           "eu-central-1",
		Credentials:      credentials.NewStaticCredentialsProvider("id", "secret", ""),
		HTTPClient:       &http.Client{Transport: transport},
		RetryMaxAttempts: 1,
		ClientLogMode:    aws.ClientLogMode(0),
	})
}

// newEngine returns an engine over a client. If change is not nil, it changes the configuration.
func newEngine(t testing.TB, client athena.Client, states engine.States, change func(*athena.Config)) *athena.Engine {
	t.Helper()
	c := athena.Config{
		Client: client, States: states, Workgroup: "interactive", Database: "traffic",
		Now: now, Sleep: noSleep, Random: func() float64 { return 0.5 },
	}
	if change != nil {
		change(&c)
	}
	e, err := athena.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// registeringEngine registers every query with its backend before it runs the query.
type registeringEngine struct {
	*athena.Engine
	backend   *athenatest.Reference
	watermark lake.Partition
}

func (e registeringEngine) register(q query.Query) {
	q.Scope.Watermark = e.watermark
	e.backend.Register(q)
}

func (e registeringEngine) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	e.register(q)
	return e.Engine.Run(ctx, q)
}

// openReference returns a function that makes an engine over rows on both sides of the watermark.
func openReference(t *testing.T) func(rows []lake.Row) engine.Engine {
	return func(rows []lake.Row) engine.Engine {
		return openMetered(t, rows, objectsOf(rows, newStates(rows).state.Watermark))
	}
}

// TestEngine tests the engine over the emulator, which does not run the SQL: TestEngineOverTrino does.
func TestEngine(t *testing.T) { enginetest.RunSome(t, openReference(t)) }
