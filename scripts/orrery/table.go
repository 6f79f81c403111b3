package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
)

// tableColumns lists the members that a table shows by default, by route.
var tableColumns = map[string][]string{
	"logs":  {"timestamp", "ip", "method", "host", "path", "status", "result", "reason"},
	"stats": {"timeperiod_string", "hostname", "num_of_requests", "sum_of_bandwidth", "avg_latency"},
	"timeline": {
		"timeperiod_string", "num_of_requests", "num_of_blocked_requests", "num_of_challenges", "num_of_ip",
		"num_of_sessions", "array_status_codes",
	},
	"facets":    {"by", "value", "num_of_requests", "num_of_blocked_requests", "share"},
	"histogram": {"timeperiod_string", "series", "value", "bar"},
	"diff":      {"by", "value", "selected", "baseline", "score", "share_of_selected", "share_of_baseline"},
	valuesRoute: {"value", "condition"},
	"topx": {
		"label", "key", "num_of_blocked_requests", "num_of_requests", "num_of_human_requests", "avg_total_time",
		"first_geo_country",
	},
}

// tableRows make the rows of a table from the results of a route, where these are not rows already.
var tableRows = map[string]func(results []json.RawMessage) ([]json.RawMessage, error){
	"facets":    facetRows,
	"histogram": histogramRows,
	"diff":      diffRows,
}

// writeTable prints the columns of each JSON object, aligned. It escapes values for a terminal, see cell.
func writeTable(w io.Writer, columns []string, objects []json.RawMessage) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	heads := make([]string, len(columns))
	for i, name := range columns {
		heads[i] = strings.TrimPrefix(name, "num_of_")
	}
	fmt.Fprintln(tw, strings.Join(heads, "\t"))
	for _, object := range objects {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(object, &members); err != nil {
			return fmt.Errorf("a result is not an object: %w", err)
		}
		cells := make([]string, len(columns))
		for i, name := range columns {
			cells[i] = cell(members[name])
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	return tw.Flush()
}

// number rounds a fraction to four significant digits. It returns whole numbers unchanged.
func number(text string) string {
	if f, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") {
		return strconv.FormatFloat(f, 'g', 4, 64)
	}
	return text
}

// maxCell is the maximum number of characters of a value that a table shows.
const maxCell = 60

// cell returns a value in the format of a table: text without quotes, status counts as 200:12. It escapes what printable
// escapes.
func cell(value json.RawMessage) string {
	var text string
	var counts []struct {
		Key   string
		Value int64
	}
	switch {
	case len(value) == 0 || string(value) == "null":
		return "-"
	case value[0] == '"' && json.Unmarshal(value, &text) == nil:
	case value[0] == '[' && json.Unmarshal(value, &counts) == nil:
		parts := make([]string, len(counts))
		for i, c := range counts {
			parts[i] = fmt.Sprintf("%s:%d", c.Key, c.Value)
		}
		text = strings.Join(parts, " ")
	default:
		text = number(string(value))
	}
	if short := []rune(text); len(short) > maxCell {
		text = string(short[:maxCell]) + "…"
	}
	return printable(text)
}

// shown returns where an answer goes: to out as it is, so that programs read it exactly, but printable if out is a
// terminal.
func (c console) shown() io.Writer {
	if isTerminal(c.out) {
		return printableWriter{c.out}
	}
	return c.out
}

// printableWriter writes texts printable, which may have several lines. Each call writes whole characters and line ends.
type printableWriter struct{ to io.Writer }

func (w printableWriter) Write(text []byte) (int, error) {
	lines := strings.ReplaceAll(string(text), "\r\n", "\n") // CSV has these line ends
	if _, err := io.WriteString(w.to, printable(lines, '\n', '\t')); err != nil {
		return 0, err
	}
	return len(text), nil
}

// newTable returns a table of texts of a server, which Flush prints for people.
func newTable(out io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(printableWriter{out}, 0, 0, 2, ' ', 0)
}

// printable escapes the control and direction characters of a text, which could rewrite the terminal's lines, except those
// in keep.
func printable(text string, keep ...rune) string {
	var b strings.Builder
	for _, r := range text {
		if slices.Contains(keep, r) || unicode.IsGraphic(r) && !unicode.Is(unicode.Bidi_Control, r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}
