package ingest

import (
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/lake"
)

// TestEssentials: a record without any of them lacks all, and each of these members is one of them.
func TestEssentials(t *testing.T) {
	text, status := "x", int64(200)
	all := []string{"address", "method", "host", "path", "status"}
	for has, rows := range map[string][]lake.Row{
		"":        {{Country: &text}},
		"address": {{IP: &text}},
		"method":  {{Method: &text}},
		"host":    {{Host: &text}, {Hostname: &text}},
		"path":    {{Path: &text}, {URL: &text}},
		"status":  {{Status: &status}},
	} {
		want := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name == has })
		for _, row := range rows {
			var set essentialSet
			set.add(&row)
			if got := set.absent(); !slices.Equal(got, want) {
				t.Errorf("with %s of %+v: %q is absent, want %q", has, row, got, want)
			}
		}
	}
}
