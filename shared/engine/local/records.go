package local

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
)

// maxOpenBytes is the total size of the objects that are kept open without readers. An open object keeps its decoded
// pages, about twice its size. The newest hours, which most queries read, fit into this limit.
const maxOpenBytes = 64 << 20

// records reads single rows of objects. It keeps the most recently read objects open.
type records struct {
	mu    sync.Mutex
	open  map[string]*openObject
	clock int64 // number of uses so far
}

// openObject is an object that is kept open. It is closed once it is forgotten and has no users.
type openObject struct {
	path      string
	once      sync.Once
	err       error
	file      *os.File
	rows      *parquet.File
	bytes     int64
	users     int
	lastUsed  int64
	forgotten bool
}

func newRecords() *records { return &records{open: map[string]*openObject{}} }

// read reads the wanted rows of an object into their places in records. It returns parquet.ErrMemory if they exceed the
// budget.
func (r *records) read(
	path string, wanted *wantedRows, columns []string, budget *parquet.Budget, records []*lake.Row,
) (err error) {
	o := r.acquire(path)
	defer func() {
		broken := err != nil && !errors.Is(err, parquet.ErrMemory)
		if closing := r.release(o, broken); err == nil && closing != nil {
			err = &engine.ObjectError{Path: path, Err: closing}
		}
	}()
	rows, err := o.read(wanted.numbers, columns, budget)
	switch {
	case errors.Is(err, parquet.ErrMemory):
		return err
	case err != nil:
		return &engine.ObjectError{Path: path, Err: err}
	}
	for i, record := range wanted.records {
		records[record] = rows[i]
	}
	return nil
}

// read reads rows of the object, and opens it if no caller has. It returns a panic over a damaged page as an error, as
// package parquet itself does, in case a panic escapes from there.
func (o *openObject) read(numbers []int64, columns []string, budget *parquet.Budget) (rows []*lake.Row, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("damaged: %v", reason)
		}
	}()
	o.once.Do(o.openFile)
	if o.err != nil {
		return nil, o.err
	}
	return o.rows.RowsWithin(budget, numbers, columns)
}

func (o *openObject) openFile() {
	if o.file, o.err = os.Open(o.path); o.err != nil {
		return
	}
	info, err := o.file.Stat()
	if err != nil {
		o.err = err
		return
	}
	o.bytes = info.Size()
	o.rows, o.err = parquet.OpenFile(o.file, o.bytes)
}

func (o *openObject) close() error {
	var errs []error
	if o.rows != nil {
		errs = append(errs, o.rows.Close())
	}
	if o.file != nil {
		errs = append(errs, o.file.Close())
	}
	return errors.Join(errs...)
}

// acquire returns the open object of a path and counts one more user of it.
func (r *records) acquire(path string) *openObject {
	r.mu.Lock()
	defer r.mu.Unlock()
	o, known := r.open[path]
	if !known {
		o = &openObject{path: path}
		r.open[path] = o
	}
	r.clock++
	o.users, o.lastUsed = o.users+1, r.clock
	return o
}

// release ends one use of an object. It forgets the object if that use failed. While the objects that are kept open are
// too large, it closes the one that has been idle longest.
func (r *records) release(o *openObject, failed bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.users--
	if failed {
		r.forget(o)
	}
	var errs []error
	if o.forgotten && o.users == 0 {
		errs = append(errs, o.close())
	}
	for r.size() > maxOpenBytes {
		idle := r.longestIdle()
		if idle == nil {
			break
		}
		r.forget(idle)
		errs = append(errs, idle.close())
	}
	return errors.Join(errs...)
}

// drop closes an object that is open and has no users.
func (r *records) drop(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	o, open := r.open[path]
	if !open || o.users > 0 {
		return nil
	}
	r.forget(o)
	return o.close()
}

// forget removes an object, so that the next caller opens it again.
func (r *records) forget(o *openObject) {
	if !o.forgotten {
		o.forgotten = true
		delete(r.open, o.path)
	}
}

// size returns the total size in bytes of the objects without users.
func (r *records) size() int64 {
	var total int64
	for _, o := range r.open {
		if o.users == 0 {
			total += o.bytes
		}
	}
	return total
}

// longestIdle returns the object without users that was used longest ago, or nil.
func (r *records) longestIdle() *openObject {
	var idle *openObject
	for _, o := range r.open {
		if o.users == 0 && (idle == nil || o.lastUsed < idle.lastUsed) {
			idle = o
		}
	}
	return idle
}

// close closes all objects, which must have no users.
func (r *records) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, o := range r.open {
		r.forget(o)
		errs = append(errs, o.close())
	}
	return errors.Join(errs...)
}
