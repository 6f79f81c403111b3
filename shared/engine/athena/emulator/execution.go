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
	asked     [sha256.Size]byte // of the request, to tell whether a token is used for another
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
	cutOff    bool // it scanned more than the workgroup allows
	result    Result
}

// The states.
const (
	queued    = "QUEUED"
	running   = "RUNNING"
	succeeded = "SUCCEEDED"
	failing   = "FAILED"
	cancelled = "CANCELLED"
)

func (x *execution) over() bool { return x.state != queued && x.state != running }

// Limits of Athena.
const (
	maxBytes = 262_144 // of a statement
	minToken = 32      // characters of a token
	maxToken = 128
	maxArray = 254 // elements of an ARRAY constructor
)

// start begins a query, or finds the one begun with the same token.
func (s *Server) start(in request) (any, error) {
	group, ok := s.Workgroups[orDefault(in.WorkGroup, "primary")]
	switch {
	case !ok:
		return nil, invalid("WorkGroup %s is not found.", in.WorkGroup)
	case in.QueryString == "":
		return nil, invalid("queryString must not be empty")
	case len(in.QueryString) > maxBytes:
		return nil, invalid("1 validation error detected: Value at 'queryString' failed to satisfy constraint: Member must have length less than or equal to %d", maxBytes)
	case in.ClientRequestToken != "" && (len(in.ClientRequestToken) < minToken || len(in.ClientRequestToken) > maxToken):
		return nil, invalid("clientRequestToken must have %d to %d characters", minToken, maxToken)
	case len(in.ExecutionParameters) > 0:
		return nil, invalid("execution parameters are SQL text in disguise: this server takes none")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tooFast() {
		return nil, throttled()
	}
	asked := fingerprint(in)
	if x := s.tokens[in.ClientRequestToken]; x != nil {
		if x.asked != asked {
			return nil, invalid("Idempotent parameters do not match")
		}
		return map[string]any{"QueryExecutionId": x.id}, nil
	}
	x := &execution{id: newID(), request: in, asked: asked, workgroup: group, state: queued, submitted: s.Now()}
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
	ctx, cancel := context.WithCancel(context.Background()) // a query outlives who began it
	x.cancel = cancel
	go s.run(ctx, x)
	return map[string]any{"QueryExecutionId": x.id}, nil
}

// tooFast tells whether this start is one too many within a second.
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

func fingerprint(in request) [sha256.Size]byte {
	in.ClientRequestToken = ""
	text, err := json.Marshal(in)
	if err != nil {
		panic("athenatest: a request that was JSON is none any more: " + err.Error())
	}
	return sha256.Sum256(text)
}

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// kept is how many executions are known at once.
const kept = 1_000

func (s *Server) forgetOld() {
	for len(s.order) > kept && s.order[0].over() {
		x := s.order[0]
		delete(s.byID, x.id)
		delete(s.tokens, x.request.ClientRequestToken)
		s.order = s.order[1:]
	}
}

// reusable is an earlier execution whose result may stand for that of x.
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

// run takes a query through its states.
func (s *Server) run(ctx context.Context, x *execution) {
	defer x.cancel()
	if s.Queue != nil {
		if err := s.Queue(ctx); err != nil {
			s.finish(x, Result{}, err)
			return
		}
	}
	s.mu.Lock()
	if !x.over() {
		x.state, x.running = running, s.Now()
	}
	s.mu.Unlock()
	if n := largestArray(x.request.QueryString); n > maxArray {
		s.finish(x, Result{}, &Failure{Category: 2, Type: 1006, Reason: fmt.Sprintf("TOO_MANY_ARGUMENTS: Too many arguments for array constructor: %d", n)})
		return
	}
	result, err := s.Backend.Run(ctx, Statement{
		SQL: x.request.QueryString, Catalog: x.request.QueryExecutionContext.Catalog, Database: x.request.QueryExecutionContext.Database,
	}, func(bytes int64) { s.note(x, bytes) })
	if err == nil && s.S3 != nil && !s.cancelled(x) {
		err = s.write(ctx, x, result)
	}
	s.finish(x, result, err)
}

// note notes what a query has scanned, and ends it when that is more than it may.
func (s *Server) note(x *execution, bytes int64) {
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
	return x.over() || x.cutOff
}

func (s *Server) finish(x *execution, result Result, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.over() {
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
		x.state, x.reason, x.failure = failing, failure.Reason, failure
	default:
		x.failure = &Failure{Category: 1, Type: 100, Retryable: true, Reason: "GENERIC_INTERNAL_ERROR: " + err.Error()}
		x.state, x.reason = failing, x.failure.Reason
	}
}

// stop cancels a query; one that is over stays as it is.
func (s *Server) stop(in request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.find(in)
	if err != nil {
		return nil, err
	}
	if !x.over() {
		x.state, x.reason, x.completed = cancelled, "Query cancelled by user", s.Now()
		x.cancel()
	}
	return struct{}{}, nil
}

// find is called with the lock held.
func (s *Server) find(in request) (*execution, error) {
	x, ok := s.byID[in.QueryExecutionId]
	if !ok {
		return nil, invalid("QueryExecution %s was not found", in.QueryExecutionId)
	}
	return x, nil
}

// get tells the state of a query.
func (s *Server) get(in request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.find(in)
	if err != nil {
		return nil, err
	}
	status := map[string]any{"State": x.state, "SubmissionDateTime": seconds(x.submitted)}
	statistics := map[string]any{"DataScannedInBytes": x.scanned, "ResultReuseInformation": map[string]any{"ReusedPreviousResult": x.reused}}
	if x.over() {
		status["CompletionDateTime"] = seconds(x.completed)
		began := x.running
		if began.IsZero() {
			began = x.completed
		}
		statistics["QueryQueueTimeInMillis"] = milliseconds(began.Sub(x.submitted) + x.result.Queued)
		statistics["EngineExecutionTimeInMillis"] = milliseconds(x.completed.Sub(began) - x.result.Queued)
		statistics["TotalExecutionTimeInMillis"] = milliseconds(x.completed.Sub(x.submitted))
	}
	if x.reason != "" {
		status["StateChangeReason"] = x.reason
	}
	if f := x.failure; f != nil {
		status["AthenaError"] = map[string]any{"ErrorCategory": f.Category, "ErrorType": f.Type, "Retryable": f.Retryable, "ErrorMessage": f.Reason}
	}
	return map[string]any{"QueryExecution": map[string]any{
		"QueryExecutionId":      x.id,
		"Query":                 x.request.QueryString,
		"StatementType":         "DML",
		"WorkGroup":             orDefault(x.request.WorkGroup, "primary"),
		"QueryExecutionContext": x.request.QueryExecutionContext,
		"ResultConfiguration":   map[string]any{"OutputLocation": x.location()},
		"EngineVersion":         map[string]any{"SelectedEngineVersion": engineVersion, "EffectiveEngineVersion": engineVersion},
		"Status":                status,
		"Statistics":            statistics,
	}}, nil
}
