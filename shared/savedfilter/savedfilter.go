// Package savedfilter defines saved filters: filters with names, which all keys of a configuration share. Their
// versions are documents.
package savedfilter

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// Kind is the kind of the documents that hold saved filters.
const Kind document.Kind = "filter"

// DocumentOf identifies a filter.
func DocumentOf(config, name string) document.ID {
	return document.ID{Kind: Kind, Config: config, Name: name}
}

// The limits of a filter. The first two are in characters, the last one is in bytes of what is stored.
const (
	MaxTitle       = 120
	MaxDescription = 2000
	MaxBytes       = 100_000
)

// Filter is a saved filter. It is stored as JSON with these members.
type Filter struct {
	Filters     string          `json:"filters"` // the canonical query string
	JSON        json.RawMessage `json:"json"`    // the canonical JSON form
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
}

// New returns a filter in its canonical forms. It may be without a period: a question that uses the filter adds one.
// The error is a *query.FilterError with every mistake of the filter, or of kind fault.TooLarge.
func New(f filter.Filter, title, description string) (Filter, error) {
	canonical, err := query.BindConditions(f)
	if err != nil {
		return Filter{}, err
	}
	saved := Filter{
		Filters: filter.Format(canonical), JSON: json.RawMessage(filter.FormatJSON(canonical)),
		Title: title, Description: description,
	}
	if size := len(saved.Text()); size > MaxBytes {
		return Filter{}, tooLarge(size)
	}
	return saved, nil
}

// Text returns the filter as the text of a document.
func (f Filter) Text() string { return document.JSON(f) }

// Stored returns the filter of a document.
func Stored(text string) (Filter, error) {
	var f Filter
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return Filter{}, fmt.Errorf("read a saved filter: %w", err)
	}
	return f, nil
}

// With returns the text of a filter that holds where text and all saved filters hold. The period of the question is the
// first one, of text if it has a period. Text may be empty.
func With(text string, saved []Filter) string {
	asked := filter.Parse(text)
	if asked.Syntax == filter.JSON {
		return withJSON(asked, saved)
	}
	parts := make([]string, 0, 1+len(saved))
	if len(saved) == 0 || strings.TrimSpace(text) != "" {
		parts = append(parts, text)
	}
	for _, f := range saved {
		parts = append(parts, f.Filters)
	}
	return strings.Join(parts, ", ")
}

// withJSON combines JSON forms. A text with mistakes stays as it is, because the answer shows their places.
func withJSON(asked filter.Filter, saved []Filter) string {
	if len(asked.Problems) > 0 {
		return asked.Text
	}
	all := slices.Clone(asked.Conditions)
	for _, f := range saved {
		all = append(all, filter.ParseQueryString(f.Filters).Conditions...)
	}
	if at := slices.IndexFunc(all, isPeriod); at >= len(asked.Conditions) {
		period := all[at]
		all = slices.Insert(slices.Delete(all, at, at+1), 0, period) // the JSON form requires it to be the first
	}
	return filter.FormatJSON(filter.Filter{Syntax: filter.JSON, Conditions: all})
}

func isPeriod(c filter.Condition) bool {
	return c.Field.Text == "timestamp" && c.Op == filter.Between && !c.Negated
}

func tooLarge(size int) error {
	return fault.New(fault.TooLarge, "the filter would be stored as %d bytes, and the most is %d", size, MaxBytes)
}
