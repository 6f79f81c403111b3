package datadir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/orrery/orrery/shared/ingest"
)

// ImportAll imports a log, or every log in an archive, and calls report with the name and the result of each. It
// imports each member of an archive as if the archive were unpacked in its folder: a log that was imported before it
// was put into the archive is the same log. The error has those of all logs.
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
	if err := s.toWrite(ctx); err != nil {
		return err
	}
	fail := func(err error) error {
		if err != nil {
			err = fmt.Errorf("import %s: %w", name, err)
			report(name, ingest.Report{}, err)
		}
		return err
	}
	end, err := s.announce(ctx) // once for all members: the archive is handed in as a whole
	if err != nil {
		return fail(err)
	}
	defer func() { err = errors.Join(err, fail(end())) }()
	archive, log, err := ingest.OpenArchive(r)
	if err != nil {
		return fail(err)
	}
	if archive == nil {
		result, err := s.importAnnounced(ctx, name, log, options, skipForgotten)
		report(name, result, err)
		return err
	}
	defer func() { err = errors.Join(err, fail(archive.Close())) }()
	folder := ""
	if options.Path != "" {
		path, err := resolve(options.Path)
		if err != nil {
			return fail(err)
		}
		folder = filepath.Dir(path)
	}
	return s.importMembers(ctx, name, archive, folder, options, skipForgotten, report)
}

// importMembers imports the logs in an archive, one after the other. The rejected lines of all of them together have
// the space in quarantine of those of one log.
func (s *Store) importMembers(
	ctx context.Context, name string, archive *ingest.Archive, folder string, options ingest.Options, skipForgotten bool,
	report func(string, ingest.Report, error),
) error {
	var failed error
	space := int64(ingest.QuarantineBytes)
	if options.QuarantineLimit > 0 {
		space = min(space, options.QuarantineLimit)
	}
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
		of.QuarantineLimit = max(space, 1)
		if !member.Modified.IsZero() && member.Modified.Before(of.Arrival) {
			of.Arrival = member.Modified
		}
		inside := name + "/" + member.Name
		result, err := s.importAnnounced(ctx, inside, member, of, skipForgotten)
		if result.Quarantine != "" {
			if info, err := os.Stat(result.Quarantine); err == nil {
				space -= info.Size()
			}
		}
		report(inside, result, err)
		failed = errors.Join(failed, err)
	}
	return errors.Join(failed, ctx.Err())
}
