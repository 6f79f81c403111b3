package athena

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/athena/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/rows"
	"github.com/orrery/orrery/shared/query"
)

// Result reads the answer of an execution that has ended well.
func (e *Engine) Result(ctx context.Context, x engine.Execution, q query.Query) (query.Answer, engine.Cost, error) {
	w, err := readWork(x)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	var (
		answer query.Answer
		bill   bill
	)
	for i, p := range w.Parts {
		execution, err := e.look(ctx, p.ID)
		if err != nil {
			return query.Answer{}, engine.Cost{}, err
		}
		bill.add(execution)
		one, err := e.read(ctx, execution, w.question(q, i))
		if err != nil {
			return query.Answer{}, engine.Cost{}, ended(ctx, fmt.Errorf("read the result of query %s: %w", p.ID, err))
		}
		if len(w.Parts) == 1 {
			answer = one
			continue
		}
		answer.TopX = append(answer.TopX, one.TopX...)
	}
	if w.Split {
		byLabel(answer.TopX)
	}
	return answer, e.costOf(w, bill), nil
}

// read reads a result: the first page, or where there are more or may be, the result's object, which is one request
// for all of them.
func (e *Engine) read(ctx context.Context, x *types.QueryExecution, q query.Query) (query.Answer, error) {
	location := ""
	if e.S3 != nil && x.ResultConfiguration != nil {
		location = aws.ToString(x.ResultConfiguration.OutputLocation)
	}
	if location != "" && maybeLong(q) {
		return e.object(ctx, location, q)
	}
	first, err := e.page(ctx, x, nil)
	if err != nil {
		return query.Answer{}, err
	}
	if len(first.ResultSet.Rows) == 0 {
		return query.Answer{}, fmt.Errorf("no header row")
	}
	if first.NextToken == nil || location == "" {
		return rows.Answer(q, headerOf(first.ResultSet), e.pages(ctx, x, first))
	}
	return e.object(ctx, location, q)
}

// maybeLong reports whether a result may be longer than a page, which has 1,000 rows with the header.
func maybeLong(q query.Query) bool {
	logs, ok := q.Shape.(query.Logs)
	return ok && logs.Limit+1 >= 1_000
}

// pages gives the rows of a result page by page. The first row of the first page is the header.
func (e *Engine) pages(ctx context.Context, x *types.QueryExecution, page *athena.GetQueryResultsOutput) func() ([]*string, error) {
	at := 1
	return func() ([]*string, error) {
		for at == len(page.ResultSet.Rows) {
			if page.NextToken == nil {
				return nil, io.EOF
			}
			var err error
			if page, err = e.page(ctx, x, page.NextToken); err != nil {
				return nil, err
			}
			at = 0
		}
		at++
		return cellsOf(page.ResultSet.Rows[at-1]), nil
	}
}

func (e *Engine) page(ctx context.Context, x *types.QueryExecution, token *string) (*athena.GetQueryResultsOutput, error) {
	var page *athena.GetQueryResultsOutput
	err := e.call(ctx, "read a page of results", func() (err error) {
		page, err = e.Client.GetQueryResults(ctx, &athena.GetQueryResultsInput{QueryExecutionId: x.QueryExecutionId, NextToken: token}, oneTry)
		return err
	})
	if err == nil && page.ResultSet == nil {
		return nil, fmt.Errorf("a page without rows")
	}
	return page, err
}

// headerOf is the names of the columns.
func headerOf(set *types.ResultSet) []string {
	return textsOf(cellsOf(set.Rows[0]))
}

func textsOf(cells []*string) []string {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = aws.ToString(c)
	}
	return texts
}

// cellsOf is a row as texts; NULL is nil.
func cellsOf(row types.Row) []*string {
	cells := make([]*string, len(row.Data))
	for i, d := range row.Data {
		cells[i] = d.VarCharValue
	}
	return cells
}

// object reads a result from where Athena has put it, s3://bucket/key.
func (e *Engine) object(ctx context.Context, location string, q query.Query) (query.Answer, error) {
	bucket, key, ok := strings.Cut(strings.TrimPrefix(location, "s3://"), "/")
	if !ok {
		return query.Answer{}, fmt.Errorf("%q is not the place of an object", location)
	}
	var answer query.Answer
	err := e.call(ctx, "read "+location, func() error {
		out, err := e.S3.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key}, func(o *s3.Options) { o.Retryer = aws.NopRetryer{} })
		if err != nil {
			return err
		}
		defer func() { _ = out.Body.Close() }() // only read
		table := newTable(out.Body)
		header, err := table.next()
		if err != nil {
			return fmt.Errorf("read the header: %w", err)
		}
		answer, err = rows.Answer(q, textsOf(header), table.next)
		return err
	})
	return answer, err
}

// bill sums up what the parts of an answer took. They run at once, so times are those of the slowest.
type bill struct {
	parts         []int64 // bytes scanned by each
	queue, engine time.Duration
	reused        bool // every part's result is that of an earlier query
}

func (b *bill) add(x *types.QueryExecution) {
	b.parts = append(b.parts, scanned(x))
	s := x.Statistics
	if s == nil {
		return
	}
	b.queue = max(b.queue, milliseconds(s.QueryQueueTimeInMillis))
	b.engine = max(b.engine, milliseconds(s.EngineExecutionTimeInMillis))
	reused := s.ResultReuseInformation != nil && s.ResultReuseInformation.ReusedPreviousResult
	b.reused = reused && (b.reused || len(b.parts) == 1)
}

func milliseconds(n *int64) time.Duration { return time.Duration(aws.ToInt64(n)) * time.Millisecond }

// Athena's prices are per terabyte, and every query is charged for 10 MB at least. Decimal units never tell less
// than the bill.
const (
	terabyte   = 1_000_000_000_000
	minCharged = 10_000_000
)

// costOf is what this answer took: nothing, when the result was there already.
func (e *Engine) costOf(w work, b bill) engine.Cost {
	cost := engine.Cost{Engine: b.engine, Queue: b.queue, Split: w.Split, USD: new(float64)}
	if at, found := w.found(); found {
		age := max(0, e.Now().Sub(at))
		return engine.Cost{USD: cost.USD, Split: w.Split, Cached: &age}
	}
	if b.reused {
		oldest := e.ReuseFor
		cost.Cached = &oldest
		return cost
	}
	for _, bytes := range b.parts {
		cost.BytesScanned += bytes
		*cost.USD += float64(max(bytes, minCharged)) / terabyte * e.USDPerTB
	}
	return cost
}
