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

// maxAttempts is how often one statement is begun for one caller, and how many tokens are tried before one that names
// the second of asking.
const maxAttempts = 4

// Start begins q over the data of this moment. A statement that was begun before over the same data is the same
// execution, unless that one failed or was stopped.
func (e *Engine) Start(ctx context.Context, q query.Query) (engine.Execution, error) {
	state, err := e.state(ctx)
	if err != nil {
		return "", err
	}
	w := work{Parts: make([]part, 1)}
	w.read(q, state)
	err = e.begin(ctx, &w, 0, q)
	if splits(err, w, q) {
		err = e.split(ctx, &w, q)
	}
	if err != nil {
		return "", errors.Join(err, e.stopBegun(ctx, w))
	}
	return w.execution(), nil
}

// begin starts part i, with the attempt after those that failed.
func (e *Engine) begin(ctx context.Context, w *work, i int, q query.Query) error {
	sql, err := statement(w.question(q, i), w.Version)
	if err != nil {
		return err
	}
	p := &w.Parts[i]
	asked := e.Now()
	for {
		if p.ID, err = e.start(ctx, sql, e.token(sql, w.Version, p.Attempt)); err != nil {
			return err
		}
		x, err := e.look(ctx, p.ID)
		if err != nil {
			return err
		}
		switch x.Status.State {
		case types.QueryExecutionStateQueued, types.QueryExecutionStateRunning:
			return nil
		case types.QueryExecutionStateSucceeded:
			p.Done = true
			if longAgo(x, asked) {
				p.Found = aws.ToTime(x.Status.CompletionDateTime).UnixMilli()
			}
			return nil
		}
		// The execution of this token has ended. A mistake of the query would be repeated.
		failed := failureOf(x, w.question(q, i))
		if kind := fault.KindOf(failed); kind != fault.Canceled && kind != fault.Unavailable {
			return failed
		}
		switch {
		case p.Attempt+1 < maxAttempts:
			p.Attempt++
		case p.Attempt < maxAttempts && longAgo(x, asked):
			p.Attempt = int(asked.Unix()) // others have used up all tokens: take a new one
		default:
			return failed
		}
	}
}

// longAgo reports whether an execution was begun before it was asked for.
func longAgo(x *types.QueryExecution, asked time.Time) bool {
	return aws.ToTime(x.Status.SubmissionDateTime).Before(asked.Add(-clocksDiffer))
}

// clocksDiffer is how far our clock and Athena's may be apart. An execution begun less before it was asked for counts
// as this one's own: it is paid for twice in the figures rather than never.
const clocksDiffer = 2 * time.Second

// statement is the query's SQL. Its first line names the version of the data: Athena reuses results of equal text
// (comments included) whatever has happened to the data meanwhile.
func statement(q query.Query, version int64) (string, error) {
	script, err := sqlgen.Athena(q)
	var limit *sqlgen.LimitError
	switch {
	case errors.As(err, &limit):
		return "", engine.StatementError(limit)
	case err != nil:
		return "", err
	case len(script.Warnings) > 0:
		return "", fault.New(fault.RegexRefused, "%s", script.Warnings[0])
	}
	sql := fmt.Sprintf("-- data version %d\n%s", version, script.Statements[0].SQL)
	if len(sql) > maxBytes {
		return "", fault.New(fault.EngineLimit, "the query needs %d bytes of SQL, the engine takes at most %d: use fewer or shorter conditions", len(sql), maxBytes)
	}
	return sql, nil
}

// maxBytes is how long a statement may be.
const maxBytes = 262_144

// token is the same for the same request over the same data: beginning twice is beginning once, and a lost answer
// can be asked for again.
func (e *Engine) token(sql string, version int64, attempt int) string {
	hash := sha256.New()
	_, _ = fmt.Fprintf(hash, "%q %q %q %d %d %d %q", e.Workgroup, e.Catalog, e.Database, e.ReuseFor/time.Minute, version, attempt, sql)
	return hex.EncodeToString(hash.Sum(nil))
}

// start begins an execution. Its id is read even if the caller goes away meanwhile, so that the
// execution can be stopped and does not keep scanning after its caller is gone.
func (e *Engine) start(ctx context.Context, sql, token string) (id string, err error) {
	if err := ctx.Err(); err != nil {
		return "", ended(ctx, err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTime)
	defer cancel()
	in := &athena.StartQueryExecutionInput{
		QueryString:           &sql,
		ClientRequestToken:    &token,
		WorkGroup:             &e.Workgroup,
		QueryExecutionContext: &types.QueryExecutionContext{Catalog: &e.Catalog, Database: &e.Database},
	}
	if minutes := int32(e.ReuseFor / time.Minute); minutes > 0 {
		in.ResultReuseConfiguration = &types.ResultReuseConfiguration{
			ResultReuseByAgeConfiguration: &types.ResultReuseByAgeConfiguration{Enabled: true, MaxAgeInMinutes: &minutes},
		}
	}
	err = e.call(ctx, "start a query", func() error {
		out, err := e.Client.StartQueryExecution(ctx, in, oneTry)
		if err == nil {
			id = aws.ToString(out.QueryExecutionId)
		}
		return err
	})
	return id, err
}

// startTime is how long beginning may take, tries included.
const startTime = 10 * time.Second

// splits reports whether the parts of a query may succeed although the whole has failed.
func splits(err error, w work, q query.Query) bool {
	_, isTopX := q.Shape.(query.TopX)
	return errors.Is(err, errExhausted) && isTopX && !w.Split
}

// split begins every part of a topx that was too large as a whole. A part scans fewer columns, groups fewer rows.
func (e *Engine) split(ctx context.Context, w *work, q query.Query) error {
	if _, err := e.renew(ctx, w, q); err != nil {
		return err
	}
	w.Split, w.Parts = true, make([]part, len(query.TopXParts))
	return e.beginAll(ctx, w, q)
}

func (e *Engine) beginAll(ctx context.Context, w *work, q query.Query) error {
	for i := range w.Parts {
		if err := e.begin(ctx, w, i, q); err != nil {
			return err
		}
	}
	return nil
}

// stopBegun stops the parts that were begun before one failed to begin, because no caller will ask about them.
func (e *Engine) stopBegun(ctx context.Context, w work) error {
	if !w.Split && ctx.Err() == nil {
		return nil // the one statement itself has failed
	}
	return e.stopAfter(ctx, w.execution())
}
