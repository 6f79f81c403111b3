// Package ingest turns a log into verified objects of the lake in a staging directory, each line once and only once.
// Packages datadir and cloud publish them. README.md describes how a line becomes a row.
package ingest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/logformat"
)

// Rules is the version of the rules that turn lines into rows; each import says which it used.
const Rules = ledger.Rules

// Entry is one import of a source, as a ledger keeps it.
type Entry = ledger.Entry

// Ledger tells what has been imported.
type Ledger = ledger.Reader

// Converted is what is new in a log, as objects that are whole and verified but that nobody reads yet.
type Converted struct {
	Entry    Entry // to be committed to the ledger; At is left to whoever does
	Report   Report
	New      bool   // there is something to commit
	Rejected string // file of the rejected lines; "" without any
	Stopped  bool   // Options.Enough ended it before the log's end
}

// FamilyOf names the family of sources that a log with this beginning belongs to.
func FamilyOf(head []byte) string { return ledger.Family(head) }

// Convert opens a log, converts it as Log.Convert does, and closes it.
func Convert(
	ctx context.Context, name string, r io.Reader, ledger Ledger, staging string, options Options,
) (c Converted, err error) {
	log, err := OpenLog(r)
	if err != nil {
		return Converted{}, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	return log.Convert(ctx, name, ledger, staging, options)
}

// Log is a log whose beginning has been read.
type Log struct {
	in   *input
	head []byte
}

// OpenLog reads the beginning of a log, decompressed. The caller closes the Log, and r.
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

// Empty reports whether there is nothing to read.
func (l *Log) Empty() bool { return len(l.head) == 0 }

// Family is the family of sources that the log belongs to.
func (l *Log) Family() string { return FamilyOf(l.head) }

// Close releases what reading the log takes.
func (l *Log) Close() error { return l.in.Close() }

// Convert reads the log and makes objects of what no earlier import has taken, in the directory staging, which the
// caller makes and removes. The same log, ledger and options make the same objects, byte for byte.
//
// Between what the ledger returns and the commit no other import of the family may be committed.
func (l *Log) Convert(ctx context.Context, name string, ledger Ledger, staging string, options Options) (Converted, error) {
	if err := options.Check(); err != nil {
		return Converted{}, err
	}
	if l.Empty() {
		return Converted{Report: Report{Name: name}}, nil
	}
	return convert(ctx, name, l.in, l.head, ledger, staging, options)
}

// convert is the whole conversion, step by step.
func convert(ctx context.Context, name string, in *input, head []byte, ledger Ledger, staging string, options Options) (Converted, error) {
	if len(head) < headBytes { // all of it
		older, err := ledger.Beginning(ctx, head)
		if err != nil {
			return Converted{}, err
		}
		if older != "" {
			return Converted{Report: Report{Name: name, Source: older, Known: countLines(head)}}, nil
		}
	}
	at, err := findPosition(ctx, ledger, in, staging, head)
	if err != nil {
		return Converted{}, err
	}
	if left := onlyUnfinished(head); left > 0 && at.fresh && in.mayGrow(options) {
		return Converted{Report: Report{Name: name, Left: left}}, nil
	}
	format, err := chooseFormat(options.Format, head, at)
	if err != nil {
		return Converted{}, err
	}
	e, err := newEntry(ctx, ledger, head, at)
	if err != nil {
		return Converted{}, err
	}
	e.Name, e.Format = name, format.Name()
	p := newPipeline(in, at, e, format, staging, options)
	if err := p.run(ctx); err != nil {
		return Converted{}, err
	}
	return p.converted(at), nil
}

// onlyUnfinished is the length of the one line, without newline, that a short log consists of so far; 0 when there is
// a whole line, which shows the format.
func onlyUnfinished(head []byte) int64 {
	left := unfinishedBytes(head)
	if len(head) == headBytes || len(bytes.TrimSpace(head[:int64(len(head))-left])) > 0 {
		return 0
	}
	return left
}

// countLines counts lines, of which the last need not be ended.
func countLines(text []byte) int64 {
	n := int64(bytes.Count(text, []byte{'\n'}))
	if !bytes.HasSuffix(text, []byte{'\n'}) {
		n++
	}
	return n
}

// chooseFormat returns the format: the one asked for, that of the import before, or what the first lines look like.
func chooseFormat(name string, head []byte, at position) (logformat.Format, error) {
	switch {
	case name != "" && name != "auto":
		return logformat.ByName(name)
	case !at.fresh:
		return logformat.ByName(at.base.Format)
	}
	return logformat.Detect(head)
}

// newEntry begins the ledger's entry: the next import of the source that the input continues, or the first of a new
// one. An input that goes another way than a known source from some point on is a new source.
func newEntry(ctx context.Context, ledger Ledger, head []byte, at position) (Entry, error) {
	e := Entry{Generation: 1, Family: FamilyOf(head)}
	if !at.fresh && at.base.Latest {
		e.Source, e.Generation, e.Parts = at.base.Source, at.base.Generation+1, at.base.Parts
		return e, nil
	}
	id, err := sourceID(ctx, ledger, head)
	e.Source, e.Head = id, head
	return e, err
}

// converted is the entry and the report of a pipeline that has run. Nothing is new when the log has not grown, or when
// a log not known before has not a single record.
func (p *pipeline) converted(at position) Converted {
	e := p.entry
	reached := p.reached()
	e.Length, e.Sum, e.Lines = reached.length, reached.sum, reached.lines
	e.Terminated = reached == p.lines.whole
	e.Records, e.Rejected = p.report.Records, p.report.RejectedLines()
	e.Objects, e.Parts = p.objects, p.parts
	if e.Head != nil {
		e.Head = e.Head[:min(int64(len(e.Head)), e.Length)]
	}
	c := Converted{Entry: e, Report: p.report, Stopped: p.lines.stopped}
	c.Report.Name, c.Report.Source, c.Report.Format, c.Report.Known = e.Name, e.Source, e.Format, at.base.Lines
	c.Report.Left = p.lines.left
	c.New = e.Length != at.base.Length && (!at.fresh || e.Records > 0)
	if e.Rejected > 0 {
		c.Rejected = filepath.Join(p.staging, QuarantineFile)
	}
	return c
}

// countPartitions is how many hours the objects lie in.
func countPartitions(objects []lake.Object) int {
	hours := map[lake.Partition]struct{}{}
	for _, o := range objects {
		hours[o.Partition] = struct{}{}
	}
	return len(hours)
}
