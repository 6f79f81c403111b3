package api

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/tabular"
)

// csvRaw is the value of the parameter csv.
const csvRaw = "raw"

// formats maps the values of the parameter format to media types.
var formats = map[string]string{"json": jsonType, "csv": csvType, "ndjson": ndjsonType}

// Media types of data answers. text/plain is for errors and comes before the tables, so that a client that accepts
// text/* receives JSON.
var (
	figureOffers = []string{jsonType, textType, csvType}
	recordOffers = []string{jsonType, textType, csvType, ndjsonType}
)

// offersOf returns the media types of the answers of a data route. A route whose results have no table offers JSON only.
func offersOf(to search.Route) []string {
	if to == search.Logs {
		return recordOffers
	}
	if _, ok := TableOf(to, nil); !ok {
		return offers
	}
	return figureOffers
}

// formatsOf lists the values of the parameter format for a route with these media types.
func formatsOf(offers []string) []string {
	var list []string
	for name, mediaType := range formats {
		if slices.Contains(offers, mediaType) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// formatParams are the parameters of a route that select the form of its answer, if there is more than one.
func formatParams(offers []string) []param {
	var values []any
	for _, name := range formatsOf(offers) {
		values = append(values, name)
	}
	if len(values) == 1 {
		return nil
	}
	return []param{
		{
			name:    formatName,
			doc:     "The form of the answer. By default it is the one that `Accept` prefers.",
			schema:  &huma.Schema{Type: "string", Enum: values},
			example: "json",
			read:    readText,
		},
		{
			name: csvName,
			doc: "raw: do not put an apostrophe before cells of CSV that begin with `=`, `+`, `-`, `@`, a tab or a " +
				"line end. Spreadsheets may calculate such cells.",
			schema:  &huma.Schema{Type: "string", Enum: []any{csvRaw}},
			example: csvRaw,
			read:    readText,
		},
	}
}

// form is the form of a data answer.
type form struct {
	mediaType string
	raw       bool // of CSV: cells are not guarded
}

// formFor returns the form of an answer that is offered in the given media types: by the parameter format or else by the
// Accept headers.
func formFor(accept []string, args arguments, offers []string) (form, error) {
	f := form{mediaType: negotiate(accept, offers...)}
	if name := args[formatName]; name != "" {
		mediaType, known := formats[name]
		if !known {
			return f, errFormat(name, formatsOf(offers))
		}
		f.mediaType = mediaType
	}
	if !slices.Contains(offers, f.mediaType) {
		return f, errNotAcceptable(offers)
	}
	if f.mediaType == textType {
		f.mediaType = jsonType
	}
	switch raw := args[csvName]; {
	case raw == "":
		return f, nil
	case raw != csvRaw:
		return f, &search.ParamError{
			Param: csvName, Message: fmt.Sprintf("the only value is %s, not %q", csvRaw, raw), Suggestion: csvRaw,
		}
	case f.mediaType != csvType:
		return f, &search.ParamError{
			Param: csvName, Message: "the answer is not CSV; add format=csv, or leave csv out", Suggestion: "format=csv",
		}
	}
	f.raw = true
	return f, nil
}

func errFormat(name string, offered []string) error {
	e := &search.ParamError{
		Param:   formatName,
		Message: fmt.Sprintf("unknown format %q; the formats are %s", name, strings.Join(offered, ", ")),
	}
	if near := filter.Nearest(name, offered); near != "" {
		e.Suggestion = near
	}
	return e
}

// formQuery returns the parameters of the form as the query of a location, so that the answer there has the same form.
func formQuery(args arguments) string {
	query := ""
	for _, name := range []string{formatName, csvName} {
		if value := args[name]; value != "" {
			query += "&" + name + "=" + value
		}
	}
	return strings.Replace(query, "&", "?", 1)
}

// layout is how a media type holds results.
type layout interface {
	// open returns what comes before the results.
	open() []byte
	// result returns a result, given as JSON. It is valid until the next call.
	result(text []byte, first bool) []byte
	// close returns what comes after the results.
	close(meta search.Meta) []byte
}

// layoutFor returns the layout of a form, for the results of a route. tz is that of their segments, or "".
func layoutFor(f form, to search.Route, fields []string, tz string) layout {
	switch f.mediaType {
	case csvType:
		table, ok := TableOf(to, fields)
		if !ok {
			panic(fmt.Sprintf("api: no table for route %q", to))
		}
		if table.Raw = f.raw; tz != "" {
			table = WithLocalTimes(table)
		}
		return csvLayout{tabular.NewEncoder(table)}
	case ndjsonType:
		return ndjsonLayout{}
	}
	return &jsonLayout{}
}

// jsonLayout is the container of results and meta.
type jsonLayout struct{ separated []byte }

func (*jsonLayout) open() []byte { return []byte(resultsOpen) }

func (l *jsonLayout) result(text []byte, first bool) []byte {
	if first {
		return text
	}
	l.separated = append(append(l.separated[:0], ','), text...)
	return l.separated
}

func (*jsonLayout) close(meta search.Meta) []byte {
	return append(append([]byte(resultsClose), encode(meta)...), '}')
}

// ndjsonLayout has a result on each line.
type ndjsonLayout struct{}

func (ndjsonLayout) open() []byte                       { return nil }
func (ndjsonLayout) result(text []byte, _ bool) []byte  { return append(text, '\n') }
func (ndjsonLayout) close(search.Meta) (nothing []byte) { return nil }

// csvLayout has the rows of a table.
type csvLayout struct{ encoder *tabular.Encoder }

func (l csvLayout) open() []byte { return l.encoder.Head() }

func (l csvLayout) result(text []byte, _ bool) []byte {
	rows, err := l.encoder.Rows(text)
	if err != nil {
		panic("api: a result has no row: " + err.Error())
	}
	return rows
}

func (csvLayout) close(search.Meta) (nothing []byte) { return nil }

// metaHeader is a response header with a part of meta, for forms that do not contain it.
type metaHeader struct {
	name, doc string
	value     func(m *search.Meta) string // "": no such header
}

var metaHeaders = []metaHeader{
	{"X-Orrery-Complete-Through", "As complete_through of meta.", func(m *search.Meta) string {
		if m.Complete == nil {
			return ""
		}
		return *m.Complete
	}},
	{"X-Orrery-Skipped", "How many objects could not be read; their records are missing.", func(m *search.Meta) string {
		return strconv.Itoa(len(m.Skipped))
	}},
	{"X-Orrery-Truncated", "As the reason of truncated in meta; absent if the answer is complete.",
		func(m *search.Meta) string {
			if m.Truncated == nil {
				return ""
			}
			return m.Truncated.Reason
		}},
	{"X-Orrery-Saturated", "As saturated of meta, with commas: the columns of which some sums may be larger; absent if " +
		"there are none.", func(m *search.Meta) string { return strings.Join(m.Saturated, ", ") }},
	{"X-Orrery-Next", "As next of meta: the parameter cursor of the next page; absent on the last page.",
		func(m *search.Meta) string {
			if m.Next == nil || *m.Next == nil {
				return ""
			}
			return **m.Next
		}},
	{"X-Orrery-Head", "As head of meta.", func(m *search.Meta) string { return m.Head }},
	{"X-Orrery-Late", "As late of meta, or unknown if that is null; absent without since.", func(m *search.Meta) string {
		switch {
		case m.Late == nil:
			return ""
		case *m.Late == nil:
			return "unknown"
		}
		return strconv.FormatInt(**m.Late, 10)
	}},
	{"X-Orrery-Demo", "As demo of meta; absent if it is false.", func(m *search.Meta) string {
		if !m.Demo {
			return ""
		}
		return "true"
	}},
	{"X-Orrery-Num-Of-Requests", "As num_of_requests of meta.", func(m *search.Meta) string {
		if m.NumOfRequests == nil {
			return ""
		}
		return strconv.FormatInt(*m.NumOfRequests, 10)
	}},
	{"X-Orrery-Exact", "As exact of meta.", func(m *search.Meta) string {
		if m.Exact == nil {
			return ""
		}
		return strconv.FormatBool(*m.Exact)
	}},
	{"X-Orrery-Percentiles-Error", "The error of percentiles in meta, as 0.01; absent if they were not asked for.",
		func(m *search.Meta) string {
			if m.Percentiles == nil {
				return ""
			}
			return strconv.FormatFloat(m.Percentiles.Error, 'f', -1, 64)
		}},
	{"X-Orrery-Cached-Age", "The age of cached in meta, in seconds, at most; absent if no earlier answer was reused.",
		func(m *search.Meta) string {
			if m.Cached == nil {
				return ""
			}
			return strconv.FormatInt(m.Cached.AgeSeconds, 10)
		}},
	{"X-Orrery-Bytes-Scanned", "As bytes_scanned of meta.", func(m *search.Meta) string {
		return strconv.FormatInt(m.BytesScanned, 10)
	}},
	{"X-Orrery-Cost-USD", "As cost_usd of meta; absent if the engine charges nothing.", func(m *search.Meta) string {
		if m.CostUSD == nil {
			return ""
		}
		return dollars(*m.CostUSD)
	}},
	{"X-Orrery-Estimated-Bytes", "The bytes of estimate in meta, as 4096-8192; absent if they were not known.",
		func(m *search.Meta) string {
			if m.Estimate == nil || m.Estimate.Bytes == nil {
				return ""
			}
			return fmt.Sprintf("%d-%d", m.Estimate.Bytes.Low, m.Estimate.Bytes.High)
		}},
	{"X-Orrery-Estimated-Cost-USD", "The cost_usd of estimate in meta, as 0.00005-0.0001; absent if it was not known, " +
		"or the engine charges nothing.", func(m *search.Meta) string {
		if m.Estimate == nil || m.Estimate.CostUSD == nil {
			return ""
		}
		return dollars(m.Estimate.CostUSD.Low) + "-" + dollars(m.Estimate.CostUSD.High)
	}},
}

// documented returns the media types other than JSON of a route that offers these media types, and the docs of the headers
// that only such answers have.
func documented(offers []string) (texts []string, headers map[string]string) {
	for _, mediaType := range []string{csvType, ndjsonType} {
		if slices.Contains(offers, mediaType) {
			texts = append(texts, mediaType)
		}
	}
	headers = map[string]string{"Content-Disposition": "Name of a file to save the answer in. Not with JSON."}
	for _, one := range metaHeaders {
		headers[one.name] = one.doc + " Not with JSON."
	}
	return texts, headers
}

// dollars prints a price without an exponent.
func dollars(price float64) string { return strconv.FormatFloat(price, 'f', -1, 64) }

// describeForm sets the headers of an answer that has no meta in its body.
func describeForm(h http.Header, f form, to search.Route, meta search.Meta) {
	if f.mediaType == jsonType {
		return
	}
	for _, one := range metaHeaders {
		if value := one.value(&meta); value != "" {
			h.Set(one.name, value)
		}
	}
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", fileName(f, to, meta)))
}

// fileName returns the name under which a browser saves an answer. It shows when records are missing.
func fileName(f form, to search.Route, meta search.Meta) string {
	name := fmt.Sprintf("orrery-%s-%s", to, periodName(meta.Period))
	if len(meta.Skipped) > 0 || meta.Truncated != nil && meta.Truncated.Reason == "bytes" {
		name += "-incomplete"
	}
	if f.mediaType == ndjsonType {
		return name + ".ndjson"
	}
	return name + ".csv"
}

// periodName returns a period as 20260101T2000-2200, or with both days if they differ.
func periodName(p search.MetaPeriod) string {
	from, to := minuteOf(p.From), minuteOf(p.To)
	if from[:8] == to[:8] {
		to = to[9:]
	}
	return from + "-" + to
}

func minuteOf(instant string) string {
	t, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		panic("api: the period of an answer: " + err.Error()) // package search has printed it
	}
	return t.Format("20060102T1504")
}
