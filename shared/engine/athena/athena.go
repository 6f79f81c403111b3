// Package athena answers queries with Amazon Athena, engine version 3, over the two tables of the lake. It knows
// Athena's protocol: executions that continue without their callers, request tokens that prevent duplicate executions,
// results as pages and as objects, and the meaning of each failure.
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
	"github.com/orrery/orrery/shared/pause"
	"github.com/orrery/orrery/shared/query"
)

// Client has the methods of *athena.Client that the engine calls.
type Client interface {
	StartQueryExecution(
		context.Context, *athena.StartQueryExecutionInput, ...func(*athena.Options),
	) (*athena.StartQueryExecutionOutput, error)
	GetQueryExecution(
		context.Context, *athena.GetQueryExecutionInput, ...func(*athena.Options),
	) (*athena.GetQueryExecutionOutput, error)
	GetQueryResults(
		context.Context, *athena.GetQueryResultsInput, ...func(*athena.Options),
	) (*athena.GetQueryResultsOutput, error)
	StopQueryExecution(
		context.Context, *athena.StopQueryExecutionInput, ...func(*athena.Options),
	) (*athena.StopQueryExecutionOutput, error)
}

// Objects has the method of *s3.Client that the engine calls.
type Objects interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
}

// Config is the configuration of an Engine.
type Config struct {
	Client        Client
	S3            Objects // reads the objects of long results and of logs; nil: results are read page by page
	States        engine.States
	Sizes         engine.SizesOfHours   // for estimates; nil: they have no sizes
	Columns       engine.ColumnsOfHours // for estimates; nil: they have no sizes of columns
	DamageReports engine.DamageReports  // records objects at which queries fail; nil: nothing is recorded
	Workgroup     string                // its enforced configuration sets the output location and the scan limit of a query
	Database      string
	Catalog       string        // "": AwsDataCatalog
	FromYear      int           // first year that the tables have partitions for; 0: they have all
	ReuseFor      time.Duration // the greatest age of a reused result, in whole minutes; 0: results are not reused
	USDPerTB      float64       // 0: 5, the price of most regions

	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error // returns ctx.Err() if ctx ends; nil: real time
	Random func() float64                             // from 0 to 1, spreads retries; nil: math/rand
}

// Engine answers bound queries. It may be used by several goroutines at once.
type Engine struct {
	Config
	counted counted
}

var (
	_ engine.Starter      = (*Engine)(nil)
	_ engine.Completeness = (*Engine)(nil)
)

// New returns an engine. It sends no request to AWS.
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
		c.USDPerTB = USDPerTB
	}
	if c.Sleep == nil {
		c.Sleep = pause.For
	}
	if c.Random == nil {
		c.Random = rand.Float64
	}
	return &Engine{Config: c}, errors.Join(missing...)
}

// Name returns "athena".
func (e *Engine) Name() string { return "athena" }

// Extent returns the period that the data covers now.
func (e *Engine) Extent(ctx context.Context) (lake.Extent, error) {
	state, err := e.state(ctx)
	return state.Extent, err
}

// Version returns a number that every publication increases.
func (e *Engine) Version(ctx context.Context) (string, error) {
	state, err := e.state(ctx)
	return strconv.FormatInt(state.Version, 10), err
}

// CompleteThrough returns the time to which the data is complete, or the zero time if the states do not report one.
func (e *Engine) CompleteThrough(ctx context.Context) (time.Time, error) {
	state, err := e.state(ctx)
	return state.CompleteThrough, err
}

func (e *Engine) state(ctx context.Context) (engine.State, error) {
	state, err := e.States.State(ctx)
	if err != nil {
		return engine.State{}, contextError(ctx, fmt.Errorf("read the state of the lake: %w", err))
	}
	return state, nil
}

// Run answers q. It stops the execution if ctx ends. If another caller of the same query stops the execution, Run
// starts the query again.
func (e *Engine) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	for attempt := 1; ; attempt++ {
		answer, cost, err := e.run(ctx, q)
		if stoppedByOthers(ctx, err) && attempt < maxAttempts {
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
			err = errors.Join(err, e.stopDetached(ctx, x))
		}
		return query.Answer{}, engine.Cost{}, err
	}
	return e.Result(ctx, x, q)
}

// stopTimeout is the longest time that stopping an execution may take after its caller's context has ended.
const stopTimeout = 5 * time.Second

// stopDetached stops an execution even if ctx has ended.
func (e *Engine) stopDetached(ctx context.Context, x engine.Execution) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return e.Stop(ctx, x)
}
