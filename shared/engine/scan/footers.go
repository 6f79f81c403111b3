package scan

import (
	"fmt"
	"os"
	"sync"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
)

// open opens an object, calls read with what its footer says, and closes the object. It returns an error if the file is
// not the object that the index lists.
func open(object lake.Object, read func(*parquet.ColumnReader, fileVersion) error) error {
	path := object.Path
	return openFile(path, func(file *os.File) error {
		info, err := file.Stat()
		if err == nil {
			err = engine.CheckSize(object, info.Size())
		}
		if err != nil {
			return &engine.ObjectError{Path: path, Err: err}
		}
		version := fileVersion{path, info.Size(), info.ModTime().UnixNano()}
		if known, ok := footers.find(version); ok {
			return read(known.From(file), version)
		}
		columns, err := parquet.OpenColumns(file, info.Size())
		if err == nil {
			err = checkFooter(object, columns)
		}
		if err != nil {
			return &engine.ObjectError{Path: path, Err: err}
		}
		footers.add(version, columns)
		return read(columns, version)
	})
}

// Check returns an error if an object cannot be opened, or if its file is another one. It opens a file only if it has
// changed since the last time.
func Check(object lake.Object) error {
	info, err := os.Stat(object.Path)
	if err == nil {
		err = engine.CheckSize(object, info.Size())
	}
	if err != nil {
		return &engine.ObjectError{Path: object.Path, Err: err}
	}
	version := checkedVersion{info.Size(), info.ModTime().UnixNano(), object.Extent()}
	if checked.has(object.Path, version) {
		return nil
	}
	if err := open(object, func(*parquet.ColumnReader, fileVersion) error { return nil }); err != nil {
		return err
	}
	checked.add(object.Path, version)
	return nil
}

// checked holds the files that Check has opened.
var checked checkedFiles

// maxChecked is the number of files that checked holds, a few hundred bytes each.
const maxChecked = 1 << 17

type checkedFiles struct {
	mu    sync.Mutex
	known map[string]checkedVersion // by path
}

// checkedVersion names the content of a file, as fileVersion, and the object that it is.
type checkedVersion struct {
	size, ns int64
	extent   lake.Extent
}

func (c *checkedFiles) has(path string, version checkedVersion) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.known[path]
	return ok && known == version
}

// add adds a file. If there are too many, any other one is removed.
func (c *checkedFiles) add(path string, version checkedVersion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]checkedVersion{}
	}
	for other := range c.known {
		if len(c.known) < maxChecked {
			break
		}
		delete(c.known, other)
	}
	c.known[path] = version
}

// checkFooter returns an error if a footer is not that of an object. Then another object has the same name and size.
// The times and the sizes of the columns are checked if they are known.
func checkFooter(object lake.Object, footer *parquet.ColumnReader) error {
	if object.Rows == 0 {
		return nil
	}
	found := lake.Extent{}
	for _, g := range footer.RowGroups() {
		found = found.Union(lake.Extent{MinTsMs: g.MinTsMs, MaxTsMs: g.MaxTsMs, Rows: int64(g.Rows)})
	}
	if found != object.Extent() {
		return fmt.Errorf("the file has %d rows from %d to %d, but the object has %d from %d to %d: it was replaced",
			found.Rows, found.MinTsMs, found.MaxTsMs, object.Rows, object.MinTsMs, object.MaxTsMs)
	}
	if object.ColumnBytes == nil {
		return nil
	}
	for column, bytes := range footer.ColumnBytes() {
		if known, ok := object.ColumnBytes[column]; ok && known != bytes {
			return fmt.Errorf("column %s of the file has %d bytes, but the object has %d: it was replaced", column, bytes, known)
		}
	}
	return nil
}

// footers holds the footers of the objects that scans have read. Decoding one takes as long as reading a small column.
var footers footerCache

// maxFooters is the number of footers in memory, of 2 kB for each row group.
const maxFooters = 4096

// fileVersion names the content of a file: a file that is replaced has another size or time.
type fileVersion struct {
	path string
	size int64
	ns   int64 // time of the last change
}

type footerCache struct {
	mu    sync.Mutex
	known map[fileVersion]*parquet.ColumnReader // of files that have been closed
}

func (c *footerCache) find(version fileVersion) (*parquet.ColumnReader, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	columns, ok := c.known[version]
	return columns, ok
}

// add adds a footer. If there are too many, any other one is removed.
func (c *footerCache) add(version fileVersion, columns *parquet.ColumnReader) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[fileVersion]*parquet.ColumnReader{}
	}
	for other := range c.known {
		if len(c.known) < maxFooters {
			break
		}
		delete(c.known, other)
	}
	c.known[version] = columns.From(nil)
}
