package duckdb

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
)

// maxOpenBytes is how large the objects kept open may be together. An open object keeps what it has decoded,
// about twice its size; the newest hours, which are asked for again and again, fit in.
const maxOpenBytes = 64 << 20

// records reads single rows of objects and keeps the objects open that were read last.
type records struct {
	mu    sync.Mutex
	open  map[string]*openObject
	clock int64 // counts uses
}

// openObject is an object kept open. It is closed when it has been forgotten and has no readers.
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

// read reads the rows at the places of an object into the records they are.
func (r *records) read(path string, at *places, columns []string, records []*lake.Row) (err error) {
	o := r.acquire(path)
	defer func() {
		if closing := r.release(o, err != nil); err == nil && closing != nil {
			err = &engine.ObjectError{Path: path, Err: closing}
		}
	}()
	rows, err := o.read(at.numbers, columns)
	if err != nil {
		return &engine.ObjectError{Path: path, Err: err}
	}
	for i, record := range at.records {
		records[record] = rows[i]
	}
	return nil
}

// read returns a panic over a damaged page as an error. Package parquet does so itself; this is a second net.
func (o *openObject) read(numbers []int64, columns []string) (rows []*lake.Row, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("damaged: %v", reason)
		}
	}()
	o.once.Do(o.openFile)
	if o.err != nil {
		return nil, o.err
	}
	return o.rows.Rows(numbers, columns)
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

// acquire finds or begins an open object and counts its user.
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

// release gives an object back and closes those that are too many; a failed one is forgotten at once.
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
		idle := r.maxIdle()
		if idle == nil {
			break
		}
		r.forget(idle)
		errs = append(errs, idle.close())
	}
	return errors.Join(errs...)
}

func (r *records) forget(o *openObject) {
	if !o.forgotten {
		o.forgotten = true
		delete(r.open, o.path)
	}
}

func (r *records) size() int64 {
	var total int64
	for _, o := range r.open {
		if o.users == 0 {
			total += o.bytes
		}
	}
	return total
}

func (r *records) maxIdle() *openObject {
	var idle *openObject
	for _, o := range r.open {
		if o.users == 0 && (idle == nil || o.lastUsed < idle.lastUsed) {
			idle = o
		}
	}
	return idle
}

// close closes all objects, which must have no readers.
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
