package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/api/importing"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/logformat"
	"github.com/orrery/orrery/shared/record"
)

// importer imports the logs that requests bring, one at a time.
type importer struct {
	*Product
	free    func(folder string) (int64, error) // bytes of the disk that are free
	running chan struct{}                      // has an element during an import
}

var _ importing.Importer = importer{}

// Imports implements importing.Importer.
func (i importer) Imports(ctx context.Context, limit int) (found []importing.ListedImport, err error) {
	sources, err := i.Store.Imports(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(sources, func(a, b ledger.Source) int { return b.Last.Compare(a.Last) })
	for _, s := range sources {
		if !s.Forgotten.IsZero() {
			continue
		}
		if len(found) == limit {
			break
		}
		from, to := periodOf(s.From, s.To)
		found = append(found, importing.ListedImport{
			ID: s.ID, Log: s.Name, Format: logformat.Words(s.Format), Records: s.Records, Rejected: s.Rejected,
			From: from, To: to, At: s.Last.UTC().Truncate(time.Second),
		})
	}
	return found, nil
}

// Sample implements importing.Importer.
func (i importer) Sample(ctx context.Context, log importing.Log) (s importing.Sample, err error) {
	options, err := optionsOf(log)
	if err != nil {
		return s, err
	}
	in, done, err := i.input(log)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, done()) }()
	archive, content, err := ingest.OpenArchive(in)
	if err != nil {
		return s, err
	}
	s.Log = log.Name
	if archive != nil {
		defer func() { err = errors.Join(err, archive.Close()) }()
		member, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return s, errNoLog()
		}
		if err != nil {
			return s, err
		}
		s.Log, content = log.Name+"/"+member.Name, member
	}
	if err := sampleOf(&s, content, options); err != nil {
		return s, forCaller(err)
	}
	return s, nil
}

// sampleOf adds what the beginning of a log shows.
func sampleOf(s *importing.Sample, content io.Reader, options ingest.Options) error {
	head, err := io.ReadAll(io.LimitReader(content, importing.SampleBytes))
	if err != nil {
		return err
	}
	found, err := sampleWith(head, options)
	if unknown, is := errors.AsType[*logformat.UnrecognizedError](err); is && len(unknown.Map) > 0 {
		format, mapping := logformat.ByMapping(unknown.Map)
		if mapping != nil {
			return mapping
		}
		options.Format, s.Guessed = format.Name(), true
		found, err = sampleWith(head, options)
	}
	if err != nil {
		return err
	}
	s.Format, s.Shown, s.Compression, s.Problem = found.Format, logformat.Words(found.Format), found.Compression, found.Problem
	s.From, s.To = periodOf(found.Oldest, found.Newest)
	if found.First != nil {
		s.First = record.AppendJSON(nil, found.First, nil)
	}
	return nil
}

// sampleWith returns what the beginning of a log shows with these options.
func sampleWith(head []byte, options ingest.Options) (s ingest.Sample, err error) {
	log, err := ingest.OpenLog(bytes.NewReader(head))
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if log.Empty() {
		return s, fault.New(fault.Invalid, "the log is empty")
	}
	return log.Sample(0, options)
}

// Import implements importing.Importer.
func (i importer) Import(ctx context.Context, log importing.Log) (results []importing.Imported, err error) {
	options, err := optionsOf(log)
	if err != nil {
		return nil, err
	}
	select {
	case i.running <- struct{}{}:
		defer func() { <-i.running }()
	default:
		return nil, fault.New(fault.Unavailable, "another log is being imported")
	}
	in, done, err := i.input(log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	options.Cautious, options.Arrival = !log.Anyway, time.Now()
	imported := false
	var failed, unexpected error
	err = i.Store.ImportAll(ctx, log.Name, in, options, func(name string, r ingest.Report, err error) {
		result := importing.Imported{
			Log: name, Format: logformat.Words(r.Format), Records: r.Records, Known: r.Known, Expired: r.Expired,
			Rejected: map[string]int64{}, First: r.First, Absent: append([]string{}, r.Absent...),
		}
		for code, n := range r.Rejected {
			result.Rejected[string(code)] = n
		}
		switch {
		case err == nil:
			imported = true
		case mayBeShown(err):
			err = forCaller(err)
			failed, result.Error = err, err.Error()
		default:
			unexpected = err
		}
		if r.Source != "" {
			result.ID = &r.Source
		}
		results = append(results, result)
	})
	switch {
	case unexpected != nil:
		return nil, unexpected
	case err != nil && len(results) == 0, ctx.Err() != nil:
		return nil, errors.Join(err, ctx.Err())
	case len(results) == 0:
		return nil, errNoLog()
	case !imported && len(results) == 1:
		return nil, failed
	}
	return results, i.addPeriods(ctx, results)
}

func errNoLog() error { return fault.New(fault.Invalid, "there is no log in the archive") }

// mayBeShown reports whether the error of a log is one that its sender can mend.
func mayBeShown(err error) bool {
	_, unconfirmed := errors.AsType[*ingest.UnconfirmedError](err)
	return unconfirmed || fault.KindOf(err) == fault.Invalid
}

// forCaller returns the error of a log without the flags of the command.
func forCaller(err error) error {
	if e, is := errors.AsType[*ingest.UnconfirmedError](err); is {
		return importing.Unconfirmed(e.What)
	}
	if e, is := errors.AsType[*logformat.UnrecognizedError](err); is {
		return fault.New(fault.Invalid, "%s. The first line is %.*q", e.What(), logformat.MaxShown, e.First)
	}
	if e, is := errors.AsType[*fault.Error](err); is {
		return e // without the name of the log
	}
	return err
}

// addPeriods adds the periods of the records of logs that were imported.
func (i importer) addPeriods(ctx context.Context, results []importing.Imported) error {
	sources, err := i.Store.Imports(ctx)
	if err != nil {
		return err
	}
	for n := range results {
		r := &results[n]
		if r.ID == nil {
			continue
		}
		if at := slices.IndexFunc(sources, func(s ledger.Source) bool { return s.ID == *r.ID }); at >= 0 {
			r.From, r.To = periodOf(sources[at].From, sources[at].To)
		}
	}
	return nil
}

// Forget implements importing.Importer.
func (i importer) Forget(ctx context.Context, id string) (f importing.Forgotten, err error) {
	sources, err := i.Store.Imports(ctx)
	if err != nil {
		return f, err
	}
	at := slices.IndexFunc(sources, func(s ledger.Source) bool { return s.ID == id && s.Forgotten.IsZero() })
	if at < 0 {
		return f, fault.New(fault.NotFound, "there is no import with this id; GET /imports lists them")
	}
	ctx = context.WithoutCancel(ctx) // half of it would have to be done by the next change
	report, err := i.Store.Forget(ctx, id)
	if err != nil {
		return f, err
	}
	return importing.Forgotten{ID: id, Log: sources[at].Name, Records: report.Records}, i.RenewRollups(ctx)
}

// optionsOf returns the options of an import.
func optionsOf(log importing.Log) (ingest.Options, error) {
	options := ingest.Options{Format: log.Format, Zone: log.Zone}
	for _, s := range log.Set {
		options.Defaults = append(options.Defaults, ingest.Default(s))
	}
	if log.Format != "" && log.Format != "auto" {
		if _, err := logformat.ByName(log.Format); err != nil {
			return options, err
		}
	}
	return options, options.Check()
}

// input returns what is read of a log. A zip archive is kept in a temporary file, because its directory is at its end. A
// log that would take more than half of the free disk is refused.
func (i importer) input(log importing.Log) (in io.Reader, done func() error, err error) {
	free, err := i.free(i.folder)
	if err != nil {
		return nil, nil, err
	}
	if log.Size > free/2 {
		return nil, nil, fault.New(fault.TooLarge, "the log has %d bytes, more than half of the %d bytes of free disk; "+
			"free space, or import it in parts", log.Size, free)
	}
	nothing := func() error { return nil }
	start := make([]byte, 4)
	n, err := io.ReadFull(log.Body, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, err
	}
	all := io.MultiReader(bytes.NewReader(start[:n]), log.Body)
	if !ingest.IsZip(start[:n]) {
		return all, nothing, nil
	}
	if i.spill == nil {
		return nil, nil, fault.New(fault.ReadOnly, "the data folder is read-only")
	}
	file, err := os.CreateTemp(i.spill.Path, "import-")
	if err != nil {
		return nil, nil, fmt.Errorf("keep the archive: %w", err)
	}
	done = func() error { return errors.Join(file.Close(), os.Remove(file.Name())) }
	_, err = io.Copy(file, all)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("keep the archive: %w", err), done())
	}
	return file, done, nil
}

// periodOf returns the times of the oldest and the newest record, or nil if there are none.
func periodOf(oldest, newest time.Time) (from, to *time.Time) {
	if oldest.IsZero() {
		return nil, nil
	}
	return new(oldest.UTC()), new(newest.UTC())
}
