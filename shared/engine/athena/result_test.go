package athena_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/rows"
	"github.com/orrery/orrery/shared/fakeaws/athenatest"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/query"
)

// bucket stores objects in memory.
type bucket struct {
	mu      sync.Mutex
	objects map[string][]byte
	reads   int
	bytes   int64 // of the objects that were read
	cut     bool  // the next read returns half of the object
}

func (b *bucket) PutObject(
	_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options),
) (*s3.PutObjectOutput, error) {
	body, err := io.ReadAll(in.Body)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.objects[*in.Bucket+"/"+*in.Key] = body
	return &s3.PutObjectOutput{}, err
}

func (b *bucket) HeadObject(
	_ context.Context, in *s3.HeadObjectInput, _ ...func(*s3.Options),
) (*s3.HeadObjectOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.objects[*in.Bucket+"/"+*in.Key]; !known {
		return nil, &types.NotFound{}
	}
	return &s3.HeadObjectOutput{}, nil
}

func (b *bucket) GetObject(
	_ context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options),
) (*s3.GetObjectOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads++
	body, known := b.objects[*in.Bucket+"/"+*in.Key]
	if !known {
		return nil, &types.NoSuchKey{}
	}
	if b.cut {
		b.cut, body = false, body[:len(body)/2]
	}
	return &s3.GetObjectOutput{Body: io.NopCloser(&countingReader{bytes.NewReader(body), &b.bytes})}, nil
}

// countingReader counts the bytes that are read.
type countingReader struct {
	io.Reader
	bytes *int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	*r.bytes += int64(n)
	return n, err
}

// pageCounter counts the pages that arrive. The server may get more requests: under load, the SDK closes the body of a
// request, and with it the connection, before net/http has read its end, and then requests the page again.
type pageCounter struct {
	athena.Client
	pages int
}

func (c *pageCounter) GetQueryResults(
	ctx context.Context, in *sdk.GetQueryResultsInput, options ...func(*sdk.Options),
) (*sdk.GetQueryResultsOutput, error) {
	out, err := c.Client.GetQueryResults(ctx, in, options...)
	if err == nil {
		c.pages++
	}
	return out, err
}

// TestLongResults checks that a long result is the same if it is read page by page, from its object, and from its
// object after a read that was cut off.
func TestLongResults(t *testing.T) {
	if testing.Short() {
		t.Skip("slow and without concurrency; -short is for the race detector")
	}
	// The period has three windows. The second one has more records than a page. The engine reads each result to count
	// its records, and the second one again for the answer.
	all := enginetest.Records(t, 2_400, 5)
	for name, test := range map[string]struct {
		object, cut  bool
		pages, reads int
	}{
		"page by page":                 {false, false, 6, 0},
		"from the object":              {true, false, 0, 4},
		"from an object after a retry": {true, true, 0, 5},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bucket{objects: map[string][]byte{}, cut: test.cut}
			backend := athenatest.NewReference(all)
			_, client := serve(t, emulator.Config{Backend: backend, S3: b}, nil)
			states := &staticStates{engine.State{Extent: extentOf(all), Version: 1}}
			counter := &pageCounter{Client: client}
			e := registeringEngine{newEngine(t, counter, states, func(c *athena.Config) {
				if test.object {
					c.S3 = b
				}
			}), backend, 0}
			q := bind(t, hours, query.Logs{Limit: 2500})
			answer, _, err := e.Run(t.Context(), q)
			(&fixture{rows: all}).checkAnswer(t, q, answer, err)
			if counter.pages != test.pages || b.reads != test.reads {
				t.Errorf("%d pages and %d objects read, want %d and %d",
					counter.pages, b.reads, test.pages, test.reads)
			}
		})
	}
}

// TestLargeRecordsAreReadUpToTheMaximum checks that the engine stops reading records when the memory is full, even if
// the result has few rows.
func TestLargeRecordsAreReadUpToTheMaximum(t *testing.T) {
	if testing.Short() {
		t.Skip("slow and without concurrency; -short is for the race detector")
	}
	const records, size = 150, 512 << 10
	all := enginetest.Records(t, records, 5)
	text := strings.Repeat("x", size)
	for i := range all {
		all[i].Query = &text
	}
	b := &bucket{objects: map[string][]byte{}}
	backend := athenatest.NewReference(all)
	_, client := serve(t, emulator.Config{Backend: backend, S3: b}, nil)
	counter := &pageCounter{Client: client}
	states := &staticStates{engine.State{Extent: extentOf(all), Version: 1}}
	e := registeringEngine{newEngine(t, counter, states, func(c *athena.Config) { c.S3 = b }), backend, 0}
	answer, _, err := e.Run(t.Context(), bind(t, hours, query.Logs{Limit: records}))
	if err != nil {
		t.Fatal(err)
	}
	var kept int64
	for _, row := range answer.Logs {
		kept += row.Memory()
	}
	if kept > rows.MaxLogsMemory || kept < rows.MaxLogsMemory/2 || !answer.Truncated {
		t.Errorf("%d records with %d bytes kept, truncated %t", len(answer.Logs), kept, answer.Truncated)
	}
	// There are three windows. The first has no record, and its result is read twice. Each of the others fits in
	// memory.
	if counter.pages > 0 || b.reads != 4 || b.bytes > rows.MaxLogsMemory*2 {
		t.Errorf("%d pages and %d bytes of %d objects read", counter.pages, b.bytes, b.reads)
	}
}

func TestNewReportsMissingSettings(t *testing.T) {
	_, err := athena.New(athena.Config{})
	for _, part := range []string{"Client", "States", "Now", "Workgroup", "Database"} {
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte("Config."+part)) {
			t.Errorf("error %v does not mention %s", err, part)
		}
	}
}
