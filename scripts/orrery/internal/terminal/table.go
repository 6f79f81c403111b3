package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// NewTable returns a table of texts of a server, which Flush prints for people.
func NewTable(out io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(PrintableWriter{To: out}, 0, 0, 2, ' ', 0)
}

// WriteTable prints the columns of each JSON object, aligned. It escapes values for a terminal, see Cell.
func WriteTable(w io.Writer, columns []string, objects []json.RawMessage) error {
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
			cells[i] = Cell(members[name])
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	return tw.Flush()
}

// Number rounds a fraction to four significant digits. It returns whole numbers unchanged.
func Number(text string) string {
	if f, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") {
		return strconv.FormatFloat(f, 'g', 4, 64)
	}
	return text
}

// maxCell is the maximum number of characters of a value that a table shows.
const maxCell = 60

// Cell returns a value in the format of a table: text without quotes, status counts as 200:12. It escapes what
// Printable escapes.
func Cell(value json.RawMessage) string {
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
		text = Number(string(value))
	}
	if short := []rune(text); len(short) > maxCell {
		text = string(short[:maxCell]) + "…"
	}
	return Printable(text)
}
