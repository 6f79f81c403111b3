package ingest

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"encoding/base64"
	"strconv"
)

// stagedQuarantine is the file of rejected lines while the import runs.
const stagedQuarantine = "quarantine.ndjson"

// quarantine keeps the lines that are no records, as NDJSON:
//
//	{"line":17,"code":"bad_json","message":"…","text":"the line"}
//
// A line that is no Unicode stands in "base64" instead of "text"; of one that is too long the beginning is kept, and
// its length in bytes is told.
type quarantine struct {
	path string
	file *os.File // nil until the first line
	out  *bufio.Writer
	line []byte
}

func (q *quarantine) add(r rejected) error {
	if q.file == nil {
		f, err := os.Create(q.path)
		if err != nil {
			return fmt.Errorf("make quarantine: %w", err)
		}
		q.file, q.out = f, bufio.NewWriter(f)
	}
	o := newObject(q.line[:0])
	o.raw("line", strconv.AppendInt(nil, r.line, 10))
	o.text("code", []byte(r.code))
	o.text("message", []byte(r.reason))
	if utf8.Valid(r.text) {
		o.text("text", r.text)
	} else {
		o.text("base64", base64.StdEncoding.AppendEncode(nil, r.text))
	}
	if r.length > int64(len(r.text)) {
		o.raw("length", strconv.AppendInt(nil, r.length, 10))
	}
	q.line = append(o.close(), '\n')
	if _, err := q.out.Write(q.line); err != nil {
		return fmt.Errorf("write quarantine: %w", err)
	}
	return nil
}

// close makes what was added durable.
func (q *quarantine) close() error {
	if q.file == nil {
		return nil
	}
	err := q.out.Flush()
	if err == nil {
		err = q.file.Sync()
	}
	if err := errors.Join(err, q.file.Close()); err != nil {
		return fmt.Errorf("write quarantine: %w", err)
	}
	return nil
}

// quarantinePath is where the rejected lines of an import lie: <source>.ndjson, and <source>.<generation>.ndjson for
// what a grown source added.
func (s *Store) quarantinePath(source string, generation int) string {
	name := source + ".ndjson"
	if generation > 1 {
		name = fmt.Sprintf("%s.%d.ndjson", source, generation)
	}
	return filepath.Join(s.quarantineDir(), name)
}

// placeQuarantine moves the rejected lines of an import to their place. Without any, it removes what an import of the
// same lines, as they were before, has left there.
func (s *Store) placeQuarantine(staging, source string, generation int, rejected int64) error {
	path := s.quarantinePath(source, generation)
	if rejected > 0 {
		return moveDurably(filepath.Join(staging, stagedQuarantine), path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove quarantine: %w", err)
	}
	return nil
}
