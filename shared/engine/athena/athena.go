// Package athena answers queries with Amazon Athena, engine version 3, over the two tables of the lake. It knows
// Athena's protocol: executions that outlive who began them, tokens that make beginning twice beginning once, pages
// and objects of results, and what each failure means for the user.
package athena

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Client is what is used of *athena.Client.
type Client interface {
	StartQueryExecution(context.Context, *athena.StartQueryExecutionInput, ...func(*athena.Options)) (*athena.StartQueryExecutionOutput, error)
	GetQueryExecution(context.Context, *athena.GetQueryExecutionInput, ...func(*athena.Options)) (*athena.GetQueryExecutionOutput, error)
	GetQueryResults(context.Context, *athena.GetQueryResultsInput, ...func(*athena.Options)) (*athena.GetQueryResultsOutput, error)
	StopQueryExecution(context.Context, *athena.StopQueryExecutionInput, ...func(*athena.Options)) (*athena.StopQueryExecutionOutput, error)
}

// Objects is what is used of *s3.Client.
type Objects interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
}

// Config is what the engine is made of.
type Config struct {
	Client    Client
	S3        Objects // reads results longer than a page from their object; nil: page by page
	States    engine.States
	Workgroup string // with an enforced configuration: where results go, and what one query may scan
	Database  string
	Catalog   string        // "": AwsDataCatalog
	ReuseFor  time.Duration // how old an earlier equal query's result may be, whole minutes; 0: never reused
	USDPerTB  float64       // 0: 5, the price of most regions

	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error // nil: real time; ends with ctx, returning its error
	Random func() float64                             // from 0 to 1, spreads retries; nil: math/rand
}

// Engine answers bound queries. It may be used by several goroutines at once.
type Engine struct{ Config }

var _ engine.Starter = (*Engine)(nil)

// New makes the engine. It asks nothing of AWS.
func New(c Config) (*Engine, error) {
	var missing []error
	for _, part := range []struct {
		name string
		set  bool
	}{
		{"Client", c.Client != nil}, {"States", c.States != nil}, {"Now", c.Now != nil},
		{"Workgroup", c.Workgroup != ""}, {"Database", c.Database != ""},
	} {
		if !part.set {
			missing = append(missing, fmt.Errorf("athena: Config.%s is not set", part.name))
		}
	}
	if c.Catalog == "" {
		c.Catalog = "AwsDataCatalog"
	}
	if c.USDPerTB == 0 {
		c.USDPerTB = 5
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	if c.Random == nil {
		c.Random = rand.Float64
	}
	return &Engine{c}, errors.Join(missing...)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Name is "athena".
func (e *Engine) Name() string { return "athena" }

// Extent is the time the data covers at this moment.
func (e *Engine) Extent(ctx context.Context) (lake.Extent, error) {
	state, err := e.state(ctx)
	return state.Extent, err
}

// Version is the number that every publication raises.
func (e *Engine) Version(ctx context.Context) (string, error) {
	state, err := e.state(ctx)
	return strconv.FormatInt(state.Version, 10), err
}

func (e *Engine) state(ctx context.Context) (engine.State, error) {
	state, err := e.States.State(ctx)
	if err != nil {
		return engine.State{}, ended(ctx, fmt.Errorf("read the state of the lake: %w", err))
	}
	return state, nil
}

// Run answers q. When the caller goes away or its time runs out, the execution is stopped.
//
// An execution that another caller of the same query stopped is begun anew.
func (e *Engine) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	for begun := 1; ; begun++ {
		answer, cost, err := e.run(ctx, q)
		if stoppedByOthers(ctx, err) && begun < maxAttempts {
			continue
		}
		return answer, cost, err
	}
}

func (e *Engine) run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	x, err := e.Start(ctx, q)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	if x, err = e.Wait(ctx, x, q); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, e.stopAfter(ctx, x))
		}
		return query.Answer{}, engine.Cost{}, err
	}
	return e.Result(ctx, x, q)
}

// stopTime is how long stopping may take after the caller is gone.
const stopTime = 5 * time.Second

func (e *Engine) stopAfter(ended context.Context, x engine.Execution) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ended), stopTime)
	defer cancel()
	return e.Stop(ctx, x)
}
