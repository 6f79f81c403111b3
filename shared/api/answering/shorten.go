package answering

import (
	"crypto/sha256"
	"fmt"

	"github.com/orrery/orrery/shared/search"
)

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
	if len(text) <= maxKey { // a text has at least as many bytes as characters
		return text, false
	}
	runes := []rune(text)
	if len(runes) <= maxKey {
		return text, false
	}
	hash := fmt.Sprintf("…%x", sha256.Sum256([]byte(text)))
	return string(runes[:maxKey-len([]rune(hash))]) + hash, true
}
