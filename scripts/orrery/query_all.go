package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/representation"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/tabular"
)

// printAll prints all records of a query for logs, part after part. A part is printed when it has arrived completely, so
// after an interruption the records printed are those before a cursor. While it is printed, further parts are read and
// encoded.
func (q *queryCommand) printAll(ctx context.Context, from partSource, c console, parameters map[string]any) error {
	defer limitMemory(exportLimit)()
	printer, err := q.allPrinter()
	if err != nil {
		return err
	}
	bar := terminal.NewProgress(c.err, -1, "records", false)
	defer func() { _ = bar.Exit() }()

	out := c.shown()
	parts := encodeParts(ctx, from, parameters, printer)
	defer parts.stop()
	var (
		printed int
		skipped []string
		sums    figures
	)
	for {
		p := parts.next()
		if err := cmp.Or(ctx.Err(), p.err); err != nil {
			return q.stopped(ctx, drawRefusal(err, parameters, c.err), printed, parameters["cursor"])
		}
		skipped = append(skipped, p.answer.Meta.Skipped...)
		sums.add(p.figures)
		last := p.answer.Meta.Next == nil
		if last {
			if err := sums.replaceIn(p.meta); err != nil {
				return err
			}
			slices.Sort(skipped)
			skipped = slices.Compact(skipped)
			end, err := printer.end(p.meta, skipped)
			if err != nil {
				return err
			}
			p.text = append(p.text, end...)
		}
		if _, err := out.Write(p.text); err != nil {
			return err
		}
		printed += p.count
		terminal.Show(bar, int64(printed))
		if last {
			_ = bar.Finish() // clears it; one that cannot be drawn must not stop the work
			p.answer.Meta.Skipped = skipped
			p.answer.reportUnreadable(c.err)
			if printed == 0 {
				q.reportNothing(p.answer, q.Format, c.err)
			}
			return q.reportMissing(p.answer, c.err)
		}
		parameters["cursor"] = *p.answer.Meta.Next
		parts.reuse(p)
	}
}

// stopped returns the error for a failure between two parts. It says how to continue.
func (q *queryCommand) stopped(ctx context.Context, err error, printed int, cursor any) error {
	remedy := fmt.Sprintf("%s are printed; the same command with --cursor %v prints the others",
		terminal.Counted(printed, "record"), cursor)
	switch {
	case ctx.Err() != nil && cursor == nil:
		return &exitError{code: exitInterrupted, message: "interrupted; no record is printed"}
	case ctx.Err() != nil:
		return &exitError{code: exitInterrupted, message: "interrupted; " + remedy}
	case cursor == nil || printed == 0:
		return err
	}
	return fmt.Errorf("%w\n%s", err, remedy)
}

// object is a JSON object.
type object = map[string]json.RawMessage

// recordPrinter is a form in which records are printed.
type recordPrinter interface {
	// head returns what comes before the records.
	head() []byte
	// encoder returns a function that appends a record. Several may be used at the same time.
	encoder() func(dst, record []byte) ([]byte, error)
	// between returns what comes between two records.
	between() string
	// end returns what comes after the last record. meta is that of the last part, and skipped are the objects that were
	// skipped for all parts.
	end(meta object, skipped []string) ([]byte, error)
}

// allPrinter returns the printer of the command's format.
func (q *queryCommand) allPrinter() (recordPrinter, error) {
	switch {
	case q.Route != string(search.Logs):
		return nil, &exitError{code: exitUsage, message: "--all is for logs only; other answers are always complete"}
	case q.has("limit"):
		return nil, &exitError{code: exitUsage, message: "--all and --limit exclude each other"}
	case q.Format == "json":
		return jsonPrinter{}, nil
	case q.Format == "auto" || q.Format == "ndjson":
		return linePrinter{}, nil
	case q.Format == "csv":
		table, _ := representation.TableOf(search.Logs, q.fields())
		table.Raw = q.Raw
		return csvPrinter{table, q.has("cursor")}, nil
	}
	return nil, &exitError{code: exitUsage, message: "--all prints ndjson, csv or json, not " + q.Format}
}

// csvPrinter prints a record a line, as the API's answer in CSV does.
type csvPrinter struct {
	table     tabular.Table
	continues bool // the head was printed with the first page
}

func (p csvPrinter) head() []byte {
	if p.continues {
		return nil
	}
	return tabular.NewEncoder(p.table).Head()
}

func (p csvPrinter) encoder() func(dst, record []byte) ([]byte, error) {
	encoder := tabular.NewEncoder(p.table)
	return func(dst, record []byte) ([]byte, error) {
		rows, err := encoder.Rows(record)
		if err != nil {
			return nil, fmt.Errorf("the answer does not have the API's format: %w", err)
		}
		return append(dst, rows...), nil
	}
}

func (csvPrinter) between() string                      { return "" }
func (csvPrinter) end(object, []string) ([]byte, error) { return nil, nil }

// linePrinter prints a record a line.
type linePrinter struct{}

func (linePrinter) head() []byte { return nil }

func (linePrinter) encoder() func(dst, record []byte) ([]byte, error) {
	return func(dst, record []byte) ([]byte, error) { return append(append(dst, record...), '\n'), nil }
}

func (linePrinter) between() string                      { return "" }
func (linePrinter) end(object, []string) ([]byte, error) { return nil, nil }

// jsonPrinter prints the records as one answer of the API.
type jsonPrinter struct{}

func (jsonPrinter) head() []byte { return []byte(`{"data":{"results":[`) }

func (jsonPrinter) encoder() func(dst, record []byte) ([]byte, error) {
	return func(dst, record []byte) ([]byte, error) { return append(dst, record...), nil }
}

func (jsonPrinter) between() string { return "," }

func (jsonPrinter) end(meta object, skipped []string) (_ []byte, err error) {
	if len(skipped) > 0 {
		if meta["skipped"], err = json.Marshal(skipped); err != nil {
			return nil, err
		}
		meta["exact"] = json.RawMessage("false") // of the last part it may be true
	}
	text, err := json.Marshal(meta)
	return fmt.Appendf(nil, "]},\"meta\":%s}\n", text), err
}
