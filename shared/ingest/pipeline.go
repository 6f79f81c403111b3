package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/logformat"
	"github.com/orrery/orrery/shared/record"
)

// pipeline turns the lines of an input into staged objects:
//
//	lineReader ─batch→ workers decode ─decodedBatch→ collector ─job→ workers write, verify ─completion→ collector
//
// The collector puts batches back into order, so that the same input results in the same objects. A worker prefers
// writing to decoding, so that memory is freed before more is used. That is why jobs has a buffer: a worker that checks
// the channel must find a waiting job, or rows would accumulate in the queue.
type pipeline struct {
	in      *input
	format  logformat.Format
	entry   Entry
	staging string
	options Options
	keep    func(*lake.Row) bool // rows for which it returns false are counted and dropped; nil to keep all

	lines   *lineReader
	feed    func(context.Context, chan<- batch) (batches int, err error) // of lines; nil for those of in
	batches chan batch
	jobs    chan job
	results chan result
	read    chan int // receives the number of batches when the input has ended

	buffer   *buffer
	held     map[int]*decodedBatch // batches that were decoded before their turn
	next     int                   // number of the batch whose turn it is
	queue    []job
	running  int
	parts    int      // object and run names used so far
	spilled  bool     // some rows are in runs
	runs     []string // files of the runs written so far
	objects  []lake.Object
	dropped  int64 // records that keep has dropped
	bad      quarantine
	report   Report
	has      essentialSet // what some record has
	openLost bool

	overlap      overlap
	fingerprints fingerprints

	judged bool // doubt has judged the first lines

	of     string      // what determines the objects, besides the text; see determined
	saving *checkpoint // has files that are not complete yet, or nil
}

// job is the task of writing rows to an object of one hour, or to a sorted run of many hours.
type job struct {
	rows []heldRow
	name string // name of the object, or file of the run
	part int    // number of the job in the source
	run  bool
}

// result is the result of a worker: a decoded batch or a completed job. Exactly one is set.
type result struct {
	decoded *decodedBatch
	job     *completion
}

// completion is a completed job. object is set unless it is a run.
type completion struct {
	job    job
	object lake.Object
}

func newPipeline(in *input, at position, e Entry, format logformat.Format, staging string, options Options) *pipeline {
	if options.Memory == 0 {
		options.Memory = DefaultMemory
	}
	if options.Workers == 0 {
		options.Workers = DefaultWorkers
	}
	p := &pipeline{
		in:           in,
		format:       format,
		entry:        e,
		staging:      staging,
		options:      options,
		lines:        newLineReader(in, at, options),
		batches:      make(chan batch),
		jobs:         make(chan job, options.Workers),
		results:      make(chan result),
		read:         make(chan int, 1),
		buffer:       newBuffer(),
		held:         map[int]*decodedBatch{},
		parts:        e.Parts,
		bad:          quarantine{path: filepath.Join(staging, QuarantineFile), left: QuarantineBytes},
		report:       Report{Rejected: map[record.Code]int64{}},
		overlap:      overlap{hours: map[lake.Partition]struct{}{}},
		fingerprints: fingerprints{known: options.LookUp, fresh: at.fresh, slots: map[FingerprintSlot][]Fingerprint{}},
	}
	if at.fresh {
		p.overlap.objects = options.Objects
	}
	return p
}

// run stages every object of the input.
func (p *pipeline) run(ctx context.Context) error {
	if p.options.Quarantined != nil {
		size, err := p.options.Quarantined(p.entry.Source, p.entry.Generation)
		if err != nil {
			return err
		}
		p.bad.left -= size
	}
	if p.options.QuarantineLimit > 0 {
		p.bad.left = min(p.bad.left, p.options.QuarantineLimit)
	}
	if p.bad.left -= p.bad.size; p.bad.unsaved > 0 {
		p.bad.left = 0
	}
	feed := p.feed
	if feed == nil {
		feed = func(ctx context.Context, out chan<- batch) (int, error) {
			err := p.lines.run(ctx, out)
			return p.lines.number, err
		}
	}
	group, working := errgroup.WithContext(ctx)
	group.Go(func() error {
		batches, err := feed(working, p.batches)
		p.read <- batches
		return err
	})
	for range p.options.Workers {
		group.Go(func() error { return p.work(working) })
	}
	group.Go(func() error {
		defer close(p.jobs)
		return p.collect(working)
	})
	if err := group.Wait(); err != nil {
		return errors.Join(err, p.bad.close())
	}
	if err := p.mergeRuns(ctx); err != nil {
		return err
	}
	if err := p.bad.close(); err != nil {
		return err
	}
	return p.check()
}

// check compares the number of decoded records with the rows of the verified objects, and completes the report.
func (p *pipeline) check() error {
	if err := errors.Join(p.doubt(true), p.lookFor(nil, true)); err != nil {
		return err
	}
	if p.options.Cautious && p.report.Records == 0 && p.report.Expired > 0 {
		return allExpired(p.report.Expired, p.options.KeptFrom)
	}
	p.fingerprints.lookFor(p.entry.Source, &p.report)
	p.report.Unsaved = p.bad.unsaved
	slices.SortFunc(p.objects, byName)
	if rows, kept := lake.Rows(p.objects), p.report.Records-p.dropped; rows != kept {
		return fmt.Errorf("%d records were read, but the objects hold %d", kept, rows)
	}
	p.report.Objects = len(p.objects)
	if p.report.Records > 0 {
		p.report.Absent = p.has.absent()
	}
	return nil
}

// work decodes batches and writes jobs until the channel of jobs is closed.
func (p *pipeline) work(ctx context.Context) error {
	c := converter{
		format:   p.format,
		source:   p.entry.Source,
		keep:     p.keep,
		defaults: p.options.Defaults,
		complete: p.options.Complete,
		times:    p.options.times(),
		decoder:  record.NewDecoder(),
	}
	batches := p.batches
	for {
		select {
		case j, ok := <-p.jobs:
			if !ok {
				return nil
			}
			if err := p.write(ctx, j); err != nil {
				return err
			}
			continue
		default:
		}
		select {
		case j, ok := <-p.jobs:
			if !ok {
				return nil
			}
			if err := p.write(ctx, j); err != nil {
				return err
			}
		case b, ok := <-batches:
			if !ok {
				batches = nil
				continue
			}
			d := newDecodedBatch()
			err := c.decode(b, d)
			b.release()
			if err != nil {
				return err
			}
			d.fit()
			if err := p.send(ctx, result{decoded: d}); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *pipeline) send(ctx context.Context, r result) error {
	select {
	case p.results <- r:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write writes one object or one run. A run is not verified: check counts its rows in the objects that it is merged
// into.
func (p *pipeline) write(ctx context.Context, j job) error {
	path := filepath.Join(p.staging, StagedName(j.name))
	w := &completion{job: j}
	var err error
	if j.run {
		_, err = writeFile(path, heldRows(sorted(j.rows)))
	} else {
		w.object, err = p.writeObject(ctx, j.name, heldRows(sorted(j.rows)))
	}
	if err != nil {
		return err
	}
	release(j.rows)
	return p.send(ctx, result{job: w})
}

// writeObject writes and verifies one object and calls Options.OnObject.
func (p *pipeline) writeObject(ctx context.Context, name string, rows rowsTo) (lake.Object, error) {
	path := filepath.Join(p.staging, StagedName(name))
	object, err := writeObject(path, rows)
	object.Path = name
	if err == nil && p.options.OnObject != nil {
		err = p.options.OnObject(ctx, path, object)
	}
	return object, err
}

// collect receives results and sends jobs until everything is written.
func (p *pipeline) collect(ctx context.Context) error {
	total, drained := -1, false
	for {
		if p.next == total && !drained {
			drained = true
			p.drain()
		}
		if drained && len(p.queue) == 0 && p.running == 0 {
			return nil
		}
		var jobs chan job
		var first job
		if len(p.queue) > 0 {
			jobs, first = p.jobs, p.queue[0]
		}
		select {
		case jobs <- first:
			p.queue[0] = job{} // release the rows before the slice
			p.queue = p.queue[1:]
			p.running++
		case r := <-p.results:
			if err := p.take(r); err != nil {
				return err
			}
		case total = <-p.read:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take processes a result. It processes decoded batches in the order of the input.
func (p *pipeline) take(r result) error {
	if w := r.job; w != nil {
		p.running--
		if w.job.run {
			p.runs = append(p.runs, w.job.name)
		} else {
			p.objects = append(p.objects, w.object)
		}
		return p.wrote(w)
	}
	p.held[r.decoded.number] = r.decoded
	for d := p.held[p.next]; d != nil; d = p.held[p.next] {
		delete(p.held, p.next)
		p.next++
		if err := p.takeBatch(d); err != nil {
			return err
		}
	}
	return nil
}

func (p *pipeline) takeBatch(d *decodedBatch) error {
	for _, r := range d.rejected {
		if len(p.report.Rejected) == 0 {
			p.report.First = r.String()
		}
		p.report.Rejected[r.code]++
		if err := p.bad.add(r); err != nil {
			return err
		}
	}
	p.report.Records += int64(len(d.rows)) + d.dropped
	p.dropped += d.dropped
	p.report.Expired += d.expired
	p.report.Blank += d.blank
	p.report.Invalid += d.invalid
	if p.report.Misfits == nil {
		p.report.Misfits = d.misfits
	} else {
		for field, n := range d.misfits {
			p.report.Misfits[field] += n
		}
	}
	p.has |= d.has
	p.report.Bytes += d.textBytes
	p.openLost = p.openLost || d.openLost
	if p.options.Progress != nil {
		p.options.Progress(Progress{Bytes: p.in.read.Load(), Records: p.report.Records})
	}
	if err := errors.Join(p.doubt(false), p.lookFor(d.rows, false)); err != nil {
		return err
	}
	p.fingerprints.add(d.rows)
	p.buffer.add(d)
	if len(p.buffer.seen) > MaxPartitions {
		return tooManyPartitions(p.buffer.seen)
	}
	if p.buffer.cost > p.options.Memory {
		p.spill()
	}
	if d.reached != nil {
		return p.reach(*d.reached)
	}
	return nil
}

// spill queues about half of the buffered rows: first the hours that appear complete, then those with the most rows. If
// the rows are spread over so many hours that the objects would be very small, it queues all rows as one sorted run.
func (p *pipeline) spill() {
	p.queueComplete()
	for p.buffer.cost > p.options.Memory/2 {
		hour, rows := p.buffer.fullest()
		if rows < minRowsPerPart {
			p.queueRun()
			return
		}
		p.queueObject(hour)
	}
}

// drain queues the remaining rows at the end of the input and at a checkpoint. If there are runs, the rows become another
// run, so that they are merged with the others.
func (p *pipeline) drain() {
	if p.spilled && p.buffer.cost > 0 {
		p.queueRun()
	}
	for _, hour := range p.buffer.partitions() {
		p.queueObject(hour)
	}
}

func (p *pipeline) queueRun() {
	p.spilled = true
	name := fmt.Sprintf("run-%d.parquet", p.parts)
	p.queue = append(p.queue, job{rows: p.buffer.takeAll(), name: name, part: p.parts, run: true})
	p.parts++
}

// queueComplete queues the hours that appear complete.
func (p *pipeline) queueComplete() {
	for _, hour := range p.buffer.complete(p.next - 1) {
		p.queueObject(hour)
	}
}

func (p *pipeline) queueObject(hour lake.Partition) {
	part := p.parts
	p.queue = append(p.queue, job{rows: p.buffer.take(hour), name: p.objectName(hour), part: part})
}

func (p *pipeline) objectName(hour lake.Partition) string {
	name := lake.ObjectName(hour, p.entry.Source, p.parts)
	p.parts++
	return name
}

// mergeRuns merges the runs into objects, hour by hour.
func (p *pipeline) mergeRuns(ctx context.Context) error {
	if len(p.runs) == 0 {
		return nil
	}
	slices.Sort(p.runs)
	paths := make([]string, len(p.runs))
	for i, name := range p.runs {
		paths[i] = filepath.Join(p.staging, name)
	}
	paths, err := narrow(p.staging, paths, limitsWithin(0))
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(mergeRows(paths))
	defer stop()
	row, err, ok := next()
	for ok && err == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		hour := parquet.RawPartition(row)
		name := p.objectName(hour)
		object, failed := p.writeObject(ctx, name, rawRows(func(yield func(parquet.Raw, error) bool) {
			for ok && (err != nil || parquet.RawPartition(row) == hour) {
				if !yield(row, err) {
					return
				}
				row, err, ok = next()
			}
		}))
		if failed != nil {
			return failed
		}
		p.objects = append(p.objects, object)
	}
	return err
}

// imported describes the part of the source that this import records: up to the end of the input, but without a last
// line that has no newline and was left or rejected. The next import reads that line again when it is complete.
func (p *pipeline) imported() sourcePrefix {
	if p.openLost {
		return p.lines.whole
	}
	return p.lines.all
}
