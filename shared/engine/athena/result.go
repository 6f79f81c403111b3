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

// Result reads the answer of an execution that has succeeded.
func (e *Engine) Result(ctx context.Context, x engine.Execution, q query.Query) (query.Answer, engine.Cost, error) {
	w, err := readWork(x)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	var (
		answer query.Answer
		used   = usage{sequential: w.Windows}
	)
	for i, p := range w.Parts {
		execution, err := e.get(ctx, p.ID)
		if err != nil {
			return query.Answer{}, engine.Cost{}, err
		}
		used.add(execution)
		one, counted := e.counted.take(p.ID)
		if !counted {
			one, err = e.read(ctx, execution, w.query(q, i))
		}
		if err != nil {
			return query.Answer{}, engine.Cost{}, contextError(ctx, e.resultError(execution, err))
		}
		if len(w.Parts) == 1 {
			answer = one
			continue
		}
		answer.TopX = append(answer.TopX, one.TopX...)
		if w.Windows {
			rows.AddRecords(&answer, one, q.Shape.(query.Logs).Limit)
		}
	}
	if w.Split {
		sortByLabel(answer.TopX)
	}
	state, err := e.state(ctx)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	cost := e.costOf(w, used)
	began := used.began
	if used.reused {
		began = began.Add(-e.ReuseFor)
	}
	cost.Skipped = state.Skipped(w.whole(q), began)
	return answer, cost, nil
}

// read reads a result. It reads the object of the result row by row if the query is for logs, because a page of logs
// may be too large for the memory, or if the result has several pages. Otherwise it reads the page. Either way takes
// one request.
func (e *Engine) read(ctx context.Context, x *types.QueryExecution, q query.Query) (query.Answer, error) {
	location := ""
	if e.S3 != nil && x.ResultConfiguration != nil {
		location = aws.ToString(x.ResultConfiguration.OutputLocation)
	}
	if _, logs := q.Shape.(query.Logs); location != "" && logs {
		return e.readObject(ctx, location, q)
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
	return e.readObject(ctx, location, q)
}

// pages returns a function that reads the rows of a result one by one, beginning with the given first page. It skips
// the header, which is the first row of that page.
func (e *Engine) pages(
	ctx context.Context, x *types.QueryExecution, page *athena.GetQueryResultsOutput,
) func() ([]*string, error) {
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

func (e *Engine) page(
	ctx context.Context, x *types.QueryExecution, token *string,
) (*athena.GetQueryResultsOutput, error) {
	var page *athena.GetQueryResultsOutput
	in := &athena.GetQueryResultsInput{QueryExecutionId: x.QueryExecutionId, NextToken: token}
	err := e.call(ctx, "read a page of results", func() (err error) {
		page, err = e.Client.GetQueryResults(ctx, in, noRetries)
		return err
	})
	if err == nil && page.ResultSet == nil {
		return nil, fmt.Errorf("a page without rows")
	}
	return page, err
}

// lookForResult returns an error if the result of an execution that has succeeded cannot be read.
func (e *Engine) lookForResult(ctx context.Context, x *types.QueryExecution) error {
	in := &athena.GetQueryResultsInput{QueryExecutionId: x.QueryExecutionId, MaxResults: aws.Int32(1)}
	err := e.call(ctx, "look for the result", func() error {
		_, err := e.Client.GetQueryResults(ctx, in, noRetries)
		return err
	})
	if err == nil {
		return nil
	}
	return contextError(ctx, e.resultError(x, err))
}

// headerOf returns the names of the columns.
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

// cellsOf returns the values of a row. NULL is nil.
func cellsOf(row types.Row) []*string {
	cells := make([]*string, len(row.Data))
	for i, d := range row.Data {
		cells[i] = d.VarCharValue
	}
	return cells
}

// readObject reads a result from the object that Athena has written. The location has the form s3://bucket/key.
func (e *Engine) readObject(ctx context.Context, location string, q query.Query) (query.Answer, error) {
	bucket, key, ok := strings.Cut(strings.TrimPrefix(location, "s3://"), "/")
	if !ok {
		return query.Answer{}, fmt.Errorf("%q is not the location of an object", location)
	}
	var answer query.Answer
	in := &s3.GetObjectInput{Bucket: &bucket, Key: &key}
	err := e.call(ctx, "read "+location, func() error {
		out, err := e.S3.GetObject(ctx, in, func(o *s3.Options) { o.Retryer = aws.NopRetryer{} })
		if err != nil {
			return err
		}
		defer func() { _ = out.Body.Close() }() // only read from
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

// usage sums up the statistics of the parts of an answer. If the parts run at the same time, its times are the times of
// the slowest part.
type usage struct {
	sequential    bool    // the parts run one after the other
	scanned       []int64 // bytes scanned by each part
	queue, engine time.Duration
	began         time.Time // when the first part was submitted
	reused        bool      // Athena reused the results of earlier queries for all parts
}

func (u *usage) add(x *types.QueryExecution) {
	u.scanned = append(u.scanned, bytesScanned(x))
	if x.Status != nil {
		if at := aws.ToTime(x.Status.SubmissionDateTime); len(u.scanned) == 1 || at.Before(u.began) {
			u.began = at
		}
	}
	s := x.Statistics
	if s == nil {
		return
	}
	queue, engine := milliseconds(s.QueryQueueTimeInMillis), milliseconds(s.EngineExecutionTimeInMillis)
	if u.sequential {
		u.queue, u.engine = u.queue+queue, u.engine+engine
	} else {
		u.queue, u.engine = max(u.queue, queue), max(u.engine, engine)
	}
	reused := s.ResultReuseInformation != nil && s.ResultReuseInformation.ReusedPreviousResult
	u.reused = reused && (u.reused || len(u.scanned) == 1)
}

func milliseconds(n *int64) time.Duration { return time.Duration(aws.ToInt64(n)) * time.Millisecond }

// Athena's prices are per terabyte, and it charges every query for at least 10 MB. Both constants are in decimal units,
// so that the reported cost is never less than the charged one.
const (
	terabyte   = 1_000_000_000_000
	minCharged = 10_000_000
)

// costOf returns the cost of an answer. An answer that was complete before it was requested costs nothing.
func (e *Engine) costOf(w work, used usage) engine.Cost {
	cost := engine.Cost{Engine: used.engine, Queue: used.queue, Split: w.Split, USD: new(float64)}
	if completed, ok := w.reused(); ok {
		age := max(0, e.Now().Sub(completed))
		return engine.Cost{USD: cost.USD, Split: w.Split, Cached: &age}
	}
	if used.reused {
		oldest := e.ReuseFor
		cost.Cached = &oldest
		return cost
	}
	for _, bytes := range used.scanned {
		cost.BytesScanned += bytes
		*cost.USD += e.priceOf(bytes)
	}
	return cost
}
