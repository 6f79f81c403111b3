package ingest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/logformat"
	"github.com/orrery/orrery/shared/record"
)

// Codes of rejected lines, in addition to those of package record.
const (
	// ContinuedLine is the rest of a line that an earlier import read before the line was complete.
	ContinuedLine record.Code = "continued_line"
	// TimeOutOfRange is a time for which the lake has no partition.
	TimeOutOfRange record.Code = "time_out_of_range"
	// TooOld is a time before the horizon.
	TooOld record.Code = "too_old"
)

// rejection is a line that is not a record.
type rejection struct {
	line   int64
	code   record.Code
	reason string
	text   []byte // the line, or its beginning if it is too long
	length int64  // of the whole line in bytes
	column int    // as in record.Reject

	directive []byte // the last one before the line, or nil; see logformat.Directive
}

// decodedBatch is the result of decoding a batch.
type decodedBatch struct {
	number    int
	rows      []lake.Row
	rejected  []rejection
	dropped   int64 // rows that converter.keep has dropped
	expired   int64 // records before Options.KeptFrom
	blank     int64 // lines without text, and directives
	invalid   int64 // records with text that is not valid UTF-8
	misfits   map[string]int64
	has       essentialSet
	textBytes int64
	openLost  bool          // the last line has no newline and was rejected
	reached   *sourcePrefix // see batch

	held atomic.Int64 // number of rows that are not written yet
}

// converter converts lines to rows. It must not be shared by goroutines.
type converter struct {
	format   logformat.Format
	source   string               // id of the source
	keep     func(*lake.Row) bool // may be nil, see pipeline
	defaults []Default
	complete func(*lake.Row) error // may be nil, see Options.Complete
	times    times
	decoder  *record.Decoder
	scratch  []byte
}

// Default is a value for a field, for records without the field.
type Default struct{ Field, Value string }

// Check returns an error of kind fault.Invalid for an unknown zone, or for the first default that cannot be set.
func (o Options) Check() error {
	if o.Zone != "" {
		if err := logformat.CheckZone(o.Zone, strings.TrimPrefix(o.Format, "auto")); err != nil {
			return err
		}
	}
	names := record.FieldNames()
	for _, d := range o.Defaults {
		if !slices.Contains(names, d.Field) {
			return unknownField(d.Field, filter.Nearest(d.Field, names))
		}
		if err := record.SetDefault(&lake.Row{}, d.Field, d.Value); err != nil {
			return fault.Wrap(fault.Invalid, err, "%s=%s", d.Field, d.Value)
		}
	}
	return nil
}

// decode converts a batch to rows and rejected lines. It returns an error if the defaults cannot be set.
func (c *converter) decode(b batch, d *decodedBatch) error {
	d.number, d.textBytes, d.reached = b.number, int64(len(b.text)), b.reached
	if b.tooLong > 0 {
		d.rejected = append(d.rejected, rejection{
			line:   b.firstLine,
			code:   record.TooLarge,
			reason: fmt.Sprintf("the line has %d bytes, more than %d", b.tooLong, record.MaxLine),
			text:   bytes.Clone(b.text),
			length: b.tooLong,
		})
		d.openLost = b.open
		return nil
	}
	directive := b.directive
	var kept []byte // copy of directive, which all lines rejected after it share
	format, _ := after(c.format, directive)
	for i, text := 0, b.text; len(text) > 0; i++ {
		number := b.line(i)
		line, rest, terminated := bytes.Cut(text, []byte("\n"))
		text = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		line = bytes.TrimPrefix(line, logformat.ByteOrderMark)
		if len(bytes.TrimSpace(line)) == 0 {
			d.blank++
			continue
		}
		if next, ok := logformat.Directive(line); ok && (!b.continues || number > b.firstLine) {
			directive, kept = next, nil
		}
		if next, ok := after(format, line); ok && (!b.continues || number > b.firstLine) {
			format = next
			d.blank++
			d.openLost = d.openLost || !terminated
			continue
		}
		var problem *record.Reject
		var err error
		if b.continues && number == b.firstLine {
			problem = &record.Reject{
				Code:    ContinuedLine,
				Message: "the line continues a line that an earlier import read before it was complete",
			}
		} else if problem, err = c.line(format, line, number, terminated, d); err != nil {
			return err
		}
		if problem != nil {
			if kept == nil {
				kept = bytes.Clone(directive)
			}
			d.rejected = append(d.rejected, rejection{
				line:   number,
				code:   problem.Code,
				reason: problem.Error(),
				column: problem.Column,
				text:   bytes.Clone(line),
				length: int64(len(line)),

				directive: kept,
			})
			d.openLost = d.openLost || !terminated
		}
	}
	d.held.Store(int64(len(d.rows)))
	return nil
}

// after returns the format of the lines after a directive. For any other line, it returns f and false.
func after(f logformat.Format, line []byte) (next logformat.Format, ok bool) {
	if d, directed := f.(logformat.Directed); directed {
		if next, ok = d.After(line); ok {
			return next, true
		}
	}
	return f, false
}

// line converts one line and appends the row to d.rows, or returns why the line is rejected.
func (c *converter) line(
	format logformat.Format, line []byte, number int64, terminated bool, d *decodedBatch,
) (*record.Reject, error) {
	text, err := logformat.Convert(format, c.scratch[:0], line)
	if err == nil && !terminated && logformat.IsCut(text) {
		err = &record.Reject{Code: logformat.BadLine, Message: "the last line of the log is cut off"}
	}
	if err != nil {
		return rejectOf(err)
	}
	converted := len(text) > 0 && len(line) > 0 && &text[0] != &line[0]
	if converted {
		c.scratch = text
	}
	d.rows = append(d.rows, lake.Row{})
	row := &d.rows[len(d.rows)-1]
	notes, err := c.decoder.Decode(text, row)
	if err == nil && c.times.expired(row.TsMs) {
		d.rows = d.rows[:len(d.rows)-1]
		d.expired++
		return nil, nil
	}
	if err == nil {
		err = c.times.check(row.TsMs)
	}
	if err != nil {
		d.rows = d.rows[:len(d.rows)-1]
		return rejectOf(err)
	}
	row.Source, row.Line = c.source, number
	if row.RawLine != nil && converted {
		original := base64.StdEncoding.EncodeToString(line)
		row.RawLine = &original
	}
	for _, f := range c.defaults {
		if err := record.SetDefault(row, f.Field, f.Value); err != nil {
			return nil, err
		}
	}
	if c.complete != nil {
		if err := c.complete(row); err != nil {
			return nil, err
		}
	}
	format.Complete(row)
	if notes.InvalidUTF8 {
		d.invalid++
	}
	for _, field := range c.decoder.Misfits() {
		if d.misfits == nil {
			d.misfits = map[string]int64{}
		}
		d.misfits[field]++
	}
	d.has.add(row)
	if c.keep != nil && !c.keep(row) {
		d.rows = d.rows[:len(d.rows)-1]
		d.dropped++
	}
	return nil, nil
}

func rejectOf(err error) (*record.Reject, error) {
	var problem *record.Reject
	if errors.As(err, &problem) {
		return problem, nil
	}
	return nil, err
}
