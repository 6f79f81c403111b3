package ingest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/logformat"
)

// RetriedFile is the file in the staging directory of a retry with the lines that stay in quarantine.
const RetriedFile = "retried.ndjson"

// Retry describes a file of rejected lines that are converted again.
type Retry struct {
	File       string // of the rejected lines of one import
	Generation int    // of that import
	Lines      int64  // number of the last line that the ledger recorded with it: an import reads those after it again
	Newest     Entry  // the latest import of the source
	// Keep, if set, is called with each record. Those for which it returns false are counted and not written. Several
	// goroutines call it at the same time.
	Keep func(row *lake.Row) bool
}

// Retried is the result of a retry.
type Retried struct {
	Entry    Entry // to commit to the ledger if lines have left the quarantine; the caller sets At
	Records  int64 // that lines are now
	Rejected int64 // lines that are still not records
	Expired  int64 // lines that have left the quarantine because their records are before Options.KeptFrom
	Kept     int64 // lines that cannot be converted alone
	Left     int64 // lines that have left the quarantine: records, also expired ones, and directives
}

// ConvertRejected converts rejected lines of a source again, and writes their records as objects in the directory
// staging, with the source and the numbers of the lines. The lines that stay in quarantine are in RetriedFile there.
// The entry records no further part of the log. No import of the source may be committed between the calls of the
// ledger and the commit of the retry.
func ConvertRejected(ctx context.Context, r Retry, staging string, options Options) (Retried, error) {
	if err := options.Check(); err != nil {
		return Retried{}, err
	}
	format, err := chooseFormat(options, nil, position{})
	if err != nil {
		return Retried{}, err
	}
	options.Quarantined, options.QuarantineLimit, options.Objects, options.Cautious = nil, 0, nil, false
	e := r.Newest
	e.Generation, e.Retries, e.Head, e.Objects = e.Generation+1, r.Generation, nil, nil
	p := newPipeline(&input{}, position{base: r.Newest, sum: newPrefixSum()}, e, format, staging, options)
	p.bad.left = math.MaxInt64 // the lines are in quarantine already
	lines := rejectedLines{retry: r}
	p.feed, p.keep = lines.run, r.Keep
	if err := p.run(ctx); err != nil {
		return Retried{}, err
	}
	result := Retried{Entry: e, Records: p.report.Records, Expired: p.report.Expired}
	if result.Rejected, result.Kept, err = r.writeRetried(staging); err != nil {
		return Retried{}, err
	}
	if again := p.report.RejectedLines(); result.Rejected != again {
		return Retried{}, fmt.Errorf("%d lines were rejected again, but %d stay in quarantine", again, result.Rejected)
	}
	result.Left = lines.count - result.Rejected
	result.Entry.Objects, result.Entry.Parts = p.objects, p.parts
	result.Entry.Records, result.Entry.Rejected, result.Entry.Settings = result.Records, -result.Left, options.settings()
	result.Entry.GeoIP = options.GeoIP
	return result, nil
}

// takes reports whether a line can be converted alone, and no import reads it again.
func (r Retry) takes(line RejectedLine) bool {
	return line.Whole && line.Code != ContinuedLine && line.Line <= r.Lines &&
		len(bytes.TrimSpace(line.Text)) > 0 && bytes.IndexByte(line.Text, '\n') < 0
}

// rejectedLines reads the rejected lines of a retry in batches.
type rejectedLines struct {
	retry Retry
	count int64 // lines read
	batch batch // that is being filled
	sent  int
}

// run sends the batches to out and closes it. The lines of a batch have the same directive before them.
func (l *rejectedLines) run(ctx context.Context, out chan<- batch) (batches int, err error) {
	defer close(out)
	var directive []byte // the last one among the lines, for files in which lines lack theirs
	err = EachRejected(l.retry.File, func(line RejectedLine, _ []byte) error {
		if !l.retry.takes(line) {
			return nil
		}
		before := line.Directive
		if before == nil {
			before = directive
		}
		if !bytes.Equal(before, l.batch.directive) || len(l.batch.text)+len(line.Text) >= batchBytes {
			if err := l.send(ctx, out); err != nil {
				return err
			}
		}
		if l.batch.text == nil {
			l.batch = batch{number: l.sent, directive: before, text: (*buffers.Get().(*[]byte))[:0]}
		}
		l.batch.text = append(append(l.batch.text, line.Text...), '\n')
		l.batch.numbers = append(l.batch.numbers, line.Line)
		l.count++
		if is, ok := logformat.Directive(line.Text); ok {
			directive = bytes.Clone(is)
		}
		return nil
	})
	if err == nil {
		err = l.send(ctx, out)
	}
	return l.sent, err
}

// send sends the batch unless it is empty.
func (l *rejectedLines) send(ctx context.Context, out chan<- batch) error {
	if l.batch.text == nil {
		return nil
	}
	select {
	case out <- l.batch:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.sent++
	l.batch = batch{}
	return nil
}

// writeRetried writes the lines that stay in quarantine in their order: those that were rejected again, with their new
// reasons, and those that were not converted.
func (r Retry) writeRetried(staging string) (rejected, kept int64, err error) {
	f, err := os.OpenFile(filepath.Join(staging, RetriedFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, 0, fmt.Errorf("write quarantine: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriter(f)
	next, stop := iter.Pull2(rejectedIn(filepath.Join(staging, QuarantineFile)))
	defer stop()
	again, failed, more := next()
	err = EachRejected(r.File, func(line RejectedLine, form []byte) error {
		switch {
		case failed != nil:
			return failed
		case !r.takes(line):
			kept++
			_, err := out.Write(form)
			return err
		case !more || again.line != line.Line:
			return nil
		}
		rejected++
		_, err := out.Write(again.form)
		again, failed, more = next()
		return err
	})
	if err == nil {
		err = errors.Join(failed, out.Flush(), f.Sync())
	}
	if err != nil {
		return 0, 0, fmt.Errorf("write quarantine: %w", err)
	}
	return rejected, kept, nil
}
