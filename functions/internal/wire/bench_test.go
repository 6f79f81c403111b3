package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsathena "github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/athena/athenatest"
	"github.com/orrery/orrery/shared/engine/athena/emulator"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
)

// BenchmarkFunction takes the time of a warm function from an event to its response, over Athena's protocol on
// loopback. Every request is a new query: begun, remembered, polled until it is over, read. ns/op has the server's part
// in it; the figure to look at is go-ms/op, without the time that the server works and that queries run, which is the
// engine's.
func BenchmarkFunction(b *testing.B) {
	for _, route := range []struct {
		function, parameters string
		gzip                 bool
	}{
		{"topx", "", false}, {"stats", "", false}, {"timeline", "", false},
		{"logs", `,"limit":["1000"]`, false}, {"logs", `,"limit":["1000"]`, true},
	} {
		name, encoding := route.function, "identity"
		if route.gzip {
			name, encoding = name+", compressed", "gzip"
		}
		b.Run(name, func(b *testing.B) {
			w := newWarm(b, route.function)
			event := fmt.Appendf(nil, `{"httpMethod":"GET","path":"/api/v4.0/data/%s","multiValueHeaders":{"x-api-key":[%q],"Accept-Encoding":[%q]},
				"multiValueQueryStringParameters":{"filters":["timestamp between 2026-01-01 and 2026-01-01 05:59:59, bytes_sent>=0"]%s},
				"requestContext":{"requestId":"5f0c2d1e-0000-4000-8000-000000000001"}}`, route.function, exampleKey, encoding, route.parameters)
			size := w.ask(b, event) // the first is cold, and the server learns its answer
			w.others.Store(0)
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				w.ask(b, event)
			}
			own := b.Elapsed() - time.Duration(w.others.Load())
			b.ReportMetric(own.Seconds()*1000/float64(b.N), "go-ms/op")
			b.ReportMetric(float64(size), "answer-bytes")
		})
	}
}

// warm is a function that has answered before, and an Athena that knows its answers.
type warm struct {
	function *function.Function
	server   *emulator.Server
	version  atomic.Int64 // of the data: equal requests over newer data are new queries
	extent   lake.Extent
	others   atomic.Int64 // nanoseconds that were not the function's
}

func newWarm(b *testing.B, name string) *warm {
	b.Helper()
	f, _ := lambdas.Named(name)
	e, err := environmentOf(f)
	if err != nil {
		b.Fatal(err)
	}
	rows := generated(b, 1_500)
	w := &warm{extent: lake.Extent{MinTsMs: rows[0].TsMs, MaxTsMs: rows[len(rows)-1].TsMs, Rows: int64(len(rows))}}
	results := &results{objects: map[string][]byte{}}
	backend := &learned{Reference: athenatest.NewReference(rows), known: map[string]emulator.Result{}}
	if w.server, err = emulator.New(emulator.Config{
		Backend: backend, S3: results, Now: time.Now, Workgroups: map[string]emulator.Workgroup{e.Workgroup: {Output: e.Results}},
	}); err != nil {
		b.Fatal(err)
	}
	web := httptest.NewServer(w)
	b.Cleanup(web.Close)
	client := awsathena.New(awsathena.Options{BaseEndpoint: &web.URL, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""), Retryer: aws.NopRetryer{}})
	asked, err := athena.New(athena.Config{Client: client, S3: results, States: w, Workgroup: e.Workgroup, Database: e.Database, Now: time.Now, Sleep: w.sleep})
	if err != nil {
		b.Fatal(err)
	}
	service, err := search.New(knowing{asked, backend.Reference}, search.Options{Store: pendingtest.NewMemory(), Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	parts := api.Config{Keys: keys.OneKey(exampleKey), Search: service, Queries: service}
	if w.function, err = newHTTP(f, e, slog.New(slog.NewJSONHandler(io.Discard, nil)), parts, nil); err != nil {
		b.Fatal(err)
	}
	return w
}

// knowing is an engine whose backend is told of every query.
type knowing struct {
	*athena.Engine
	backend *athenatest.Reference
}

func (k knowing) Start(ctx context.Context, q query.Query) (engine.Execution, error) {
	k.backend.Register(q)
	return k.Engine.Start(ctx, q)
}

// learned is a backend that works out an answer once.
type learned struct {
	*athenatest.Reference
	mu    sync.Mutex
	known map[string]emulator.Result
}

func (l *learned) Run(ctx context.Context, s emulator.Statement, scanned func(int64)) (emulator.Result, error) {
	_, sql, _ := strings.Cut(s.SQL, "\n") // without the line that names the version of the data
	l.mu.Lock()
	defer l.mu.Unlock()
	result, known := l.known[sql]
	if known {
		return result, nil
	}
	result, err := l.Reference.Run(ctx, s, scanned)
	l.known[sql] = result
	return result, err
}

// results are the objects that answers lie in.
type results struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func (r *results) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	body, err := io.ReadAll(in.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.objects[*in.Key] = body
	return &s3.PutObjectOutput{}, err
}

func (r *results) GetObject(_ context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, known := r.objects[*in.Key]
	if !known {
		return nil, errors.New("there is no such object")
	}
	return &s3.GetObjectOutput{Body: io.NopCloser(bytes.NewReader(body))}, nil
}

// State implements engine.States: the data has changed since the last request.
func (w *warm) State(context.Context) (engine.State, error) {
	return engine.State{Extent: w.extent, Watermark: lake.PartitionOf(w.extent.MinTsMs), Version: w.version.Load()}, nil
}

// ServeHTTP is the server, whose work is not the function's.
func (w *warm) ServeHTTP(response http.ResponseWriter, r *http.Request) {
	began := time.Now()
	w.server.ServeHTTP(response, r)
	w.others.Add(int64(time.Since(began)))
}

// sleep waits until no query runs, as a function does.
func (w *warm) sleep(ctx context.Context, _ time.Duration) error {
	began := time.Now()
	defer func() { w.others.Add(int64(time.Since(began))) }()
	for {
		states := w.server.States()
		if last := states[len(states)-1]; last != "QUEUED" && last != "RUNNING" {
			return ctx.Err()
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// ask sends an event, and returns how long the answer's body is.
func (w *warm) ask(b *testing.B, event []byte) int {
	b.Helper()
	w.version.Add(1)
	response, err := w.function.Invoke(b.Context(), event)
	if err != nil || !bytes.HasPrefix(response, []byte(`{"statusCode":200`)) {
		b.Fatalf("%.300s %v", response, err)
	}
	return len(response)
}

func generated(b *testing.B, n int) []lake.Row {
	b.Helper()
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	lines, decoder := bufio.NewScanner(gen.New(gen.Options{Records: n, Seed: 1, From: from, To: from.Add(6 * time.Hour)})), record.NewDecoder()
	rows := make([]lake.Row, 0, n)
	for lines.Scan() {
		row := lake.Row{Source: "bench", Line: int64(len(rows) + 1)}
		if _, err := decoder.Decode(bytes.Clone(lines.Bytes()), &row); err != nil {
			b.Fatal(err)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		b.Fatal(err)
	}
	return rows
}
