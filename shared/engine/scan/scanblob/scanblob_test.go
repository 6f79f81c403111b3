package scanblob_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/engine/scan/scanblob"
	"github.com/orrery/orrery/shared/lake/parquet"
)

// bucket has one object, and keeps the ranges that are requested.
type bucket struct {
	content []byte
	before  func(ctx context.Context, n int) error // of the n-th request, counted from 0; nil: nothing

	mu        sync.Mutex
	requested []parquet.Part
	inFlight  int
	most      int // in flight at the same time
}

func (b *bucket) GetRange(ctx context.Context, _, _ string, offset, length int64) (io.ReadCloser, error) {
	b.mu.Lock()
	n := len(b.requested)
	b.requested = append(b.requested, parquet.Part{Offset: offset, Length: length})
	b.inFlight++
	b.most = max(b.most, b.inFlight)
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.inFlight--
	}()
	if b.before != nil {
		if err := b.before(ctx, n); err != nil {
			return nil, err
		}
	}
	return io.NopCloser(bytes.NewReader(b.content[offset : offset+length])), nil
}

// open returns the object of a bucket in a source with a limit.
func (b *bucket) open(t *testing.T, ctx context.Context, most int64, patience time.Duration) (*scanblob.Source, scan.Input) {
	t.Helper()
	for i := range b.content {
		b.content[i] = byte(i * 7 >> 3)
	}
	infos := []blob.Info{{Name: "object", Size: int64(len(b.content)), ETag: "etag"}}
	source := scanblob.New(ctx, b, infos, most, patience)
	t.Cleanup(source.Close)
	in, err := source.Open("object")
	if err != nil {
		t.Fatal(err)
	}
	return source, in
}

func (b *bucket) check(t *testing.T, in scan.Input, offset, length int64) {
	t.Helper()
	got := make([]byte, length)
	if n, err := in.ReadAt(got, offset); err != nil || !bytes.Equal(got[:n], b.content[offset:offset+length]) {
		t.Errorf("%d bytes at %d: %d, %v", length, offset, n, err)
	}
}

// unlimited is the patience of tests in which no request is slow.
const unlimited = time.Hour

// parts returns parts from their offsets and lengths, in turn.
func parts(numbers ...int64) (all []parquet.Part) {
	for i := 0; i < len(numbers); i += 2 {
		all = append(all, parquet.Part{Offset: numbers[i], Length: numbers[i+1]})
	}
	return all
}

func TestRanges(t *testing.T) {
	const gap, most = scanblob.GapBytes, scanblob.RangeBytes
	for name, c := range map[string]struct {
		parts, want []parquet.Part
	}{
		"adjacent":          {parts(100, 10, 110, 10), parts(100, 20)},
		"a small gap":       {parts(0, 10, 10+gap, 10), parts(0, 20+gap)},
		"a large gap":       {parts(0, 10, 11+gap, 10), parts(0, 10, 11+gap, 10)},
		"in any order":      {parts(50, 10, 0, 50), parts(0, 60)},
		"one in the other":  {parts(0, 50, 10, 10), parts(0, 50)},
		"longer than a GET": {parts(5, most+1), parts(5, most, 5+most, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bucket{content: make([]byte, 2*most)}
			source, in := b.open(t, t.Context(), 4*most, unlimited)
			for range 2 { // the second time, everything is in memory
				if err := in.Expect(c.parts); err != nil {
					t.Fatal(err)
				}
			}
			for _, p := range c.parts {
				b.check(t, in, p.Offset, p.Length)
			}
			slices.SortFunc(b.requested, func(a, b parquet.Part) int { return int(a.Offset - b.Offset) })
			if !slices.Equal(b.requested, c.want) {
				t.Errorf("requests %v, want %v", b.requested, c.want)
			}
			var bytes int64
			for _, p := range c.want {
				bytes += p.Length
			}
			if got := source.Read(); got != (scanblob.Read{Bytes: bytes, Requests: len(c.want)}) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestUnexpectedRead reads across a part that was announced, to the end of the object.
func TestUnexpectedRead(t *testing.T) {
	b := &bucket{content: make([]byte, 1000)}
	_, in := b.open(t, t.Context(), 1<<20, unlimited)
	if err := in.Expect([]parquet.Part{{Offset: 100, Length: 50}}); err != nil {
		t.Fatal(err)
	}
	b.check(t, in, 90, 100)
	got, err := io.ReadAll(io.NewSectionReader(in, 980, 100))
	if err != nil || !bytes.Equal(got, b.content[980:]) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestMemoryIsLimited(t *testing.T) {
	b := &bucket{content: make([]byte, 1000)}
	_, in := b.open(t, t.Context(), 500, unlimited)
	if err := in.Expect([]parquet.Part{{Offset: 0, Length: 501}}); !errors.Is(err, scan.ErrUnsupported) {
		t.Error(err)
	}
	if len(b.requested) > 0 {
		t.Errorf("requests %v", b.requested)
	}
	b.check(t, in, 0, 500)
	if _, err := in.ReadAt(make([]byte, 1), 600); !errors.Is(err, scan.ErrUnsupported) {
		t.Error(err)
	}
}

// TestRelease: what is released makes room, and can be read again.
func TestRelease(t *testing.T) {
	b := &bucket{content: make([]byte, 1000)}
	source, in := b.open(t, t.Context(), 500, unlimited)
	for n := range 3 {
		b.check(t, in, 0, 400)
		if source.Release("object"); len(b.requested) != n+1 {
			t.Errorf("%d requests, want %d", len(b.requested), n+1)
		}
	}
	source.Release("another object")
}

func TestConnectionsAreLimited(t *testing.T) {
	const n = 3 * scanblob.Connections
	full := make(chan struct{})
	b := &bucket{content: make([]byte, n*2*scanblob.GapBytes)}
	b.before = func(_ context.Context, n int) error {
		if n == scanblob.Connections-1 {
			close(full)
		}
		<-full
		return nil
	}
	_, in := b.open(t, t.Context(), 1<<30, unlimited)
	var parts []parquet.Part
	for i := range int64(n) {
		parts = append(parts, parquet.Part{Offset: i * 2 * scanblob.GapBytes, Length: 10})
	}
	if err := in.Expect(parts); err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		b.check(t, in, p.Offset, p.Length)
	}
	if b.most != scanblob.Connections {
		t.Errorf("%d connections", b.most)
	}
}

// TestSlowFirstByte: a request without a response is sent again.
func TestSlowFirstByte(t *testing.T) {
	b := &bucket{content: make([]byte, 1000)}
	b.before = func(ctx context.Context, n int) error {
		if n == 0 {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
	source, in := b.open(t, t.Context(), 1<<20, time.Millisecond)
	b.check(t, in, 100, 50)
	if got := source.Read(); got.Requests != 2 {
		t.Errorf("%+v", got)
	}
}

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		requests int
	}{
		"replaced": {blob.ErrChanged, 1},
		"deleted":  {blob.ErrNotFound, 1},
		"broken":   {io.ErrUnexpectedEOF, 3},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bucket{content: make([]byte, 1000), before: func(context.Context, int) error { return c.err }}
			source, in := b.open(t, t.Context(), 1<<20, unlimited)
			if _, err := in.ReadAt(make([]byte, 10), 0); !errors.Is(err, c.err) {
				t.Error(err)
			}
			if got := source.Read(); got.Requests != c.requests || got.Bytes != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestEndOfContext: requests end with the context of the scan, and so does Close.
func TestEndOfContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan struct{}, 1)
	b := &bucket{content: make([]byte, 1000), before: func(ctx context.Context, _ int) error {
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}}
	source, in := b.open(t, ctx, 1<<20, unlimited)
	if err := in.Expect([]parquet.Part{{Offset: 0, Length: 10}}); err != nil {
		t.Fatal(err)
	}
	<-begun
	cancel()
	if _, err := in.ReadAt(make([]byte, 10), 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	source.Close()
}

func TestUnknownObject(t *testing.T) {
	source := scanblob.New(t.Context(), &bucket{}, nil, 1, unlimited)
	defer source.Close()
	if _, err := source.Open("other"); err == nil || !strings.Contains(err.Error(), "exist") {
		t.Error(err)
	}
}
