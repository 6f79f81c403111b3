// Package emulator emulates Athena for tests and for machines without AWS: its JSON 1.1 protocol, states, pages, limits
// and failures. A Backend answers the SQL. The emulator also implements the two operations of Glue and of workgroups
// that deployments use.
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

// Objects has the methods of *s3.Client with which the server writes results and looks for them.
type Objects interface {
	HeadObject(context.Context, *s3.HeadObjectInput, ...func(*s3.Options)) (*s3.HeadObjectOutput, error)
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// Workgroup is the enforced configuration of a workgroup.
type Workgroup struct {
	Output      string // where results are written: s3://bucket/prefix/
	CutoffBytes int64  // the number of bytes that one query may scan; 0: no limit
}

// Config is the configuration of a Server.
type Config struct {
	Backend         Backend
	Workgroups      map[string]Workgroup
	S3              Objects      // nil: results are not written to objects
	Tables          []lake.Table // the tables that GetTable and GetTableMetadata return
	StartsPerSecond int          // further starts are throttled; 0: no limit
	Now             func() time.Time
	// Queue, if not nil, is called before a query runs. The query leaves the state QUEUED when Queue returns.
	Queue func(ctx context.Context) error
}

// Server is the emulator's HTTP endpoint. It may be used by several clients at once.
type Server struct {
	Config

	mu     sync.Mutex
	byID   map[string]*execution
	order  []*execution // in the order of their starts
	tokens map[string]*execution
	calls  map[string]int // by operation
	starts []time.Time    // within the last second
}

var _ http.Handler = (*Server)(nil)

// New returns a server. It returns an error if a required part of the configuration is missing.
func New(c Config) (*Server, error) {
	if c.Backend == nil || c.Now == nil || len(c.Workgroups) == 0 {
		return nil, errors.New("emulator: Config needs Backend, Workgroups and Now")
	}
	return &Server{
		Config: c,
		byID:   map[string]*execution{},
		tokens: map[string]*execution{},
		calls:  map[string]int{},
	}, nil
}

// Calls returns the number of requests for an operation, such as "StopQueryExecution".
func (s *Server) Calls(operation string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[operation]
}

// States returns the states of all executions, in the order of their starts.
func (s *Server) States() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	states := make([]string, len(s.order))
	for i, x := range s.order {
		states[i] = x.state
	}
	return states
}

// apiError is an error response of the API.
type apiError struct {
	kind    string // "InvalidRequestException"
	message string
	members map[string]any // further members of the response
}

func (e *apiError) Error() string { return e.kind + ": " + e.message }

func invalid(format string, args ...any) error {
	members := map[string]any{"AthenaErrorCode": "INVALID_INPUT"}
	return &apiError{"InvalidRequestException", fmt.Sprintf(format, args...), members}
}

func throttled() error {
	members := map[string]any{"Reason": "CONCURRENT_QUERY_LIMIT_EXCEEDED"}
	return &apiError{"TooManyRequestsException", "Rate exceeded", members}
}

// maxBody is the largest size of a request. It allows a statement of 262,144 bytes in which every byte is escaped.
const maxBody = 2 << 20

// ServeHTTP carries out the operation that the header X-Amz-Target names.
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
		status, out = errorResponse(err)
	}
	text, err := json.Marshal(out)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"__type":"InternalServerException"}`)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(status)
	_, _ = w.Write(text) // it fails only if the client is gone
}

func errorResponse(err error) (status int, body map[string]any) {
	var e *apiError
	if !errors.As(err, &e) {
		body = map[string]any{"__type": "InternalServerException", "Message": err.Error()}
		return http.StatusInternalServerError, body
	}
	body = map[string]any{"__type": e.kind, "Message": e.message}
	for name, value := range e.members {
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
		return nil, &apiError{"SerializationException", err.Error(), nil}
	}
	switch operation {
	case "StartQueryExecution":
		return s.start(in)
	case "GetQueryExecution":
		return s.get(in)
	case "GetQueryResults":
		return s.results(ctx, in)
	case "StopQueryExecution":
		return s.stop(in)
	case "GetWorkGroup":
		return s.workgroup(in)
	case "GetTable":
		return s.table(in)
	case "GetTableMetadata":
		return s.metadata(in)
	}
	message := fmt.Sprintf("%.80q is not an operation of this server", operation)
	return nil, &apiError{"UnknownOperationException", message, nil}
}

// request has the members of the requests of all operations, as far as the emulator supports them.
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

	QueryExecutionId string //nolint:revive // the protocol's spelling
	NextToken        string
	MaxResults       int

	DatabaseName, Name, TableName string // of GetTable and GetTableMetadata
}

func (s *Server) workgroup(in request) (any, error) {
	g, ok := s.Workgroups[in.WorkGroup]
	if !ok {
		return nil, invalid("WorkGroup %s is not found.", in.WorkGroup)
	}
	configuration := map[string]any{
		"EnforceWorkGroupConfiguration": true,
		"ResultConfiguration":           map[string]any{"OutputLocation": g.Output},
		"EngineVersion":                 engineVersions(),
	}
	if g.CutoffBytes > 0 {
		configuration["BytesScannedCutoffPerQuery"] = g.CutoffBytes
	}
	group := map[string]any{"Name": in.WorkGroup, "State": "ENABLED", "Configuration": configuration}
	return map[string]any{"WorkGroup": group}, nil
}

func engineVersions() map[string]any {
	const version = "Athena engine version 3"
	return map[string]any{"SelectedEngineVersion": version, "EffectiveEngineVersion": version}
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func milliseconds(d time.Duration) int64 { return d.Milliseconds() }

func orDefault(text, standard string) string { return cmp.Or(text, standard) }
