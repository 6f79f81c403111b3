package datadir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/orrery/orrery/shared/ingest"
)

// ImportAll imports a log, or every log in an archive, and calls report with the name and the result of each. It imports
// each member of an archive as if the archive were unpacked in its folder: a log that was imported before it was put
// into the archive is the same log. The error has those of all logs.
func (s *Store) ImportAll(
	ctx context.Context, name string, r io.Reader, options ingest.Options, report func(string, ingest.Report, error),
) error {
	return s.importAll(ctx, name, r, options, false, report)
}

// importAll is ImportAll. If skipForgotten is true, it imports nothing of logs that were forgotten.
func (s *Store) importAll(
	ctx context.Context, name string, r io.Reader, options ingest.Options, skipForgotten bool,
	report func(string, ingest.Report, error),
) (err error) {
	archive, log, err := ingest.OpenArchive(r)
	if err != nil {
		err = fmt.Errorf("import %s: %w", name, err)
		report(name, ingest.Report{}, err)
		return err
	}
	if archive == nil {
		result, err := s.importLog(ctx, name, log, options, skipForgotten)
		report(name, result, err)
		return err
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	folder := ""
	if options.Path != "" {
		path, err := resolve(options.Path)
		if err != nil {
			return fmt.Errorf("import %s: %w", name, err)
		}
		folder = filepath.Dir(path)
	}
	var failed error
	for ctx.Err() == nil {
		member, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			err = fmt.Errorf("import %s: %w", name, err)
			report(name, ingest.Report{}, err)
			return errors.Join(failed, err)
		}
		of := options
		of.Path, of.Growing = filepath.Join(folder, filepath.FromSlash(member.Name)), false
		inside := name + "/" + member.Name
		result, err := s.importLog(ctx, inside, member, of, skipForgotten)
		report(inside, result, err)
		failed = errors.Join(failed, err)
	}
	return errors.Join(failed, ctx.Err())
}
