package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/tabular"
)

// printAll prints all records of a query for logs, page after page. A page is printed when it has arrived completely,
// so after an interruption the records printed are those before a cursor.
func (q *queryCommand) printAll(ctx context.Context, server *client.Client, c console, parameters map[string]any) error {
	out := bufio.NewWriter(c.out)
	printer, err := q.allPrinter(out)
	if err != nil {
		return err
	}
	bar := newProgress(c.err, -1, "records", false)
	defer func() { _ = bar.Exit() }()

	parameters["limit"] = search.MaxLogs
	var (
		printed int
		skipped []string
	)
	for {
		page, meta, err := requestPage(ctx, server, parameters)
		if err != nil {
			return q.stopped(ctx, drawRefusal(err, parameters, c.err), printed, parameters["cursor"])
		}
		for _, record := range page.Data.Results {
			if err := printer.record(record); err != nil {
				return err
			}
		}
		skipped = append(skipped, page.Meta.Skipped...)
		if page.Meta.Next == nil {
			slices.Sort(skipped)
			skipped = slices.Compact(skipped)
			if err := printer.end(meta, skipped); err != nil {
				return err
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
		printed += len(page.Data.Results)
		show(bar, int64(printed))
		if page.Meta.Next != nil {
			parameters["cursor"] = *page.Meta.Next
			continue
		}
		if err := page.reportLag(c.err, time.Now()); err != nil {
			return err
		}
		page.Meta.Skipped = skipped
		page.reportDemo(c.err)
		return page.reportGaps(c.err)
	}
}

// object is a JSON object.
type object = map[string]json.RawMessage

// requestPage requests a page. It does not accept compression: then an answer, and the memory for it, has at most 4 MB.
func requestPage(
	ctx context.Context, server *client.Client, parameters map[string]any,
) (_ answer, meta object, err error) {
	var page answer
	if err := ctx.Err(); err != nil {
		return answer{}, nil, err
	}
	body, err := json.Marshal(parameters)
	if err != nil {
		return answer{}, nil, err
	}
	uncompressed := http.Header{"Accept-Encoding": {"identity"}}
	response, err := server.Do(ctx, client.Request{
		Method: http.MethodPost, Path: "/data/logs", Header: uncompressed, Body: body,
	})
	if err != nil {
		return answer{}, nil, err
	}
	var whole struct {
		Meta object `json:"meta"`
	}
	if err = json.Unmarshal(response.Body, &page); err == nil {
		err = json.Unmarshal(response.Body, &whole)
	}
	if err != nil {
		return answer{}, nil, fmt.Errorf("the answer does not have the API's format: %w", err)
	}
	return page, whole.Meta, nil
}

// stopped returns the error for a failure between two pages. It says how to continue.
func (q *queryCommand) stopped(ctx context.Context, err error, printed int, cursor any) error {
	remedy := fmt.Sprintf("%s are printed; the same command with --cursor %v prints the others",
		counted(printed, "record"), cursor)
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

// recordPrinter prints records.
type recordPrinter interface {
	record(text []byte) error
	// end is called after the last record, with the meta of the last page and the objects skipped for all pages.
	end(meta object, skipped []string) error
}

// allPrinter returns the printer of the command's format.
func (q *queryCommand) allPrinter(w io.Writer) (recordPrinter, error) {
	switch {
	case q.Route != string(search.Logs):
		return nil, &exitError{code: exitUsage, message: "--all is for logs only; other answers are always complete"}
	case q.Limit != nil:
		return nil, &exitError{code: exitUsage, message: "--all and --limit exclude each other"}
	case q.Format == "json":
		return &jsonPrinter{w: w}, nil
	case q.Format == "auto" || q.Format == "ndjson":
		return linePrinter{w}, nil
	case q.Format == "csv":
		table, _ := api.TableOf(search.Logs, q.fields())
		table.Raw = q.Raw
		printer := csvPrinter{w, tabular.NewEncoder(table)}
		if q.Cursor != nil { // the head was printed with the first page
			return printer, nil
		}
		_, err := w.Write(printer.encoder.Head())
		return printer, err
	}
	return nil, &exitError{code: exitUsage, message: "--all prints ndjson, csv or json, not " + q.Format}
}

// csvPrinter prints a record a line, as the API's answer in CSV does.
type csvPrinter struct {
	w       io.Writer
	encoder *tabular.Encoder
}

func (p csvPrinter) record(text []byte) error {
	rows, err := p.encoder.Rows(text)
	if err != nil {
		return fmt.Errorf("the answer does not have the API's format: %w", err)
	}
	_, err = p.w.Write(rows)
	return err
}

func (csvPrinter) end(object, []string) error { return nil }

// linePrinter prints a record a line.
type linePrinter struct{ w io.Writer }

func (p linePrinter) record(text []byte) error {
	_, err := fmt.Fprintf(p.w, "%s\n", text)
	return err
}

func (linePrinter) end(object, []string) error { return nil }

// jsonPrinter prints the records as one answer of the API.
type jsonPrinter struct {
	w       io.Writer
	printed bool
}

func (p *jsonPrinter) record(text []byte) error {
	start := resultsStart
	if p.printed {
		start = ","
	}
	p.printed = true
	_, err := fmt.Fprintf(p.w, "%s%s", start, text)
	return err
}

func (p *jsonPrinter) end(meta object, skipped []string) (err error) {
	if len(skipped) > 0 {
		if meta["skipped"], err = json.Marshal(skipped); err != nil {
			return err
		}
	}
	text, err := json.Marshal(meta)
	if !p.printed {
		fmt.Fprint(p.w, resultsStart)
	}
	fmt.Fprintf(p.w, "]},\"meta\":%s}\n", text)
	return err
}

const resultsStart = `{"data":{"results":[`
