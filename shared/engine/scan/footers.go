package scan

import (
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
		if err != nil {
			return &engine.ObjectError{Path: path, Err: err}
		}
		footers.add(version, columns)
		return read(columns, version)
	})
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
