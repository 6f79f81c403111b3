package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"sync"

	"github.com/go-faster/jx"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/answers"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/search"
)

// part is some of the records of an answer, with the meta of a page that ends after them.
type part struct {
	records recordList
	answer  answers.Answer // its meta; not its results
	meta    object
	figures *figures // of its request; in an export, the last part has the sums, and the others have nil
}

// recordList is a list of records: search.Records, or a page of the API.
type recordList interface {
	Len() int
	AppendJSON(dst []byte, i int) []byte
}

// Source passes the records of a query to visit, part by part. It ends after the part without a next one, or with an
// error, possibly the error of visit.
type Source func(ctx context.Context, parameters map[string]any, visit func(part) error) error

// Records returns the source of the records of a query: the pages of a server; of a folder the first page, which shows
// every mistake of the request as on a server, and then one pass over the other records. request returns the request
// for the records after a cursor.
func Records(
	server *client.Client, product *local.Product, request func(cursor string) search.Request,
) Source {
	return func(ctx context.Context, parameters map[string]any, visit func(part) error) error {
		parameters = maps.Clone(parameters)
		parameters["limit"] = search.MaxLogs
		for {
			page, err := requestPage(ctx, server, parameters)
			if err != nil {
				return err
			}
			next := page.answer.Meta.Next
			switch err := visit(page); {
			case err != nil || next == nil:
				return err
			case product != nil:
				return product.Export(ctx, request(*next), func(r search.Result) error {
					rest, err := partOf(r)
					if err != nil {
						return err
					}
					if rest.answer.Meta.Next != nil {
						rest.figures = nil
					}
					return visit(rest)
				})
			}
			parameters["cursor"] = *next
		}
	}
}

// partOf returns a part of an export.
func partOf(r search.Result) (part, error) {
	text, err := json.Marshal(r.Meta)
	if err != nil {
		return part{}, err
	}
	p := part{records: r.Logs}
	return p, p.readMeta(text)
}

func (p *part) readMeta(text []byte) error {
	return errors.Join(
		json.Unmarshal(text, &p.answer.Meta), json.Unmarshal(text, &p.meta), json.Unmarshal(text, &p.figures))
}

// requestPage requests a page. It does not accept compression: then an answer, and the memory for it, has at most 4 MB.
func requestPage(ctx context.Context, server *client.Client, parameters map[string]any) (part, error) {
	if err := ctx.Err(); err != nil {
		return part{}, err
	}
	body, err := json.Marshal(parameters)
	if err != nil {
		return part{}, err
	}
	uncompressed := http.Header{"Accept-Encoding": {"identity"}}
	response, err := server.Do(ctx, client.Request{
		Method: http.MethodPost, Path: "/data/logs", Header: uncompressed, Body: body,
	})
	if err != nil {
		return part{}, err
	}
	page, err := pageOf(response.Body)
	if err != nil {
		return part{}, fmt.Errorf("the answer does not have the API's format: %w", err)
	}
	return page, nil
}

// page is the records of a page, as their texts.
type page []jx.Raw

func (p page) Len() int                            { return len(p) }
func (p page) AppendJSON(dst []byte, i int) []byte { return append(dst, p[i]...) }

// pageOf reads a page. The records share memory with the text, because nearly all of it is records.
func pageOf(text []byte) (p part, err error) {
	var records page
	readResults := func(d *jx.Decoder, name []byte) error {
		if string(name) != "results" {
			return d.Skip()
		}
		return d.Arr(func(d *jx.Decoder) error {
			record, err := d.Raw()
			records = append(records, record)
			return err
		})
	}
	var metaText []byte
	d := jx.DecodeBytes(text)
	err = d.ObjBytes(func(d *jx.Decoder, name []byte) (err error) {
		switch string(name) {
		case "data":
			return d.ObjBytes(readResults)
		case "meta":
			metaText, err = d.Raw()
			return err
		}
		return d.Skip()
	})
	p.records = records
	switch {
	case err != nil:
	case !errors.Is(d.Skip(), io.EOF):
		err = errors.New("there is text after the answer")
	case metaText == nil:
		err = errors.New("there is no meta")
	default:
		err = p.readMeta(metaText)
	}
	return p, err
}

// maxAhead is the largest number of parts that are encoded before they are printed. A part takes some megabytes.
const maxAhead = 8

// encodedParts are the parts of a source, encoded by several goroutines.
type encodedParts struct {
	queue    chan chan encodedPart // in their order
	cancel   context.CancelFunc
	printer  Printer
	encoders sync.Pool // of functions of the printer
	texts    sync.Pool // of *[]byte
}

// encodedPart is a part in the form of a printer, or an error.
type encodedPart struct {
	part
	count int // of its records
	text  []byte
	err   error
}

// encodeParts begins to read and encode the parts of a source. The caller must call stop.
func encodeParts(
	ctx context.Context, from Source, parameters map[string]any, printer Printer,
) *encodedParts {
	ctx, cancel := context.WithCancel(ctx)
	p := &encodedParts{
		queue: make(chan chan encodedPart, min(runtime.GOMAXPROCS(0), maxAhead)), cancel: cancel, printer: printer,
	}
	parameters = maps.Clone(parameters)
	go func() {
		defer close(p.queue)
		begun, before := false, 0
		err := from(ctx, parameters, func(read part) error {
			encoded := make(chan encodedPart, 1)
			select {
			case p.queue <- encoded:
			case <-ctx.Done():
				return ctx.Err()
			}
			var head []byte
			if !begun {
				head = p.printer.head()
			}
			earlier := before
			begun, before = true, before+read.records.Len()
			go func() { encoded <- p.encode(read, head, earlier) }()
			return nil
		})
		if err != nil {
			encoded := make(chan encodedPart, 1)
			encoded <- encodedPart{err: err}
			p.queue <- encoded // next or stop receives it
		}
	}()
	return p
}

// encode encodes a part after the given head. earlier is the number of records of the parts before it.
func (p *encodedParts) encode(read part, head []byte, earlier int) encodedPart {
	encode, ok := p.encoders.Get().(func(dst, record []byte) ([]byte, error))
	if !ok {
		encode = p.printer.encoder()
	}
	defer p.encoders.Put(encode)
	text := append(p.room(), head...)
	var (
		record []byte
		err    error
	)
	for i := range read.records.Len() {
		if earlier+i > 0 {
			text = append(text, p.printer.between()...)
		}
		record = read.records.AppendJSON(record[:0], i)
		if text, err = encode(text, record); err != nil {
			return encodedPart{err: err}
		}
	}
	count := read.records.Len()
	read.records = nil // from now on, the text has them
	return encodedPart{part: read, count: count, text: text}
}

// room returns an empty text with the memory of one that was printed.
func (p *encodedParts) room() []byte {
	if text, ok := p.texts.Get().(*[]byte); ok {
		return (*text)[:0]
	}
	return nil
}

// reuse gives back the memory of a part that was printed.
func (p *encodedParts) reuse(printed encodedPart) { p.texts.Put(&printed.text) }

// next waits for the next part. It must not be called after the last part or an error.
func (p *encodedParts) next() encodedPart { return <-<-p.queue }

// stop ends the reading of parts, and waits until it has ended.
func (p *encodedParts) stop() {
	p.cancel()
	for range p.queue { // until it is closed
	}
}
