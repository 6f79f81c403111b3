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
	awsathena "github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/fakeaws/athenatest"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
)

// BenchmarkFunction measures a warm function from an event to its response, over Athena's protocol on loopback. Every
// request is a new query, which is started, stored, polled and read. ns/op includes the server's work. The figure that
// matters is go-ms/op, which excludes the time in which the server works and queries run.
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
			const filter = "timestamp between 2026-01-01 and 2026-01-01 05:59:59, bytes_sent>=0"
			event := fmt.Appendf(nil, `{"httpMethod":"GET","path":"/api/v4.0/data/%s",
				"multiValueHeaders":{"x-api-key":[%q],"Accept-Encoding":[%q]},
				"multiValueQueryStringParameters":{"filters":[%q]%s},
				"requestContext":{"requestId":"5f0c2d1e-0000-4000-8000-000000000001"}}`,
				route.function, exampleKey, encoding, filter, route.parameters)
			size := w.ask(b, event) // a cold request, after which the backend has the answer
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

// warm is a function that has answered before, and an Athena that has its answers.
type warm struct {
	function *function.Function
	server   *emulator.Server
	version  atomic.Int64 // of the data: equal requests over newer data are new queries
	extent   lake.Extent
	others   atomic.Int64 // nanoseconds that the server worked or the function waited
}

func newWarm(b *testing.B, name string) *warm {
	b.Helper()
	f, _ := lambdas.Named(name)
	e, err := environmentOf(f)
	if err != nil {
		b.Fatal(err)
	}
	rows := generated(b, 1_500)
	w := &warm{extent: stateOf(rows).Extent}
	results := &results{objects: map[string][]byte{}}
	backend := &cache{Reference: athenatest.NewReference(rows), answers: map[string]emulator.Result{}}
	if w.server, err = emulator.New(emulator.Config{
		Backend: backend, S3: results, Now: time.Now,
		Workgroups: map[string]emulator.Workgroup{e.Workgroup: {Output: e.Results}},
	}); err != nil {
		b.Fatal(err)
	}
	web := httptest.NewServer(w)
	b.Cleanup(web.Close)
	client := awsathena.New(awsathena.Options{
		BaseEndpoint: &web.URL, Region: "us-east-1", Credentials: staticCredentials, Retryer: aws.NopRetryer{},
	})
	athenaEngine, err := athena.New(athena.Config{
		Client: client, S3: results, States: w, Workgroup: e.Workgroup, Database: e.Database,
		Now: time.Now, Sleep: w.sleep,
	})
	if err != nil {
		b.Fatal(err)
	}
	service, err := search.New(plainAnnouncer{athenaEngine, backend.Reference}, search.Options{
		Store: pendingtest.NewMemory(), Now: time.Now,
	})
	if err != nil {
		b.Fatal(err)
	}
	parts := api.Config{Keys: keys.OneKey(exampleKey), Search: service, Queries: service}
	if w.function, err = newHTTP(f, e, slog.New(slog.NewJSONHandler(io.Discard, nil)), parts, nil); err != nil {
		b.Fatal(err)
	}
	return w
}

// plainAnnouncer is an engine that announces every query unchanged to its backend.
type plainAnnouncer struct {
	*athena.Engine
	backend *athenatest.Reference
}

func (a plainAnnouncer) Start(ctx context.Context, q query.Query) (engine.Execution, error) {
	a.backend.Register(q)
	return a.Engine.Start(ctx, q)
}

// cache is a backend that computes each answer once.
type cache struct {
	*athenatest.Reference
	mu      sync.Mutex
	answers map[string]emulator.Result
}

func (c *cache) Run(ctx context.Context, s emulator.Statement, scanned func(int64)) (emulator.Result, error) {
	_, sql, _ := strings.Cut(s.SQL, "\n") // without the line that names the version of the data
	c.mu.Lock()
	defer c.mu.Unlock()
	result, known := c.answers[sql]
	if known {
		return result, nil
	}
	result, err := c.Reference.Run(ctx, s, scanned)
	c.answers[sql] = result
	return result, err
}

// results is a bucket for the objects with Athena's results.
type results struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func (r *results) PutObject(
	_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options),
) (*s3.PutObjectOutput, error) {
	body, err := io.ReadAll(in.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.objects[*in.Key] = body
	return &s3.PutObjectOutput{}, err
}

func (r *results) HeadObject(
	_ context.Context, in *s3.HeadObjectInput, _ ...func(*s3.Options),
) (*s3.HeadObjectOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.objects[*in.Key]; !known {
		return nil, errors.New("the object does not exist")
	}
	return &s3.HeadObjectOutput{}, nil
}

func (r *results) GetObject(
	_ context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options),
) (*s3.GetObjectOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, known := r.objects[*in.Key]
	if !known {
		return nil, errors.New("the object does not exist")
	}
	return &s3.GetObjectOutput{Body: io.NopCloser(bytes.NewReader(body))}, nil
}

// State implements engine.States. The version of the data differs for every request.
func (w *warm) State(context.Context) (engine.State, error) {
	return engine.State{Extent: w.extent, Watermark: lake.PartitionOf(w.extent.MinTsMs), Version: w.version.Load()}, nil
}

// ServeHTTP forwards to the server and measures its work, which is not the function's.
func (w *warm) ServeHTTP(response http.ResponseWriter, r *http.Request) {
	began := time.Now()
	w.server.ServeHTTP(response, r)
	w.others.Add(int64(time.Since(began)))
}

// sleep waits until the last query has finished, and measures the time.
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

// ask sends an event and returns the length of the response in bytes.
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
	options := gen.Options{Records: n, Seed: 1, From: from, To: from.Add(6 * time.Hour)}
	lines, decoder := bufio.NewScanner(gen.New(options)), record.NewDecoder()
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
