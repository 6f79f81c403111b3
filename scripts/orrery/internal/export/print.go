// Package export prints all records of a query: it reads them part after part, and encodes parts while others are
// printed.
package export

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/orrery/orrery/scripts/orrery/internal/answers"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/tabular"
)

// Print prints all records, part after part, and returns the answer of the last part and the number of the records.
// A part is printed when it has arrived completely, so after an interruption the records printed are those before a
// cursor. While it is printed, further parts are read and encoded.
func Print(
	ctx context.Context, c terminal.Console, from Source, parameters map[string]any, printer Printer,
) (a answers.Answer, printed int, err error) {
	bar := terminal.NewProgress(c.Err, -1, "records", false)
	defer func() { _ = bar.Exit() }()

	out := c.Shown()
	parts := encodeParts(ctx, from, parameters, printer)
	defer parts.stop()
	var (
		skipped []string
		sums    figures
	)
	for {
		p := parts.next()
		if err := cmp.Or(ctx.Err(), p.err); err != nil {
			return a, printed, stopped(ctx, question.DrawRefusal(err, parameters, c.Err), printed, parameters["cursor"])
		}
		skipped = append(skipped, p.answer.Meta.Skipped...)
		sums.add(p.figures)
		last := p.answer.Meta.Next == nil
		if last {
			if err := sums.replaceIn(p.meta); err != nil {
				return a, printed, err
			}
			slices.Sort(skipped)
			skipped = slices.Compact(skipped)
			end, err := printer.end(p.meta, skipped)
			if err != nil {
				return a, printed, err
			}
			p.text = append(p.text, end...)
		}
		if _, err := out.Write(p.text); err != nil {
			return a, printed, err
		}
		printed += p.count
		terminal.Show(bar, int64(printed))
		if last {
			_ = bar.Finish() // clears it; one that cannot be drawn must not stop the work
			p.answer.Meta.Skipped = skipped
			return p.answer, printed, nil
		}
		parameters["cursor"] = *p.answer.Meta.Next
		parts.reuse(p)
	}
}

// stopped returns the error for a failure between two parts. It says how to continue.
func stopped(ctx context.Context, err error, printed int, cursor any) error {
	remedy := fmt.Sprintf("%s are printed; the same command with --cursor %v prints the others",
		terminal.Counted(printed, "record"), cursor)
	switch {
	case ctx.Err() != nil && cursor == nil:
		return exit.With(exit.Interrupted, "interrupted; no record is printed")
	case ctx.Err() != nil:
		return exit.With(exit.Interrupted, "interrupted; "+remedy)
	case cursor == nil || printed == 0:
		return err
	}
	return fmt.Errorf("%w\n%s", err, remedy)
}

// object is a JSON object.
type object = map[string]json.RawMessage

// Printer is a form in which records are printed.
type Printer interface {
	// head returns what comes before the records.
	head() []byte
	// encoder returns a function that appends a record. Several may be used at the same time.
	encoder() func(dst, record []byte) ([]byte, error)
	// between returns what comes between two records.
	between() string
	// end returns what comes after the last record. meta is the meta of the last part, and skipped lists the objects
	// that any part skipped.
	end(meta object, skipped []string) ([]byte, error)
}

// CSV prints a record a line, as the API's answer in CSV does.
type CSV struct {
	Table     tabular.Table
	Continues bool // the head was printed with the first page
}

func (p CSV) head() []byte {
	if p.Continues {
		return nil
	}
	return tabular.NewEncoder(p.Table).Head()
}

func (p CSV) encoder() func(dst, record []byte) ([]byte, error) {
	encoder := tabular.NewEncoder(p.Table)
	return func(dst, record []byte) ([]byte, error) {
		rows, err := encoder.Rows(record)
		if err != nil {
			return nil, fmt.Errorf("the answer does not have the API's format: %w", err)
		}
		return append(dst, rows...), nil
	}
}

func (CSV) between() string { return "" }

func (CSV) end(object, []string) ([]byte, error) { return nil, nil }

// Lines prints a record a line.
type Lines struct{}

func (Lines) head() []byte { return nil }

func (Lines) encoder() func(dst, record []byte) ([]byte, error) {
	return func(dst, record []byte) ([]byte, error) { return append(append(dst, record...), '\n'), nil }
}

func (Lines) between() string { return "" }

func (Lines) end(object, []string) ([]byte, error) { return nil, nil }

// JSON prints the records as one answer of the API.
type JSON struct{}

func (JSON) head() []byte { return []byte(`{"data":{"results":[`) }

func (JSON) encoder() func(dst, record []byte) ([]byte, error) {
	return func(dst, record []byte) ([]byte, error) { return append(dst, record...), nil }
}

func (JSON) between() string { return "," }

func (JSON) end(meta object, skipped []string) (_ []byte, err error) {
	if len(skipped) > 0 {
		if meta["skipped"], err = json.Marshal(skipped); err != nil {
			return nil, err
		}
		meta["exact"] = json.RawMessage("false") // of the last part it may be true
	}
	text, err := json.Marshal(meta)
	return fmt.Appendf(nil, "]},\"meta\":%s}\n", text), err
}
