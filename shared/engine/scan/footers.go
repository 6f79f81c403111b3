package scan

import (
	"fmt"
	"io"
	"os"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
)

// open opens an object, calls read with what its footer says, and closes the object. It returns an error if the file is
// not the object that the index lists.
func open(
	source Source, object lake.Object, read func(*parquet.ColumnReader, fileVersion) error,
) error {
	path := object.Path
	return openFile(source, path, func(file io.ReaderAt) error {
		version, err := versionOfOpen(path, file)
		if err == nil {
			err = engine.CheckSize(object, version.size)
		}
		if err != nil {
			return &engine.ObjectError{Path: path, Err: err}
		}
		if known, ok := footers.find(version); ok {
			return read(known.From(file), version)
		}
		openColumns := parquet.OpenColumns
		if source != nil {
			openColumns = parquet.OpenColumnsByEnd
		}
		columns, err := openColumns(file, version.size)
		if err == nil {
			err = checkFooter(object, columns)
		}
		if err != nil {
			return &engine.ObjectError{Path: path, Err: err}
		}
		footers.add(version, columns.From(nil), 1)
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
	file := checkedFile{versionOf(object.Path, info), object.Extent()}
	if known, ok := checked.find(object.Path); ok && known == file {
		return nil
	}
	if err := open(nil, object, func(*parquet.ColumnReader, fileVersion) error { return nil }); err != nil {
		return err
	}
	checked.add(object.Path, file, 1)
	return nil
}

// checkFooter returns an error if a footer is not the footer of object: another object with the same name and size has
// replaced the file. It checks the times and the sizes of the columns if they are known.
func checkFooter(object lake.Object, footer *parquet.ColumnReader) error {
	if object.Rows == 0 {
		return nil
	}
	found := footer.Extent()
	if found != object.Extent() {
		return fmt.Errorf("the file has %d rows from %d to %d, but the object has %d from %d to %d: it was replaced",
			found.Rows, found.MinTsMs, found.MaxTsMs, object.Rows, object.MinTsMs, object.MaxTsMs)
	}
	if object.ColumnBytes == nil {
		return nil
	}
	for column, bytes := range footer.ColumnBytes() {
		if known, ok := object.ColumnBytes[column]; ok && known != bytes {
			return fmt.Errorf(
				"column %s of the file has %d bytes, but the object has %d: it was replaced", column, bytes, known,
			)
		}
	}
	return nil
}

// footers holds the footers of the objects that scans have read, without their files. Decoding one takes as long as
// reading a small column.
var footers = lru[fileVersion, *parquet.ColumnReader]{most: maxFooters}

// maxFooters is the number of footers in memory, of 2 kB for each row group.
const maxFooters = 4096

// fileVersion names the content of a file: a file that is replaced has another size or time.
type fileVersion struct {
	path string
	size int64
	ns   int64  // time of the last change
	etag string // instead, of an object of a Source
}

func versionOf(path string, info os.FileInfo) fileVersion {
	return fileVersion{path: path, size: info.Size(), ns: info.ModTime().UnixNano()}
}

// checked holds the files that Check has opened, by path. An entry takes a few hundred bytes.
var checked = lru[string, checkedFile]{most: 1 << 17}

// checkedFile records which object a file was checked against.
type checkedFile struct {
	fileVersion
	extent lake.Extent
}
