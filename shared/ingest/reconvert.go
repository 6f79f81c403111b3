package ingest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/logformat"
)

// Past is an import that the ledger has, as far as Reconvert needs it.
type Past struct {
	Entry Entry // source, format and number of records, and the end of the import: length, sum, lines
	Base  Entry // the beginning of the import: length, lines, terminated; zero if that is the first line
}

var (
	// ErrOtherLog means that a log does not have the content of an import, or that its lines become other records now.
	ErrOtherLog = errors.New("the log is not the one that was imported")
	// ErrStopped means that Options.Stop has ended a conversion that is useless without its end.
	ErrStopped = errors.New("the conversion was stopped before its end")
)

// Reconvert converts the lines of an earlier import again, and writes the rows for which keep returns true to objects
// in the directory staging. It returns their files. Several goroutines call keep at the same time.
//
// r is the log, which may have grown since the import. From and Until of the options must be the times that the import
// allowed. Reconvert returns ErrOtherLog if the bytes up to the end of the import, or the number of records in them,
// are not those in the ledger.
func Reconvert(
	ctx context.Context, r io.Reader, past Past, staging string, options Options, keep func(*lake.Row) bool,
) (files []string, err error) {
	in, err := openInput(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	at := position{base: past.Base, sum: newPrefixSum(), fresh: past.Base.Length == 0}
	n, err := copyContext(ctx, at.sum, in, past.Base.Length)
	if err != nil {
		return nil, err
	}
	if n < past.Base.Length {
		return nil, ErrOtherLog
	}
	in.text = bufio.NewReaderSize(io.LimitReader(in.text, past.Entry.Length-past.Base.Length), headBytes)
	format, err := logformat.ByName(past.Entry.Format)
	if err != nil {
		return nil, err
	}
	p := newPipeline(in, at, Entry{Source: past.Entry.Source}, format, staging, options)
	p.keep = keep
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	if p.lines.stopped {
		return nil, ErrStopped
	}
	end, e := p.lines.all, past.Entry
	if end.length != e.Length || end.lines != e.Lines || end.sum != e.Sum || p.report.Records != e.Records {
		return nil, ErrOtherLog
	}
	for _, o := range p.objects {
		files = append(files, filepath.Join(staging, StagedName(o.Path)))
	}
	return files, nil
}

// EachPlace calls yield with the source and the line of each row of the object in a file.
func EachPlace(path string, yield func(source string, line int64)) error {
	f, err := openObject(path)
	if err != nil {
		return err
	}
	for {
		row, err := f.row()
		if err != nil || row == nil {
			if err := errors.Join(err, f.close()); err != nil {
				return fmt.Errorf("read places of records: %w", err)
			}
			return nil
		}
		yield(parquet.RawPlace(row))
	}
}
