package hybrid

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/engine/scan/scanblob"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate/parts"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// Parts configures how questions are answered that are too large for one scan: other processes count parts of them at
// the same time.
type Parts struct {
	Crew    Crew
	Results Bucket // in which the crew puts what it has counted
	Prefix  string // of the names of these objects
	Version string // of the program

	Bytes   int64         // of the columns of a part, about; 0: DefaultPart
	Most    int           // parts of a question; 0: DefaultParts
	AtOnce  int           // parts that are counted at the same time; 0: all of a question
	Longest time.Duration // the time after which the service is asked; 0: 18 seconds
	GB      float64       // memory of a process of the crew
}

// Crew does jobs in other processes.
type Crew interface {
	Do(ctx context.Context, job parts.Job) (parts.Done, error)
}

// Bucket is a bucket whose objects can be read by ranges.
type Bucket interface {
	blob.Store
	blob.Ranges
}

// The defaults of Parts. A function reads a part of this size in about two seconds.
const (
	DefaultPart  = 128 << 20
	DefaultParts = 1000
)

// Prices in most regions, in US dollars.
const (
	USDPerGBSecond = 1.33334e-5 // of a function on arm64
	USDPerPut      = 5e-6
)

// joinedBytes is how many bytes of what others have counted are joined, at most.
const joinedBytes = 200 << 20

func (c *Parts) setDefaults() {
	if c.Bytes == 0 {
		c.Bytes = DefaultPart
	}
	if c.Most == 0 {
		c.Most = DefaultParts
	}
	if c.AtOnce == 0 {
		c.AtOnce = c.Most
	}
	if c.Longest == 0 {
		c.Longest = 18 * time.Second
	}
}

// share is a part of a plan with its job.
type share struct {
	scan.Part
	parts.Job
}

// divide divides the objects of a plan that must be read into parts, and reports whether it could.
func (e *Engine) divide(ctx context.Context, p *plan) (bool, error) {
	if e.Parts == nil || !scan.DividesInParts(p.query) {
		return false, nil
	}
	_, in, err := e.rollups.read(ctx, e.Rollups, e.Now())
	if err != nil || in == nil {
		return false, err
	}
	p.rolledUp.scan = in
	byName := map[string]blob.Info{}
	for _, info := range p.infos {
		byName[info.Name] = info
	}
	p.toCount = map[lake.Partition][]blob.Info{}
	for _, o := range p.read {
		p.toCount[o.Partition] = append(p.toCount[o.Partition], byName[o.Path])
	}
	periods := scan.SpansOf(p.query)
	for _, hour := range p.hours {
		infos := p.toCount[hour]
		if len(infos) == 0 {
			continue
		}
		spans, known := e.windows(p, periods, hour, infos)
		if !known {
			return false, nil
		}
		objects, err := parts.Listed(infos)
		if err != nil {
			return false, err
		}
		sent := make([]parts.Object, len(infos))
		for i, info := range infos {
			sent[i] = parts.Object{Name: info.Name, Size: info.Size, ETag: info.ETag}
		}
		for _, span := range spans {
			all, err := e.shares(p, span, objects, sent, in)
			if errors.Is(err, parts.ErrNoText) {
				return false, nil
			}
			if err != nil {
				return false, err
			}
			if p.shares = append(p.shares, all...); len(p.shares) > e.Parts.Most {
				return false, nil
			}
		}
	}
	p.mostBytes = max(p.mostBytes, joinedBytes)
	return len(p.shares) > 0, nil
}

// columnBytesOf returns about how many bytes the columns of the query have in the objects of an hour.
func (p *plan) columnBytesOf(hour lake.Partition, objects []blob.Info) (bytes int64) {
	of, known := p.counted[hour]
	if !known {
		for _, o := range objects {
			bytes += o.Size
		}
		return bytes
	}
	for _, name := range p.query.Columns() {
		bytes += of[name]
	}
	return bytes
}

// divisors are the numbers of windows into which an hour can be divided.
var divisors = []int64{1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60}

// windows divides an hour of some periods into the spans of parts. known is false if the segments of a timeline are longer
// than the hour.
func (e *Engine) windows(
	p *plan, periods []query.Period, hour lake.Partition, objects []blob.Info,
) (spans []query.Period, known bool) {
	const hourMs = 3_600_000
	least := (p.columnBytesOf(hour, objects) + e.Parts.Bytes - 1) / e.Parts.Bytes
	for _, n := range divisors {
		var divided []query.Period
		for i := range n {
			window := query.Period{FromMs: hour.Start() + i*hourMs/n, ToMs: hour.Start() + (i+1)*hourMs/n - 1}
			for _, span := range periods {
				of := query.Period{FromMs: max(window.FromMs, span.FromMs), ToMs: min(window.ToMs, span.ToMs)}
				if !of.Empty() {
					divided = append(divided, of)
				}
			}
		}
		if p.cutsSegments(divided) {
			continue
		}
		if spans, known = divided, true; n >= least {
			break
		}
	}
	return spans, known
}

// cutsSegments reports whether the begin of a window is within a segment of a timeline that another window has, too.
// The first window of the period has the begin of its segment.
func (p *plan) cutsSegments(windows []query.Period) bool {
	if _, timeline := p.query.Shape.(query.Timeline); !timeline {
		return false
	}
	span := p.query.Span()
	division := p.query.Segmentation(span)
	return slices.ContainsFunc(windows, func(w query.Period) bool {
		return w.FromMs != span.FromMs && division.Start(w.FromMs)*1000 != w.FromMs
	})
}

// shares returns the parts of the question about a window.
func (e *Engine) shares(
	p *plan, span query.Period, objects []lake.Object, sent []parts.Object, in *scan.Rollups,
) (all []share, _ error) {
	for _, part := range scan.PartsOf(p.query, span) {
		text, err := parts.Encode(part.Query)
		if err != nil {
			return nil, err
		}
		of := share{Part: part, Job: parts.Job{Version: e.Parts.Version, Query: text, Objects: sent}}
		of.Write = of.Name(e.Parts.Prefix, in.KeyID())
		of.Part.Objects, of.Path = objects, of.Write
		all = append(all, of)
	}
	return all, nil
}

// bill is what has been read and paid to count the parts of a question.
type bill struct {
	mu      sync.Mutex
	read    scanblob.Read
	usd     float64         // of the processes
	objects map[string]bool // of the parts that were counted, by name
}

func (b *bill) add(done parts.Done, gb float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read = b.read.Plus(scanblob.Read{Bytes: done.Bytes, Requests: done.Requests})
	b.usd += done.Seconds * gb * USDPerGBSecond
}

// do has the crew do a job.
func (e *Engine) do(ctx context.Context, job parts.Job, b *bill) (parts.Done, error) {
	done, err := e.Parts.Crew.Do(ctx, job)
	if err != nil {
		return done, err
	}
	b.add(done, e.Parts.GB)
	if done.Unsupported != "" {
		return done, fmt.Errorf("%w: %s", scan.ErrUnsupported, done.Unsupported)
	}
	return done, nil
}

// count has the parts of a plan counted that are not counted yet, and returns where all are.
func (e *Engine) count(ctx context.Context, p *plan, b *bill) ([]blob.Info, error) {
	counting, ctx := errgroup.WithContext(ctx)
	counting.SetLimit(e.Parts.AtOnce)
	infos := make([]blob.Info, len(p.shares))
	for i := range p.shares {
		counting.Go(func() (err error) {
			infos[i], err = e.countOne(ctx, &p.shares[i], b)
			return err
		})
	}
	return infos, counting.Wait()
}

func (e *Engine) countOne(ctx context.Context, of *share, b *bill) (blob.Info, error) {
	if ctx.Err() != nil {
		return blob.Info{}, ctx.Err()
	}
	info, err := e.Parts.Results.Head(ctx, of.Write)
	if !errors.Is(err, blob.ErrNotFound) {
		return info, err
	}
	done, err := e.do(ctx, of.Job, b)
	if err != nil {
		return info, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.usd += USDPerPut
	for _, o := range of.Job.Objects {
		b.objects[o.Name] = true
	}
	return blob.Info{Name: of.Write, Size: done.Size, ETag: done.ETag}, nil
}

// askingCrew is the scan.Crew of a plan.
type askingCrew struct {
	engine *Engine
	jobs   map[string]parts.Job // by the names of their objects
	bill   *bill
}

func (a askingCrew) Keys(
	ctx context.Context, of scan.Part, wanted map[string][]uint64,
) (map[string][]rollup.Key, error) {
	job := a.jobs[of.Path]
	job.Keys = wanted
	done, err := a.engine.do(ctx, job, a.bill)
	if err != nil {
		return nil, err
	}
	found := map[string][]rollup.Key{}
	for column, content := range done.Keys {
		known, err := rollup.DecodeKnown(content)
		if err != nil {
			return nil, err
		}
		for _, hash := range wanted[column] {
			key, has, err := known.Find(hash)
			if err != nil {
				return nil, err
			}
			if has {
				found[column] = append(found[column], key)
			}
		}
	}
	return found, nil
}

func (a askingCrew) Durations(
	ctx context.Context, of scan.Part, winners map[string][]string,
) (map[string][]byte, error) {
	job := a.jobs[of.Path]
	job.Winners = map[string][][]byte{}
	for column, keys := range winners {
		for _, key := range keys {
			job.Winners[column] = append(job.Winners[column], []byte(key))
		}
	}
	done, err := a.engine.do(ctx, job, a.bill)
	return done.Durations, err
}

func (a askingCrew) Texts(
	ctx context.Context, of scan.Part, dimension int, hashes []rollup.Hash,
) (map[rollup.Hash]string, error) {
	job := a.jobs[of.Path]
	job.Dimension, job.Texts = dimension, hashes
	done, err := a.engine.do(ctx, job, a.bill)
	if err != nil {
		return nil, err
	}
	found := map[rollup.Hash]string{}
	for _, text := range done.Texts {
		found[text.Hash] = string(text.Text)
	}
	return found, nil
}

// buckets reads ranges of the objects of the lake and of what the crew has counted.
type buckets struct {
	lake, results blob.Ranges
	prefix        string // of the names of the latter
}

func (b buckets) GetRange(ctx context.Context, name, etag string, offset, length int64) (io.ReadCloser, error) {
	if strings.HasPrefix(name, b.prefix) {
		return b.results.GetRange(ctx, name, etag, offset, length)
	}
	return b.lake.GetRange(ctx, name, etag, offset, length)
}
