package scan

import (
	"io"
	"os"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
)

// Source opens the objects of one scan if they are not files of this machine. Each read of them takes long, so the scan
// announces what it will read.
type Source interface {
	// Open returns an object. It reads nothing, and returns the same Input each time.
	Open(path string) (Input, error)
	// Release frees the memory of what has been read of an object. Nobody reads it meanwhile.
	Release(path string)
}

// Input is an object of a Source. It is safe for concurrent use.
type Input interface {
	io.ReaderAt
	Size() int64
	ETag() string // identifies the content
	// Expect announces parts that will be read soon. An error ends the scan. It is an ErrUnsupported if the parts take
	// too much memory.
	Expect(parts []parquet.Part) error
}

// openFile opens the file of an object, calls read and closes the file. Files are not kept open, because there can be
// many. If there is a source, it opens the object there instead.
func openFile(source Source, path string, read func(io.ReaderAt) error) (err error) {
	if source != nil {
		in, err := source.Open(path)
		if err != nil {
			return &engine.ObjectError{Path: path, Err: err}
		}
		return read(in)
	}
	file, err := os.Open(path)
	if err != nil {
		return &engine.ObjectError{Path: path, Err: err}
	}
	defer func() {
		if closing := file.Close(); err == nil && closing != nil {
			err = &engine.ObjectError{Path: path, Err: closing}
		}
	}()
	return read(file)
}

// versionOfOpen returns the version of an open object.
func versionOfOpen(path string, in io.ReaderAt) (fileVersion, error) {
	if in, remote := in.(Input); remote {
		return fileVersion{path: path, size: in.Size(), etag: in.ETag()}, nil
	}
	info, err := in.(*os.File).Stat()
	if err != nil {
		return fileVersion{}, err
	}
	return versionOf(path, info), nil
}

// FooterBytes returns the length of the end of an object that is read to get its footer. A row group adds some 16 kB
// to a footer. If a footer is longer, another read gets the rest.
func FooterBytes(size int64) int64 {
	const end, group = 32 << 10, 16 << 20 // a row group is seldom smaller, except the last one
	return min(size, end*(1+size/group))
}

// expectFooters announces the footers that are not in memory to the source.
func (r *run) expectFooters(objects []lake.Object) error {
	if r.source == nil {
		return nil
	}
	for _, o := range objects {
		err := openFile(r.source, o.Path, func(in io.ReaderAt) error {
			version, err := versionOfOpen(o.Path, in)
			if err != nil {
				return err
			}
			if _, known := footers.find(version); known {
				return nil
			}
			length := FooterBytes(version.size)
			return in.(Input).Expect([]parquet.Part{{Offset: version.size - length, Length: length}})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// expectColumns announces columns of row groups to the source. The row groups of an object adjoin.
func (r *run) expectColumns(groups []*group, columns []string) error {
	if r.source == nil {
		return nil
	}
	for len(groups) > 0 {
		file := groups[0].file
		var parts []parquet.Part
		for len(groups) > 0 && groups[0].file == file {
			parts = append(parts, groups[0].reader.Parts(groups[0].number, columns)...)
			groups = groups[1:]
		}
		err := openFile(r.source, file.path, func(in io.ReaderAt) error { return in.(Input).Expect(parts) })
		if err != nil {
			return err
		}
	}
	return nil
}
