// Package ingest converts a log to verified objects of the lake in a staging directory, each line exactly once.
// Packages datadir and cloud publish the objects. README.md describes how a line becomes a row.
package ingest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/logformat"
)

// Rules is the version of the rules by which lines become rows. Each import records the version that it used.
const Rules = ledger.Rules

// Entry is one import of a source in a ledger.
type Entry = ledger.Entry

// Ledger reads what has been imported.
type Ledger = ledger.Reader

// Conversion is the result of converting the new part of a log: complete, verified objects that no reader sees yet.
type Conversion struct {
	Entry        Entry // to commit to the ledger; the caller sets At
	Base         Entry // the earlier import at the end of which this one begins; zero if it begins at the first line
	Report       Report
	New          bool   // the entry must be committed
	RejectedFile string // file of the rejected lines; "" if there are none
	Stopped      bool   // Options.Stop ended the conversion before the end of the log
	Fingerprints map[FingerprintSlot][]Fingerprint
}

// FamilyOf returns the family of sources of a log with this beginning.
func FamilyOf(head []byte) string { return ledger.Family(head) }

// Convert opens a log, converts it as Log.Convert does, and closes it. It does not close r.
func Convert(
	ctx context.Context, name string, r io.Reader, ledger Ledger, staging string, options Options,
) (c Conversion, err error) {
	log, err := OpenLog(r)
	if err != nil {
		return Conversion{}, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	return log.Convert(ctx, name, ledger, staging, options)
}

// Log is a log whose beginning has been read.
type Log struct {
	in   *input
	head []byte
}

// OpenLog reads the beginning of a log and detects its compression. The caller must close the Log, and r.
func OpenLog(r io.Reader) (*Log, error) {
	in, err := openInput(r)
	if err != nil {
		return nil, err
	}
	head, err := in.head()
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return &Log{in, head}, nil
}

// Empty reports whether the log is empty.
func (l *Log) Empty() bool { return len(l.head) == 0 }

// Head returns the beginning of the log, at most ledger.HeadBytes.
func (l *Log) Head() []byte { return l.head }

// Family returns the family of sources of the log.
func (l *Log) Family() string { return FamilyOf(l.head) }

// Close releases the resources of the log.
func (l *Log) Close() error { return l.in.Close() }

// Convert reads the log and writes the lines that no earlier import has read as objects in the directory staging. The
// caller creates and removes the directory. The same log, ledger and options result in the same objects, byte for byte.
//
// No other import of the family may be committed between the calls of the ledger and the commit of this conversion.
func (l *Log) Convert(
	ctx context.Context, name string, ledger Ledger, staging string, options Options,
) (Conversion, error) {
	if err := options.Check(); err != nil {
		return Conversion{}, err
	}
	if l.Empty() {
		return Conversion{Report: Report{Name: name}}, nil
	}
	return convert(ctx, name, l.in, l.head, ledger, staging, options)
}

// convert is the whole conversion. Each of its statements is one step.
func convert(
	ctx context.Context, name string, in *input, head []byte, known Ledger, staging string, options Options,
) (Conversion, error) {
	log := logName(name, options)
	if len(head) < headBytes { // head is the whole log
		older, err := known.Beginning(ctx, log, head)
		if err != nil {
			return Conversion{}, err
		}
		if older != "" {
			return Conversion{Report: Report{Name: name, Source: older, Known: countLines(head)}}, nil
		}
	}
	at, err := findPosition(ctx, known, in, staging, log, head)
	if err != nil {
		return Conversion{}, err
	}
	if left := onlyUnfinished(head); left > 0 && at.fresh && in.mayGrow(options) {
		return Conversion{Report: Report{Name: name, Left: left}}, nil
	}
	format, err := chooseFormat(options, head, at)
	if err != nil {
		return Conversion{}, err
	}
	e, err := newEntry(ctx, known, log, head, at)
	if err != nil {
		return Conversion{}, err
	}
	e.Name, e.Format, e.Settings, e.GeoIP = name, format.Name(), options.settings(), options.GeoIP
	p := newPipeline(in, at, e, format, staging, options)
	if options.Checkpoints.Every > 0 {
		if err := p.resume(ctx, at); err != nil {
			return Conversion{}, err
		}
	}
	if err := p.run(ctx); err != nil {
		return Conversion{}, err
	}
	c := p.conversion(at)
	if at.fresh {
		c.Report.Columns = logformat.Columns(format, head)
	}
	return c, nil
}

// logName returns the name of the log of an input with that name.
func logName(name string, options Options) string {
	if options.Path != "" {
		name = options.Path
	}
	return ledger.LogName(name)
}

// onlyUnfinished returns the length in bytes of a log that consists of one line without newline so far. It returns 0 if
// the log has a complete line, which shows the format.
func onlyUnfinished(head []byte) int64 {
	left := unfinishedBytes(head)
	if len(head) == headBytes || len(bytes.TrimSpace(head[:int64(len(head))-left])) > 0 {
		return 0
	}
	return left
}

// countLines counts the lines of a text. The last line may lack its newline.
func countLines(text []byte) int64 {
	n := int64(bytes.Count(text, []byte{'\n'}))
	if !bytes.HasSuffix(text, []byte{'\n'}) {
		n++
	}
	return n
}

// chooseFormat returns the requested format, or that of the earlier import, or the one detected in the first lines, in
// the requested zone.
func chooseFormat(options Options, head []byte, at position) (f logformat.Format, err error) {
	switch name := options.Format; {
	case name != "" && name != "auto":
		f, err = logformat.ByName(name)
		if err == nil {
			err = logformat.CheckHead(f, head)
		}
	case !at.fresh:
		f, err = logformat.ByName(at.base.Format)
	default:
		f, err = logformat.Detect(head)
	}
	if err != nil || options.Zone == "" {
		return f, err
	}
	return logformat.InZone(f, options.Zone)
}

// newEntry returns the ledger entry of the import with its source, generation and family: the next import of the source
// that the input continues, or the first import of a new source. An input that differs from a known source after some
// point is a new source. The entry has the head if it is longer than that in the ledger.
func newEntry(ctx context.Context, known Ledger, log string, head []byte, at position) (Entry, error) {
	e := Entry{Log: log, Generation: 1, Family: FamilyOf(head)}
	if !at.fresh && at.base.Latest {
		e.Source, e.Generation, e.Parts = at.base.Source, at.base.Generation+1, at.base.Parts
		if at.base.Length < headBytes {
			e.Head = head
		}
		return e, nil
	}
	id, err := sourceID(ctx, known, log, head)
	e.Source, e.Head = id, head
	return e, err
}

// conversion returns the result of a pipeline that has run. New is false if the log has not grown, and if a new log has
// no records.
func (p *pipeline) conversion(at position) Conversion {
	e := p.entry
	imported := p.imported()
	e.Length, e.Sum, e.Lines = imported.length, imported.sum, imported.lines
	e.Terminated = imported == p.lines.whole
	e.Records, e.Rejected = p.report.Records, p.report.RejectedLines()
	e.Objects, e.Parts = p.objects, p.parts
	if e.Head != nil {
		e.Head = e.Head[:min(int64(len(e.Head)), e.Length)]
	}
	c := Conversion{
		Entry: e, Base: at.base, Report: p.report, Stopped: p.lines.stopped, Fingerprints: p.fingerprints.slots,
	}
	c.Report.Name, c.Report.Source, c.Report.Format, c.Report.Known = e.Name, e.Source, e.Format, at.base.Lines
	c.Report.Left = p.lines.left
	c.New = e.Length != at.base.Length && (!at.fresh || e.Records > 0)
	if e.Rejected > 0 {
		c.RejectedFile = filepath.Join(p.staging, QuarantineFile)
	}
	return c
}
