package athena

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/athena/types"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

// maxAttempts is the number of times that one statement is started for one caller. After so many tokens, the engine
// tries one that contains the time of the request.
const maxAttempts = 4

// Start starts q over the current data. If the same statement was started before over the same data, Start returns
// that execution, unless it failed or was stopped.
func (e *Engine) Start(ctx context.Context, q query.Query) (engine.Execution, error) {
	e.counted.keep("", query.Answer{}) // its memory is needed
	state, err := e.state(ctx)
	if err != nil {
		return "", err
	}
	if err := e.checkFirstYear(q.Clamp(state.Extent)); err != nil {
		return "", err
	}
	_, logs := q.Shape.(query.Logs)
	w := work{Windows: logs, Parts: make([]part, 1)}
	w.setState(q, state)
	err = e.startPart(ctx, &w, 0, q)
	if canSplit(err, w, q) {
		err = e.split(ctx, &w, q)
	}
	if err != nil {
		return "", errors.Join(err, e.reportDamage(ctx, err), e.stopStarted(ctx, w))
	}
	return w.execution(), nil
}

// checkFirstYear returns an error if q, which is clamped to the data, reads hours for which the tables have no
// partition. Athena would leave out their records without an error.
func (e *Engine) checkFirstYear(q query.Query) error {
	first := time.UnixMilli(q.Scope.FromMs).UTC()
	if e.FromYear == 0 || q.Scope.Empty() || first.Year() >= e.FromYear {
		return nil
	}
	return fmt.Errorf("the query reads records of %s, but the tables begin with the year %d: "+
		"deploy with -c projection-from=%d", first.Format(time.DateTime), e.FromYear, first.Year())
}

// startPart starts part i. It tries the tokens one after the other until it finds one whose execution has not failed.
func (e *Engine) startPart(ctx context.Context, w *work, i int, q query.Query) error {
	version := w.versionOf(i)
	sql, _, err := statement(w.query(q, i), version)
	if err != nil {
		return err
	}
	p := &w.Parts[i]
	requested := e.Now()
	for {
		if p.Attempt > 0 {
			version = w.Version
		}
		if p.ID, err = e.submit(ctx, sql, e.token(sql, version, requested, p.Attempt)); err != nil {
			return err
		}
		x, err := e.get(ctx, p.ID)
		if err != nil {
			return err
		}
		var failure error
		switch x.Status.State {
		case types.QueryExecutionStateQueued, types.QueryExecutionStateRunning:
			return nil
		case types.QueryExecutionStateSucceeded:
			if !submittedBefore(x, requested) {
				p.Done = true
				return nil
			}
			if failure = e.lookForResult(ctx, x); failure == nil {
				p.Done, p.Completed = true, aws.ToTime(x.Status.CompletionDateTime).UnixMilli()
				return nil
			}
		default:
			failure = failureOf(x, w.query(q, i))
		}
		// The execution of this token has failed, or its result was removed. If the query itself is the cause, it would
		// fail again. Otherwise the cause may be gone although the days have not changed, so that a failure of another
		// caller counts until the next publication: all further tokens contain the version of the data.
		kind := fault.KindOf(failure)
		lasting := kind != fault.Canceled && kind != fault.Unavailable
		published := p.Attempt == 0 && version != w.Version && submittedBefore(x, requested)
		if lasting && (!published || errors.Is(failure, errExhausted)) {
			return &failedError{failure}
		}
		switch {
		case p.Attempt+1 < maxAttempts:
			p.Attempt++
		case p.Attempt < maxAttempts && submittedBefore(x, requested):
			p.Attempt = int(requested.Unix()) // other callers have used all tokens
		default:
			return &failedError{failure}
		}
	}
}

// submittedBefore reports whether an execution was submitted earlier than it was requested, so that it is another
// caller's.
func submittedBefore(x *types.QueryExecution, requested time.Time) bool {
	return aws.ToTime(x.Status.SubmissionDateTime).Before(requested.Add(-maxClockSkew))
}

// maxClockSkew is the largest assumed difference between the local clock and Athena's. An execution that was submitted
// within this time before it was requested counts as the caller's own, so that its cost may be reported twice but is
// never missing.
const maxClockSkew = 2 * time.Second

// statement returns the SQL of a query, and how many times it reads the hours of the query. The first line is a comment
// with the version of the days of the query: Athena reuses the result of an equal text, comments included, even if the
// data has changed.
func statement(q query.Query, version int64) (sql string, scans int, _ error) {
	script, err := sqlgen.Athena(q)
	var limit *sqlgen.LimitError
	switch {
	case errors.As(err, &limit):
		return "", 0, engine.StatementError(limit)
	case err != nil:
		return "", 0, err
	case len(script.Warnings) > 0:
		return "", 0, fault.New(fault.RegexRefused, "%s", script.Warnings[0])
	}
	sql = fmt.Sprintf("-- data version %d\n%s", version, script.Statements[0].SQL)
	if len(sql) > maxBytes {
		return "", 0, fault.New(fault.EngineLimit,
			"the query needs %d bytes of SQL, the engine accepts at most %d: use fewer or shorter conditions",
			len(sql), maxBytes)
	}
	return sql, script.Scans, nil
}

// maxBytes is the longest statement that Athena accepts.
const maxBytes = 262_144

// token returns the client request token of a statement. It is the same for equal requests over equal data on one day,
// so that Athena starts only one execution for them and a request can be repeated when its response is lost. The
// first attempt has the version of the days of the query, and the others have the version of all data. Results are kept
// for a day at least, but not as long as Athena knows tokens.
func (e *Engine) token(sql string, version int64, requested time.Time, attempt int) string {
	hash := sha256.New()
	_, _ = fmt.Fprintf(hash, "%q %q %q %d %d %s %d %q",
		e.Workgroup, e.Catalog, e.Database, e.ReuseFor/time.Minute, version,
		requested.UTC().Format(time.DateOnly), attempt, sql)
	return hex.EncodeToString(hash.Sum(nil))
}

// submit starts an execution. It waits for the response even if ctx ends meanwhile, so that the execution can be
// stopped and does not keep scanning after its caller is gone.
func (e *Engine) submit(ctx context.Context, sql, token string) (id string, err error) {
	if err := ctx.Err(); err != nil {
		return "", contextError(ctx, err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), submitTimeout)
	defer cancel()
	in := &athena.StartQueryExecutionInput{
		QueryString:           &sql,
		ClientRequestToken:    &token,
		WorkGroup:             &e.Workgroup,
		QueryExecutionContext: &types.QueryExecutionContext{Catalog: &e.Catalog, Database: &e.Database},
	}
	if minutes := int32(e.ReuseFor / time.Minute); minutes > 0 {
		byAge := &types.ResultReuseByAgeConfiguration{Enabled: true, MaxAgeInMinutes: &minutes}
		in.ResultReuseConfiguration = &types.ResultReuseConfiguration{ResultReuseByAgeConfiguration: byAge}
	}
	err = e.call(ctx, "start a query", func() error {
		out, err := e.Client.StartQueryExecution(ctx, in, noRetries)
		if err == nil {
			id = aws.ToString(out.QueryExecutionId)
		}
		return err
	})
	return id, err
}

// submitTimeout is the longest time that submit may take, including all attempts.
const submitTimeout = 10 * time.Second

// canSplit reports whether the parts of a query may succeed although the whole query failed with err.
func canSplit(err error, w work, q query.Query) bool {
	_, isTopX := q.Shape.(query.TopX)
	return errors.Is(err, errExhausted) && isTopX && !w.Split
}

// split starts every part of a topx query that was too large as a whole. A part scans fewer columns and groups fewer
// rows.
func (e *Engine) split(ctx context.Context, w *work, q query.Query) error {
	if _, err := e.refresh(ctx, w, q); err != nil {
		return err
	}
	w.Split, w.Parts = true, make([]part, len(query.TopXParts))
	return e.startParts(ctx, w, q)
}

func (e *Engine) startParts(ctx context.Context, w *work, q query.Query) error {
	for i := range w.Parts {
		if err := e.startPart(ctx, w, i, q); err != nil {
			return err
		}
	}
	return nil
}

// stopStarted stops the parts that were started before the start of one failed. No caller will ask for their results.
func (e *Engine) stopStarted(ctx context.Context, w work) error {
	if !w.Split && ctx.Err() == nil {
		return nil // the only statement has failed
	}
	return e.stopDetached(ctx, w.execution())
}
