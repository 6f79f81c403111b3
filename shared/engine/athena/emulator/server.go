// Package emulator is Athena for tests and for machines without AWS: its JSON 1.1 protocol, states, pages, limits
// and failures, in front of a Backend that answers the SQL. It also answers the two questions that deployments ask of
// Glue and of workgroups.
package emulator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/shared/lake"
)

// Objects is what is used of *s3.Client: where results are written.
type Objects interface {
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// Workgroup is what is enforced on the queries of one.
type Workgroup struct {
	Output      string // s3://bucket/prefix/, where results are written
	CutoffBytes int64  // what one query may scan; 0: no limit
}

// Config is what the server is made of.
type Config struct {
	Backend         Backend
	Workgroups      map[string]Workgroup
	S3              Objects      // nil: results can only be had page by page
	Tables          []lake.Table // told when Glue is asked
	StartsPerSecond int          // more are throttled; 0: no limit
	Now             func() time.Time
	// Queue, when set, is where queries wait before they run: they leave the state QUEUED when it returns.
	Queue func(ctx context.Context) error
}

// Server is the endpoint. It may be asked by several clients at once.
type Server struct {
	Config

	mu     sync.Mutex
	byID   map[string]*execution
	order  []*execution // as begun
	tokens map[string]*execution
	calls  map[string]int // by operation
	starts []time.Time    // of the last second
}

var _ http.Handler = (*Server)(nil)

// New makes the server.
func New(c Config) (*Server, error) {
	if c.Backend == nil || c.Now == nil || len(c.Workgroups) == 0 {
		return nil, errors.New("athenatest: Config needs Backend, Workgroups and Now")
	}
	return &Server{Config: c, byID: map[string]*execution{}, tokens: map[string]*execution{}, calls: map[string]int{}}, nil
}

// Calls is how often an operation was asked for, "StopQueryExecution".
func (s *Server) Calls(operation string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[operation]
}

// States are the states of all executions, in the order begun.
func (s *Server) States() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	states := make([]string, len(s.order))
	for i, x := range s.order {
		states[i] = x.state
	}
	return states
}

// refusal is an error of the API itself.
type refusal struct {
	kind    string // "InvalidRequestException"
	message string
	more    map[string]any
}

func (r *refusal) Error() string { return r.kind + ": " + r.message }

func invalid(format string, args ...any) error {
	return &refusal{"InvalidRequestException", fmt.Sprintf(format, args...), map[string]any{"AthenaErrorCode": "INVALID_INPUT"}}
}

func throttled() error {
	return &refusal{"TooManyRequestsException", "Rate exceeded", map[string]any{"Reason": "CONCURRENT_QUERY_LIMIT_EXCEEDED"}}
}

// maxBody is how long a request may be: a statement of 262,144 bytes, every one of them escaped.
const maxBody = 2 << 20

// ServeHTTP answers one operation, named by the header X-Amz-Target.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var out any
	if err == nil {
		s.count(operation)
		out, err = s.answer(r.Context(), operation, body)
	}
	status := http.StatusOK
	if err != nil {
		status, out = failed(err)
	}
	text, err := json.Marshal(out)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"__type":"InternalServerException"}`)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(status)
	_, _ = w.Write(text) // who has gone away learns nothing from an error
}

func failed(err error) (int, any) {
	var r *refusal
	if !errors.As(err, &r) {
		return http.StatusInternalServerError, map[string]any{"__type": "InternalServerException", "Message": err.Error()}
	}
	body := map[string]any{"__type": r.kind, "Message": r.message}
	for name, value := range r.more {
		body[name] = value
	}
	return http.StatusBadRequest, body
}

func (s *Server) count(operation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[operation]++
}

func (s *Server) answer(ctx context.Context, operation string, body []byte) (any, error) {
	var in request
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, &refusal{"SerializationException", err.Error(), nil}
	}
	switch operation {
	case "StartQueryExecution":
		return s.start(in)
	case "GetQueryExecution":
		return s.get(in)
	case "GetQueryResults":
		return s.results(in)
	case "StopQueryExecution":
		return s.stop(in)
	case "GetWorkGroup":
		return s.workgroup(in)
	case "GetTable":
		return s.table(in)
	case "GetTableMetadata":
		return s.metadata(in)
	}
	return nil, &refusal{"UnknownOperationException", fmt.Sprintf("%.80q is not an operation of this server", operation), nil}
}

// request is the members of all operations' requests that mean something here.
type request struct {
	QueryString           string
	ClientRequestToken    string
	ExecutionParameters   []string
	WorkGroup             string
	QueryExecutionContext struct{ Catalog, Database string }
	ResultConfiguration   struct{ OutputLocation string }

	ResultReuseConfiguration struct {
		ResultReuseByAgeConfiguration struct {
			Enabled         bool
			MaxAgeInMinutes int
		}
	}

	QueryExecutionId string //nolint:revive // as the protocol spells it
	NextToken        string
	MaxResults       int

	DatabaseName, Name, TableName string // of Glue, and of Athena about Glue
}

func (s *Server) workgroup(in request) (any, error) {
	g, ok := s.Workgroups[in.WorkGroup]
	if !ok {
		return nil, invalid("WorkGroup %s is not found.", in.WorkGroup)
	}
	configuration := map[string]any{
		"EnforceWorkGroupConfiguration": true,
		"ResultConfiguration":           map[string]any{"OutputLocation": g.Output},
		"EngineVersion":                 map[string]any{"SelectedEngineVersion": engineVersion, "EffectiveEngineVersion": engineVersion},
	}
	if g.CutoffBytes > 0 {
		configuration["BytesScannedCutoffPerQuery"] = g.CutoffBytes
	}
	return map[string]any{"WorkGroup": map[string]any{"Name": in.WorkGroup, "State": "ENABLED", "Configuration": configuration}}, nil
}

const engineVersion = "Athena engine version 3"

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func milliseconds(d time.Duration) int64 { return d.Milliseconds() }

func orDefault(text, standard string) string { return cmp.Or(text, standard) }
