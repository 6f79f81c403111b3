package emulator

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// execution is one query. Its fields are guarded by the server's lock.
type execution struct {
	id        string
	request   request
	hash      [sha256.Size]byte // of the request, to detect a token that is used for two requests
	workgroup Workgroup
	cancel    context.CancelFunc

	state     string
	reason    string
	failure   *Failure
	submitted time.Time
	running   time.Time
	completed time.Time
	scanned   int64
	reused    bool
	cutOff    bool // it scanned more bytes than the workgroup allows
	result    Result
}

// The states of an execution.
const (
	queued    = "QUEUED"
	running   = "RUNNING"
	succeeded = "SUCCEEDED"
	failed    = "FAILED"
	cancelled = "CANCELLED"
)

// ended reports whether the execution is in a final state.
func (x *execution) ended() bool { return x.state != queued && x.state != running }

// Limits of Athena.
const (
	maxBytes = 262_144 // bytes of a statement
	minToken = 32      // characters of a token
	maxToken = 128
	maxArray = 254 // elements of an ARRAY constructor
)

// start starts a query, or returns the execution that was started with the same token.
func (s *Server) start(in request) (any, error) {
	group, ok := s.Workgroups[orDefault(in.WorkGroup, "primary")]
	tokenLength := len(in.ClientRequestToken)
	switch {
	case !ok:
		return nil, invalid("WorkGroup %s is not found.", in.WorkGroup)
	case in.QueryString == "":
		return nil, invalid("queryString must not be empty")
	case len(in.QueryString) > maxBytes:
		return nil, invalid("1 validation error detected: Value at 'queryString' failed to satisfy constraint: "+
			"Member must have length less than or equal to %d", maxBytes)
	case tokenLength != 0 && (tokenLength < minToken || tokenLength > maxToken):
		return nil, invalid("clientRequestToken must have %d to %d characters", minToken, maxToken)
	case len(in.ExecutionParameters) > 0:
		// Athena inserts the parameters into the statement as SQL text.
		return nil, invalid("this server does not support execution parameters")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tooFast() {
		return nil, throttled()
	}
	hash := hashOf(in)
	if x := s.tokens[in.ClientRequestToken]; x != nil {
		if x.hash != hash {
			return nil, invalid("Idempotent parameters do not match")
		}
		return map[string]any{"QueryExecutionId": x.id}, nil
	}
	x := &execution{id: newID(), request: in, hash: hash, workgroup: group, state: queued, submitted: s.Now()}
	s.byID[x.id] = x
	s.order = append(s.order, x)
	if in.ClientRequestToken != "" {
		s.tokens[in.ClientRequestToken] = x
	}
	s.forgetOld()
	if earlier := s.reusable(x); earlier != nil {
		x.state, x.reused, x.result, x.completed = succeeded, true, earlier.result, s.Now()
		x.cancel = func() {}
		return map[string]any{"QueryExecutionId": x.id}, nil
	}
	ctx, cancel := context.WithCancel(context.Background()) // the query continues after this request
	x.cancel = cancel
	go s.run(ctx, x)
	return map[string]any{"QueryExecutionId": x.id}, nil
}

// tooFast reports whether a start now exceeds the number of starts that are allowed within a second. If not, it counts
// the start.
func (s *Server) tooFast() bool {
	if s.StartsPerSecond == 0 {
		return false
	}
	now := s.Now()
	for len(s.starts) > 0 && now.Sub(s.starts[0]) >= time.Second {
		s.starts = s.starts[1:]
	}
	if len(s.starts) >= s.StartsPerSecond {
		return true
	}
	s.starts = append(s.starts, now)
	return false
}

// hashOf returns a hash of a request without its token.
func hashOf(in request) [sha256.Size]byte {
	in.ClientRequestToken = ""
	text, err := json.Marshal(in)
	if err != nil {
		panic("emulator: encode a request that was decoded before: " + err.Error())
	}
	return sha256.Sum256(text)
}

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// maxExecutions is the number of executions that the server keeps.
const maxExecutions = 1_000

// forgetOld removes the oldest executions that have ended, if there are more than maxExecutions.
func (s *Server) forgetOld() {
	for len(s.order) > maxExecutions && s.order[0].ended() {
		x := s.order[0]
		delete(s.byID, x.id)
		delete(s.tokens, x.request.ClientRequestToken)
		s.order = s.order[1:]
	}
}

// reusable returns an earlier execution with a result that x may reuse, or nil.
func (s *Server) reusable(x *execution) *execution {
	reuse := x.request.ResultReuseConfiguration.ResultReuseByAgeConfiguration
	if !reuse.Enabled {
		return nil
	}
	oldest := x.submitted.Add(-time.Duration(reuse.MaxAgeInMinutes) * time.Minute)
	for i := len(s.order) - 1; i >= 0; i-- {
		e := s.order[i]
		same := e.request.QueryString == x.request.QueryString && e.request.WorkGroup == x.request.WorkGroup &&
			e.request.QueryExecutionContext == x.request.QueryExecutionContext
		if same && e.state == succeeded && !e.reused && !e.completed.Before(oldest) {
			return e
		}
	}
	return nil
}

// run runs a query.
func (s *Server) run(ctx context.Context, x *execution) {
	defer x.cancel()
	if s.Queue != nil {
		if err := s.Queue(ctx); err != nil {
			s.finish(x, Result{}, err)
			return
		}
	}
	s.mu.Lock()
	if !x.ended() {
		x.state, x.running = running, s.Now()
	}
	s.mu.Unlock()
	if n := largestArray(x.request.QueryString); n > maxArray {
		reason := fmt.Sprintf("TOO_MANY_ARGUMENTS: Too many arguments for array constructor: %d", n)
		s.finish(x, Result{}, &Failure{Category: 2, Type: 1006, Reason: reason})
		return
	}
	statement := Statement{
		SQL:      x.request.QueryString,
		Catalog:  x.request.QueryExecutionContext.Catalog,
		Database: x.request.QueryExecutionContext.Database,
	}
	result, err := s.Backend.Run(ctx, statement, func(bytes int64) { s.setScanned(x, bytes) })
	if err == nil && s.S3 != nil && !s.cancelled(x) {
		err = s.write(ctx, x, result)
	}
	s.finish(x, result, err)
}

// setScanned records the number of bytes that a query has scanned, and cancels the query if the number exceeds the
// workgroup's limit.
func (s *Server) setScanned(x *execution, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.scanned = max(x.scanned, bytes)
	if limit := x.workgroup.CutoffBytes; limit > 0 && x.scanned > limit {
		x.cutOff = true
		x.cancel()
	}
}

func (s *Server) cancelled(x *execution) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return x.ended() || x.cutOff
}

// finish sets the final state of an execution that has not ended yet.
func (s *Server) finish(x *execution, result Result, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.ended() {
		return
	}
	x.completed = s.Now()
	var failure *Failure
	switch {
	case x.cutOff:
		x.state, x.reason = cancelled, "Bytes scanned limit was exceeded"
	case err == nil:
		x.state, x.result = succeeded, result
	case errors.As(err, &failure):
		x.state, x.reason, x.failure = failed, failure.Reason, failure
	default:
		x.failure = &Failure{Category: 1, Type: 100, Retryable: true, Reason: "GENERIC_INTERNAL_ERROR: " + err.Error()}
		x.state, x.reason = failed, x.failure.Reason
	}
}

// stop cancels a query. It does not change a query that has ended.
func (s *Server) stop(in request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.find(in)
	if err != nil {
		return nil, err
	}
	if !x.ended() {
		x.state, x.reason, x.completed = cancelled, "Query cancelled by user", s.Now()
		x.cancel()
	}
	return struct{}{}, nil
}

// find returns the execution that a request names. The caller holds the lock.
func (s *Server) find(in request) (*execution, error) {
	x, ok := s.byID[in.QueryExecutionId]
	if !ok {
		return nil, invalid("QueryExecution %s was not found", in.QueryExecutionId)
	}
	return x, nil
}

// get returns the state of a query.
func (s *Server) get(in request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.find(in)
	if err != nil {
		return nil, err
	}
	status := map[string]any{"State": x.state, "SubmissionDateTime": seconds(x.submitted)}
	statistics := map[string]any{
		"DataScannedInBytes":     x.scanned,
		"ResultReuseInformation": map[string]any{"ReusedPreviousResult": x.reused},
	}
	if x.state == running {
		statistics["QueryQueueTimeInMillis"] = milliseconds(x.running.Sub(x.submitted))
	}
	if x.ended() {
		status["CompletionDateTime"] = seconds(x.completed)
		started := x.running
		if started.IsZero() {
			started = x.completed
		}
		statistics["QueryQueueTimeInMillis"] = milliseconds(started.Sub(x.submitted) + x.result.Queued)
		statistics["EngineExecutionTimeInMillis"] = milliseconds(x.completed.Sub(started) - x.result.Queued)
		statistics["TotalExecutionTimeInMillis"] = milliseconds(x.completed.Sub(x.submitted))
	}
	if x.reason != "" {
		status["StateChangeReason"] = x.reason
	}
	if f := x.failure; f != nil {
		status["AthenaError"] = map[string]any{
			"ErrorCategory": f.Category, "ErrorType": f.Type, "Retryable": f.Retryable, "ErrorMessage": f.Reason,
		}
	}
	return map[string]any{"QueryExecution": map[string]any{
		"QueryExecutionId":      x.id,
		"Query":                 x.request.QueryString,
		"StatementType":         "DML",
		"WorkGroup":             orDefault(x.request.WorkGroup, "primary"),
		"QueryExecutionContext": x.request.QueryExecutionContext,
		"ResultConfiguration":   map[string]any{"OutputLocation": x.location()},
		"EngineVersion":         engineVersions(),
		"Status":                status,
		"Statistics":            statistics,
	}}, nil
}
