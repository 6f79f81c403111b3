// Package scanblob reads the objects of a scan from object storage. It reads only the ranges that the scan announces,
// many at the same time, and keeps them in memory until the scan has ended.
package scanblob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake/parquet"
)

const (
	// Connections is the number of ranges that are read at the same time. A connection to S3 transfers some tens of
	// megabytes per second.
	Connections = 32
	// GapBytes is the longest gap between two parts that is read with them, because a further request would take longer.
	GapBytes = 64 << 10
	// RangeBytes is the length of the longest range. Longer parts are read by several requests at the same time.
	RangeBytes = 2 << 20
	// attempts is how often a range is requested before the scan fails. The client repeats requests that are refused.
	attempts = 3
)

// Patience is the usual time after which the rest of a range is requested again.
const Patience = 3 * time.Second

// Source has the objects of one scan. It is safe for concurrent use.
type Source struct {
	ctx      context.Context //nolint:containedctx // of the scan
	stop     context.CancelFunc
	bucket   blob.Ranges
	most     int64
	patience time.Duration

	objects map[string]*object
	slots   chan struct{}
	readers sync.WaitGroup

	mu     sync.Mutex
	memory int64 // bytes of the parts of all objects
	read   Read
}

var _ scan.Source = (*Source)(nil)

// Read is what a Source has read.
type Read struct {
	Bytes    int64
	Requests int
}

// Plus returns what two sources have read.
func (r Read) Plus(other Read) Read {
	return Read{Bytes: r.Bytes + other.Bytes, Requests: r.Requests + other.Requests}
}

// New returns a source of objects. It keeps at most so many bytes in memory; a scan that needs more is not supported.
// If a request takes longer than patience, it is sent again. The caller must call Close.
func New(ctx context.Context, bucket blob.Ranges, objects []blob.Info, most int64, patience time.Duration) *Source {
	ctx, stop := context.WithCancel(ctx)
	s := &Source{
		ctx: ctx, stop: stop, bucket: bucket, most: most, patience: patience,
		objects: make(map[string]*object, len(objects)), slots: make(chan struct{}, Connections),
	}
	for _, info := range objects {
		s.objects[info.Name] = &object{source: s, info: info}
	}
	return s
}

// Close stops reading. It returns when no request is left.
func (s *Source) Close() {
	s.stop()
	s.readers.Wait()
}

// Read returns what has been read so far.
func (s *Source) Read() Read {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read
}

// Open returns an object.
func (s *Source) Open(name string) (scan.Input, error) {
	o, ok := s.objects[name]
	if !ok {
		return nil, blob.ErrNotFound
	}
	return o, nil
}

// Release frees the memory of what has been read of an object.
func (s *Source) Release(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[name]
	if !ok {
		return
	}
	for _, p := range o.parts {
		s.memory -= int64(len(p.content))
	}
	o.parts = nil
}

// object is an object of the bucket, of which some parts are in memory.
type object struct {
	source *Source
	info   blob.Info
	parts  []*part // guarded by the lock of the source
}

// part is a range of an object.
type part struct {
	offset  int64
	content []byte
	done    chan struct{} // closed when the content is complete, or err is set
	err     error
}

func (p *part) end() int64 { return p.offset + int64(len(p.content)) }

// Size returns the size of the object.
func (o *object) Size() int64 { return o.info.Size }

// ETag identifies the content of the object.
func (o *object) ETag() string { return o.info.ETag }

// Expect begins to read parts that are not in memory.
func (o *object) Expect(parts []parquet.Part) error {
	s := o.source
	s.mu.Lock()
	defer s.mu.Unlock()
	parts = slices.DeleteFunc(slices.Clone(parts), o.has)
	for _, r := range ranges(parts) {
		if s.memory+r.Length > s.most {
			return fmt.Errorf("%w: the objects have more than %d MB to read", scan.ErrUnsupported, s.most>>20)
		}
		s.memory += r.Length
		p := &part{offset: r.Offset, content: make([]byte, r.Length), done: make(chan struct{})}
		o.parts = append(o.parts, p)
		s.readers.Go(func() {
			defer close(p.done)
			p.err = s.fetch(o.info, p)
		})
	}
	return nil
}

// has reports whether a part of the object is in memory, or is being read. The caller holds the lock of the source.
func (o *object) has(want parquet.Part) bool {
	for at := want.Offset; at < want.Offset+want.Length; {
		p := o.find(at)
		if p == nil {
			return false
		}
		at = p.end()
	}
	return true
}

// ranges returns the ranges to request for parts.
func ranges(parts []parquet.Part) (all []parquet.Part) {
	slices.SortFunc(parts, func(a, b parquet.Part) int { return cmp.Compare(a.Offset, b.Offset) })
	for len(parts) > 0 {
		first, end := parts[0].Offset, parts[0].Offset
		for len(parts) > 0 && parts[0].Offset <= end+GapBytes {
			end = max(end, parts[0].Offset+parts[0].Length)
			parts = parts[1:]
		}
		for ; first < end; first += RangeBytes {
			all = append(all, parquet.Part{Offset: first, Length: min(RangeBytes, end-first)})
		}
	}
	return all
}

// fetch reads the content of a part. After a failure it continues where the response ended.
func (s *Source) fetch(of blob.Info, p *part) error {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
	got := 0
	for attempt := 1; ; attempt++ {
		n, err := s.request(of, p.offset+int64(got), p.content[got:])
		got += n
		switch {
		case err == nil:
			return nil
		case s.ctx.Err() != nil:
			return s.ctx.Err()
		case attempt == attempts, errors.Is(err, blob.ErrChanged), errors.Is(err, blob.ErrNotFound):
			return err
		}
	}
}

// request reads a range with one request, and returns how many bytes have come.
func (s *Source) request(of blob.Info, offset int64, into []byte) (n int, err error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.patience)
	defer cancel()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.read.Requests++
		s.read.Bytes += int64(n)
	}()
	body, err := s.bucket.GetRange(ctx, of.Name, of.ETag, offset, int64(len(into)))
	if err != nil {
		return 0, err
	}
	n, err = io.ReadFull(body, into)
	return n, errors.Join(err, body.Close())
}

// ReadAt reads from the parts in memory. It waits for those that are being read, and requests others.
func (o *object) ReadAt(into []byte, offset int64) (n int, err error) {
	for n < len(into) {
		at := offset + int64(n)
		if at >= o.info.Size {
			return n, io.EOF
		}
		o.source.mu.Lock()
		p := o.find(at)
		o.source.mu.Unlock()
		if p == nil {
			length := min(int64(len(into)-n), o.info.Size-at)
			if err := o.Expect([]parquet.Part{{Offset: at, Length: length}}); err != nil {
				return n, err
			}
			continue
		}
		<-p.done
		if p.err != nil {
			return n, p.err
		}
		n += copy(into[n:], p.content[at-p.offset:])
	}
	return n, nil
}

// find returns the part that has the byte at an offset, or nil. The caller holds the lock of the source.
func (o *object) find(at int64) *part {
	i := slices.IndexFunc(o.parts, func(p *part) bool { return p.offset <= at && at < p.end() })
	if i < 0 {
		return nil
	}
	return o.parts[i]
}
