package completionindex

import (
	"fmt"
	"sync"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// completed are further fields that people complete. They have many values, and only the commonest are listed. Values
// that may identify a person do not belong into lists, so fields with such values are not among them.
var completed = []string{
	"asn", "geo_region", "monitor_reasons", "organization", "path", `path_parts["part1"]`, "reason", "tags",
	"user_agent",
}

// Dimensions returns the fields that have lists: the fields for which the catalogue expects few values, with the
// members that it knows, and some that people complete.
var Dimensions = sync.OnceValue(func() []query.Dimension {
	var all []query.Dimension
	for _, text := range append(few(), completed...) {
		d, err := query.ParseDimensions(text)
		if err != nil {
			panic(fmt.Sprintf("completionindex: %s: %v", text, err))
		}
		all = append(all, d...)
	}
	return all
})

// few lists the fields of few values.
func few() (texts []string) {
	for _, f := range catalog.Describe() {
		if f.Values != catalog.Few || !f.Groupable {
			continue
		}
		if f.Key == nil {
			texts = append(texts, f.Name)
			continue
		}
		names := f.Key.Names
		for _, m := range f.Key.Members {
			if m.Groupable {
				names = append(names, m.Name)
			}
		}
		for _, name := range names {
			texts = append(texts, filter.MemberText(filter.QueryString, f.Name, name))
		}
	}
	return texts
}
