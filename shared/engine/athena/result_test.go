package athena_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/athena/athenatest"
	"github.com/orrery/orrery/shared/engine/athena/emulator"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/query"
)

// bucket is objects in memory.
type bucket struct {
	mu      sync.Mutex
	objects map[string][]byte
	read    int
	cut     bool // the next object read ends in the middle
}

func (b *bucket) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	body, err := io.ReadAll(in.Body)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.objects[*in.Bucket+"/"+*in.Key] = body
	return &s3.PutObjectOutput{}, err
}

func (b *bucket) GetObject(_ context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read++
	body, known := b.objects[*in.Bucket+"/"+*in.Key]
	if !known {
		return nil, fmt.Errorf("there is no object %s", *in.Key)
	}
	if b.cut {
		b.cut, body = false, body[:len(body)/2]
	}
	return &s3.GetObjectOutput{Body: io.NopCloser(bytes.NewReader(body))}, nil
}

// pages counts the pages that arrived. Those that a server was asked for may be more: under load, the SDK closes a
// request's body before net/http has seen its end, and the connection with it, so that the page is asked for again.
type pages struct {
	athena.Client
	arrived int
}

func (p *pages) GetQueryResults(ctx context.Context, in *sdk.GetQueryResultsInput, options ...func(*sdk.Options)) (*sdk.GetQueryResultsOutput, error) {
	out, err := p.Client.GetQueryResults(ctx, in, options...)
	if err == nil {
		p.arrived++
	}
	return out, err
}

// TestLongResults are the same page by page and from their object, whose reading may break off.
func TestLongResults(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	rows := enginetest.Records(t, 1_100, 5)
	for name, test := range map[string]struct {
		object, cut  bool
		pages, reads int
	}{
		"page by page":               {false, false, 2, 0},
		"from the object":            {true, false, 0, 1},
		"from an object that breaks": {true, true, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bucket{objects: map[string][]byte{}, cut: test.cut}
			backend := athenatest.NewReference(rows)
			_, client := serve(t, emulator.Config{Backend: backend, S3: b}, nil)
			states := &fixed{engine.State{Extent: extentOf(rows), Version: 1}}
			counted := &pages{Client: client}
			e := told{newEngine(t, counted, states, func(c *athena.Config) {
				if test.object {
					c.S3 = b
				}
			}), backend, 0}
			q := bind(t, hours, query.Logs{Limit: 2500})
			answer, _, err := e.Run(t.Context(), q)
			(&stage{rows: rows}).right(t, q, answer, err)
			if counted.arrived != test.pages || b.read != test.reads {
				t.Errorf("%d pages and %d objects read, want %d and %d", counted.arrived, b.read, test.pages, test.reads)
			}
		})
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	_, err := athena.New(athena.Config{})
	for _, part := range []string{"Client", "States", "Now", "Workgroup", "Database"} {
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte("Config."+part)) {
			t.Errorf("%v does not name %s", err, part)
		}
	}
}
