package api

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/search"
)

// maxFilterBody is the maximum length of a body with a filter: a filter of 1 MB in which every character is escaped,
// and the other parameters.
const maxFilterBody = 2_100_000

// Container is the answer of a data route.
type Container[T any] struct {
	Data Results[T]  `json:"data"`
	Meta search.Meta `json:"meta"`
}

// Results is a list of results.
type Results[T any] struct {
	Results []T `json:"results"`
}

// formOf returns the form of a filter according to the header "syntax", or 0 if its first character decides.
func formOf(h http.Header) filter.Syntax {
	if strings.EqualFold(h.Get("Syntax"), "string_query") {
		return filter.QueryString
	}
	return 0
}

// present returns what relative times are relative to. It is the same on all routes.
func (s *server) present() time.Time {
	return search.PresentIn(s.Now(), cmp.Or(s.PresentStep, search.PresentStep))
}

func (s *server) answerData(c *call, to search.Route, args arguments) error {
	c.filters, c.formQuery = args["filters"], formQuery(args)
	as, err := c.formFor(args, c.route.offers)
	if err != nil {
		return err
	}
	if args[dryRunName] == "true" && as.mediaType != jsonType {
		return errDryForm
	}
	r := search.Request{
		Route: to, Syntax: formOf(c.r.Header), Branches: c.caller.Branches, Caller: c.callerID, Now: s.present(),
	}
	for name, value := range args {
		r.Set(name, value) // all but those of the form of the answer
	}
	if to == search.Logs {
		if c.seal, err = s.sealFor(c); err != nil {
			return err
		}
	}
	if err := c.openTokens(&r); err != nil {
		return err
	}
	if r.DryRun != "true" && s.Queries != nil && to != search.Values && prefersAsync(c.r.Header.Values("Prefer")) {
		return s.asynchronously(c, r)
	}
	result, err := s.Search.Search(c.r.Context(), r)
	if err != nil {
		return err
	}
	return sendResult(c, to, result, as)
}

// errDryForm is the error of a dry run in a form of results, which has no place for an estimate.
var errDryForm = &search.ParamError{
	Param: formatName, Message: "a dry run has no results, so its answer is JSON only", Suggestion: "format=json",
}

// sendResult sends the answer of a data route.
func sendResult(c *call, to search.Route, result search.Result, as form) error {
	c.fingerprint, c.scanned = result.Meta.Fingerprint, result.Meta.BytesScanned
	c.engine = time.Duration(result.Meta.EngineMS * float64(time.Millisecond))
	switch to {
	case search.Logs:
		return sendLogs(c, result, as)
	case search.Stats:
		shortenGroups(result.Stats)
		return sendResults(c, to, result.Stats, result.Meta, as)
	case search.Timeline:
		return sendResults(c, to, result.Timeline, result.Meta, as)
	case search.TopX:
		shortenKeys(result.TopX)
		return sendResults(c, to, result.TopX, result.Meta, as)
	case search.Facets:
		shortenValues(result.Facets)
		return sendResults(c, to, result.Facets, result.Meta, as)
	case search.Histogram:
		shortenSeries(&result)
		return sendResults(c, to, result.Histogram, result.Meta, as)
	case search.Diff:
		shortenFindings(result.Diff)
		return sendResults(c, to, result.Diff, result.Meta, as)
	case search.Values:
		shortenFound(result.Values)
		return sendResults(c, to, result.Values, result.Meta, as)
	}
	panic(fmt.Sprintf("api: no answer for route %q", to))
}

// sendLogs sends as many records as fit into an answer.
func sendLogs(c *call, result search.Result, as form) error {
	e := c.codings().best
	newLayout := func() layout { return layoutFor(as, search.Logs, result.Logs.Fields(), "") }
	body := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(body)
	body.Reset()
	found, meta := c.sealTokens(result.Logs, result.Meta)
	meta = writeLogs(body, e, newLayout, found, meta, maxAnswer)
	describeForm(c.w.Header(), as, search.Logs, meta)
	c.send(answer{status: http.StatusOK, contentType: as.mediaType, encoding: e, body: body.Bytes()})
	return nil
}

// sendResults sends all results, or returns an error if they do not fit into an answer.
func sendResults[T any](c *call, to search.Route, results []T, meta search.Meta, as form) error {
	e := c.codings().best
	body := resultsBody(e, layoutFor(as, to, nil, meta.TZ), results, meta, maxAnswer)
	if body.written > maxAnswer {
		return errAnswerTooLarge(body.written)
	}
	describeForm(c.w.Header(), as, to, meta)
	c.send(answer{status: http.StatusOK, contentType: as.mediaType, encoding: e, body: body.kept.Bytes()})
	return nil
}

// maxKey is the maximum length in characters of a topx key or of a value of facets, histograms and diffs.
const maxKey = 1024

// shortenKeys cuts keys that are too long.
func shortenKeys(results []search.TopXResult) {
	for i := range results {
		r := &results[i]
		r.Key, r.KeyTruncated = shortened(r.Key)
	}
}

// shortenValues cuts values that are too long, and leaves out their conditions.
func shortenValues(results []search.FacetResult) {
	for _, facet := range results {
		for i := range facet.Values {
			v := &facet.Values[i]
			text, isText := v.Value.(string)
			if short, cut := shortened(text); isText && cut {
				v.Value, v.ValueTruncated, v.Condition = short, true, ""
			}
		}
	}
}

// shortenFindings cuts values that are too long, and leaves out their conditions.
func shortenFindings(results []search.DiffResult) {
	for i := range results {
		r := &results[i]
		text, isText := r.Value.(string)
		if short, cut := shortened(text); isText && cut {
			r.Value, r.ValueTruncated, r.Condition, r.Excluded = short, true, "", ""
		}
	}
}

// shortenFound is shortenValues for values without facets.
func shortenFound(results []search.ValueResult) {
	for i := range results {
		v := &results[i]
		text, isText := v.Value.(string)
		if short, cut := shortened(text); isText && cut {
			v.Value, v.ValueTruncated, v.Condition = short, true, ""
		}
	}
}

// shortenGroups cuts the values of stats that are too long.
func shortenGroups(results []search.StatsResult) {
	for i := range results {
		r := &results[i]
		text, isText := r.Value.(string)
		if short, cut := shortened(text); isText && cut {
			r.Value, r.ValueTruncated = short, true
		}
	}
}

// shortenSeries cuts the names of series that are too long.
func shortenSeries(result *search.Result) {
	for i := range result.Histogram {
		r := &result.Histogram[i]
		r.Series, r.SeriesTruncated = shortName(r.Series)
	}
	for i := range result.Meta.Series {
		s := &result.Meta.Series[i]
		s.Series, s.SeriesTruncated = shortName(s.Series)
	}
}

func shortName(name *string) (_ *string, cut bool) {
	if name == nil {
		return nil, false
	}
	short, cut := shortened(*name)
	return &short, cut
}

// shortened cuts a text that has more than maxKey characters, and appends its hash.
func shortened(text string) (_ string, cut bool) {
	if len(text) <= maxKey { // bytes, of which there are at least as many as characters
		return text, false
	}
	runes := []rune(text)
	if len(runes) <= maxKey {
		return text, false
	}
	hash := fmt.Sprintf("…%x", sha256.Sum256([]byte(text)))
	return string(runes[:maxKey-len([]rune(hash))]) + hash, true
}

// Functions that read the parameters of data routes from members of a body.

// readFilters reads a filter as text or as JSON.
func readFilters(value json.RawMessage) (text, want string) {
	switch value[0] {
	case '"':
		return readText(value)
	case '{', '[':
		return string(value), ""
	}
	return "", "a string, an object or a list"
}

// readText reads a string. Bytes that are not UTF-8 stay in it, so that an error can name their place; package json would
// replace them.
func readText(value json.RawMessage) (text, want string) {
	if value[0] != '"' {
		return "", "a string"
	}
	var read strings.Builder
	for rest := value[1 : len(value)-1]; ; {
		valid := validPrefix(rest)
		var part string
		if err := json.Unmarshal(slices.Concat([]byte{'"'}, rest[:valid], []byte{'"'}), &part); err != nil {
			return "", "a string"
		}
		read.WriteString(part)
		if valid == len(rest) {
			return read.String(), ""
		}
		read.WriteByte(rest[valid])
		rest = rest[valid+1:]
	}
}

// validPrefix returns the length of the longest prefix of a text that is UTF-8.
func validPrefix(text []byte) (n int) {
	for n < len(text) {
		r, size := utf8.DecodeRune(text[n:])
		if r == utf8.RuneError && size == 1 {
			return n
		}
		n += size
	}
	return n
}

// readInteger reads an integer in any JSON notation: 10, 10.0 and 1e1 are the same. It may also be text with the digits,
// as in a query.
func readInteger(value json.RawMessage) (text, want string) {
	if digits, want := readText(value); want == "" && strings.Trim(digits, "0123456789") == "" {
		return digits, ""
	}
	var n float64
	if err := json.Unmarshal(value, &n); err != nil || value[0] == 'n' || n != math.Trunc(n) {
		return "", "an integer"
	}
	if math.Abs(n) > 1<<53 {
		return string(value), "" // too large for every parameter; the error quotes it as sent
	}
	return strconv.FormatInt(int64(n), 10), ""
}

// textOrInteger is the schema of a member that readLength or readTextOrInteger reads.
func textOrInteger(text *huma.Schema) *huma.Schema {
	stricter := *text
	stricter.MinLength = whole(1)
	return &huma.Schema{OneOf: []*huma.Schema{&stricter, {Type: "integer"}}}
}

// orDigits is the schema of a member that readInteger reads.
func orDigits(integer *huma.Schema) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{integer, {Type: "string", Pattern: "^[0-9]+$"}}}
}

// orBooleanText is the schema of a member that readBoolean reads.
func orBooleanText(boolean *huma.Schema) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{boolean, {Type: "string", Enum: []any{"true", "false"}}}}
}

// readLength reads a length of time: text, or an integer of seconds.
func readLength(value json.RawMessage) (text, want string) {
	for _, read := range []func(json.RawMessage) (string, string){readInteger, readText} {
		if text, want := read(value); want == "" {
			return text, ""
		}
	}
	return "", "a length such as \"5m\", or an integer"
}

// readTextOrInteger reads a part of a value of a field, which may be an integer.
func readTextOrInteger(value json.RawMessage) (text, want string) {
	for _, read := range []func(json.RawMessage) (string, string){readText, readInteger} {
		if text, want := read(value); want == "" {
			return text, ""
		}
	}
	return "", "a string or an integer"
}

// readBoolean reads a boolean, or its text as in a query.
func readBoolean(value json.RawMessage) (text, want string) {
	switch text := string(value); text {
	case "true", "false":
		return text, ""
	case `"true"`, `"false"`:
		return text[1 : len(text)-1], ""
	}
	return "", "a boolean"
}

// readNames reads a list of names, or text with commas as in a query.
func readNames(value json.RawMessage) (text, want string) {
	var list []json.RawMessage
	if err := json.Unmarshal(value, &list); err != nil || value[0] != '[' {
		if text, want := readText(value); want == "" {
			return text, ""
		}
		return "", "a list of strings"
	}
	names := make([]string, len(list))
	for i, name := range list {
		if names[i], want = readText(name); want != "" {
			return "", "a list of strings"
		}
	}
	return strings.Join(names, ","), ""
}
