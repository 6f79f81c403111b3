package ingest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/logformat"
	"github.com/orrery/orrery/shared/record"
)

// Codes of rejected lines that the decoder does not have.
const (
	// ContinuedLine is the rest of a line that an earlier import took before it was written to its end.
	ContinuedLine record.Code = "continued_line"
	// TimeOutOfRange is a time that the lake has no partitions for.
	TimeOutOfRange record.Code = "time_out_of_range"
)

// rejected is a line that is no record.
type rejected struct {
	line   int64
	code   record.Code
	reason string
	text   []byte // of a line that is too long the beginning
	length int64  // of the whole line
}

// decoded is what became of a batch.
type decoded struct {
	number    int
	rows      []lake.Row
	rejected  []rejected
	blank     int64
	invalid   int64 // records with text that is no Unicode
	textBytes int64
	openLost  bool // the open last line is among the rejected

	held atomic.Int64 // rows not yet written
}

// converter turns lines into rows. Each goroutine has its own.
type converter struct {
	format   logformat.Format
	id       string // of the source
	defaults []Default
	times    times
	decoder  *record.Decoder
	scratch  []byte
}

// Default is a value for a field that a record lacks.
type Default struct{ Field, Value string }

// Check reports the first default that cannot be set, by an error of kind fault.Invalid.
func (o Options) Check() error {
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

// decode turns a batch into rows and rejected lines. An error means that the defaults cannot be set.
func (c *converter) decode(b batch, d *decoded) error {
	d.number, d.textBytes = b.number, int64(len(b.text))
	if b.tooLong > 0 {
		d.rejected = append(d.rejected, rejected{
			line: b.firstLine, code: record.TooLarge, text: bytes.Clone(b.text), length: b.tooLong,
			reason: fmt.Sprintf("the line has %d bytes, more than %d", b.tooLong, record.MaxLine),
		})
		d.openLost = b.open
		return nil
	}
	number := b.firstLine
	for text := b.text; len(text) > 0; number++ {
		line, rest, terminated := bytes.Cut(text, []byte("\n"))
		text = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		if number == 1 {
			line = bytes.TrimPrefix(line, logformat.ByteOrderMark)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			d.blank++
			continue
		}
		var problem *record.Reject
		var err error
		if b.continues && number == b.firstLine {
			problem = &record.Reject{Code: ContinuedLine, Message: "the line continues one that an earlier import took before it was whole"}
		} else if problem, err = c.line(line, number, terminated, d); err != nil {
			return err
		}
		if problem != nil {
			d.rejected = append(d.rejected, rejected{line: number, code: problem.Code, reason: problem.Message, text: bytes.Clone(line), length: int64(len(line))})
			d.openLost = d.openLost || !terminated
		}
	}
	d.held.Store(int64(len(d.rows)))
	return nil
}

// line turns one line into a row at the end of d.rows.
func (c *converter) line(line []byte, number int64, terminated bool, d *decoded) (*record.Reject, error) {
	text, err := c.format.Convert(c.scratch[:0], line)
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
	if err == nil {
		err = c.times.check(row.TsMs)
	}
	if err != nil {
		d.rows = d.rows[:len(d.rows)-1]
		return rejectOf(err)
	}
	row.Source, row.Line = c.id, number
	if row.RawLine != nil && converted {
		original := base64.StdEncoding.EncodeToString(line)
		row.RawLine = &original
	}
	for _, f := range c.defaults {
		if err := record.SetDefault(row, f.Field, f.Value); err != nil {
			return nil, err
		}
	}
	c.format.Complete(row)
	if notes.InvalidUTF8 {
		d.invalid++
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
