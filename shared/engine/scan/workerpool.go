package scan

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sync"
	"time"
)

// WorkerPools are the workers of scans. The scans that a caller runs at the same time share workers: a worker reads a
// row group for all scans that need it, one scan after the other, and each column only once. So the scans take less
// processor time, and together the memory of only one row group per worker. The zero value is ready for use.
type WorkerPools struct {
	mu       sync.Mutex
	byCaller map[string]*workerPool // only of callers with scans
}

// join returns the pool of a caller. leave must be called at the end of the scan.
func (c *WorkerPools) join(caller string, workers int) *workerPool {
	if c == nil {
		return &workerPool{workers: workers}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.byCaller[caller]
	if of == nil {
		if c.byCaller == nil {
			c.byCaller = map[string]*workerPool{}
		}
		of = &workerPool{workers: workers}
		c.byCaller[caller] = of
	}
	of.scans++
	return of
}

// leave ends a scan. After the last one, the pool is gone.
func (c *WorkerPools) leave(caller string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if of := c.byCaller[caller]; of != nil {
		if of.scans--; of.scans == 0 {
			delete(c.byCaller, caller)
		}
	}
}

// workerPool holds the workers of one caller.
type workerPool struct {
	workers int // at most
	scans   int // guarded by the lock of WorkerPools

	mu     sync.Mutex
	passes []*pass   // that have row groups left
	active []*worker // each in a goroutine of its own
	idle   []*worker // for their memory
}

// pass is a pass of a scan over row groups.
type pass struct {
	run    *run
	ctx    context.Context //nolint:containedctx // of the pass, whose end stops it
	stop   context.CancelCauseFunc
	groups []*group
	read   func(w *worker, i int) error

	// The lock of the pool guards the rest.
	left    map[groupID]int // the index of each row group that no worker has begun to read
	next    int             // index in groups of the first one that may be next; after the last comes the first one
	reading int             // workers
	spent   time.Duration   // by workers, on this pass; of a pass that began later, since then
	ended   bool
	done    chan struct{} // closed at the end
}

// groupID identifies a row group of the content of a file.
type groupID struct {
	file   fileVersion
	number int
}

// scan announces the columns of row groups, and calls read once for each of them, on the workers of the pool. i is the
// index of the row group. The first error ends the pass.
func (r *run) scan(ctx context.Context, groups []*group, read func(w *worker, i int) error) error {
	return r.scanColumns(ctx, groups, r.query.Columns(), read)
}

// scanColumns is scan that announces these columns.
func (r *run) scanColumns(
	ctx context.Context, groups []*group, columns []string, read func(w *worker, i int) error,
) error {
	if err := r.expectColumns(groups, columns); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p := newPass(ctx, stop, r, groups, read)
	r.pool.begin(p)
	select {
	case <-p.done:
	case <-ctx.Done():
		r.pool.drop(p)
		<-p.done // the workers stop before the next column or condition
	}
	return context.Cause(ctx)
}

// scanSome is scan of the row groups for whose indexes a condition holds.
func (r *run) scanSome(
	ctx context.Context, groups []*group, holds func(i int) bool, read func(w *worker, i int) error,
) error {
	var indexes []int
	var some []*group
	for i, g := range groups {
		if holds(i) {
			indexes, some = append(indexes, i), append(some, g)
		}
	}
	return r.scan(ctx, some, func(w *worker, n int) error { return read(w, indexes[n]) })
}

func newPass(
	ctx context.Context, stop context.CancelCauseFunc, r *run, groups []*group, read func(w *worker, i int) error,
) *pass {
	p := &pass{
		run: r, ctx: ctx, stop: stop, groups: groups, read: read,
		left: make(map[groupID]int, len(groups)), done: make(chan struct{}),
	}
	for i, g := range groups {
		p.left[g.id()] = i
	}
	return p
}

// begin adds a pass, and starts workers. If a worker is reading one of its row groups, the pass begins there, because
// the two then go on together.
func (c *workerPool) begin(p *pass) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.active {
		if i, needed := p.left[w.at]; needed {
			p.next = i
		}
	}
	if len(c.passes) > 0 {
		p.spent = slices.MinFunc(c.passes, bySpent).spent
	}
	c.passes = append(c.passes, p)
	c.settle(p)
	for range min(len(p.groups), c.workers-len(c.active)) {
		w := newWorker()
		if last := len(c.idle) - 1; last >= 0 {
			w, c.idle = c.idle[last], c.idle[:last]
		}
		c.active = append(c.active, w)
		go c.work(w)
	}
}

// drop removes the row groups that no worker has begun to read from a pass.
func (c *workerPool) drop(p *pass) {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(p.left)
	c.settle(p)
}

// settle removes a pass without row groups left, and ends it if no worker is reading one.
func (c *workerPool) settle(p *pass) {
	if len(p.left) > 0 {
		return
	}
	c.passes = slices.DeleteFunc(c.passes, func(other *pass) bool { return other == p })
	if p.reading == 0 && !p.ended {
		p.ended = true
		close(p.done)
	}
}

// work reads row groups until none is left.
func (c *workerPool) work(w *worker) {
	for p, i := c.take(w, nil, 0); p != nil; {
		began := time.Now()
		if err := recovered(w, i, p.readGroup); err != nil {
			p.stop(err)
		}
		p, i = c.take(w, p, time.Since(began))
	}
}

// readGroup reads a row group.
func (p *pass) readGroup(w *worker, i int) error {
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	g := p.groups[i]
	return openFile(p.run.source, g.file.path, func(file io.ReaderAt) error {
		w.run, w.ctx = p.run, p.ctx
		w.reader, w.group, g.read = g.reader.From(file), g, true
		return p.read(w, i)
	})
}

// take returns a pass and the index of the row group that a worker reads for it, after the worker has spent some time
// on another pass. It prefers the row group that the worker has just read, then one that no other worker is reading.
// The pass on which the workers have spent the least time comes first, so that a small one does not wait for the end of
// a large one. If there is no row group, the worker becomes idle.
func (c *workerPool) take(w *worker, after *pass, spent time.Duration) (*pass, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if after != nil {
		after.reading--
		after.spent += spent
		c.settle(after)
	}
	for _, p := range c.passes {
		if i, needed := p.left[w.at]; needed {
			return p, c.give(w, p, i)
		}
	}
	w.leave()
	slices.SortStableFunc(c.passes, bySpent)
	for _, p := range c.passes {
		if i := p.find(func(id groupID) bool { return !c.reads(id) }); i >= 0 {
			p.next = i
			return p, c.give(w, p, i)
		}
	}
	if len(c.passes) > 0 {
		p := c.passes[0]
		return p, c.give(w, p, p.find(func(groupID) bool { return true }))
	}
	w.end()
	c.active = slices.DeleteFunc(c.active, func(other *worker) bool { return other == w })
	c.idle = append(c.idle, w)
	return nil, 0
}

func bySpent(a, b *pass) int { return cmp.Compare(a.spent, b.spent) }

// reads reports whether a worker is reading a row group.
func (c *workerPool) reads(id groupID) bool {
	return slices.ContainsFunc(c.active, func(w *worker) bool { return w.at == id })
}

// give gives a row group of a pass to a worker, and returns its index.
func (c *workerPool) give(w *worker, p *pass, i int) int {
	w.at = p.groups[i].id()
	delete(p.left, w.at)
	p.reading++
	c.settle(p)
	return i
}

// find returns the index of the next row group of a pass that is left and may be read, or -1.
func (p *pass) find(may func(groupID) bool) int {
	for n := range p.groups {
		i := (p.next + n) % len(p.groups)
		id := p.groups[i].id()
		if _, left := p.left[id]; left && may(id) {
			return i
		}
	}
	return -1
}
