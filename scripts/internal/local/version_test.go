package local_test

import (
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/search"
)

// TestAnswersAfterForget: an answer that is kept for its caller is not that of an equal question about other data, even
// if that data has as many records at the same times.
func TestAnswersAfterForget(t *testing.T) {
	product := openProduct(t, t.TempDir())
	source := ""
	take := func(host string) {
		t.Helper()
		log := strings.NewReader(`{"processing_stage":6,"timestamp":"2026-01-01T10:00:00Z"}` + "\n")
		options := ingest.Options{Defaults: []ingest.Default{{Field: "host", Value: host}}}
		report, err := product.Store.Import(t.Context(), "a.log", log, options)
		if err != nil {
			t.Fatal(err)
		}
		source = report.Source
	}
	question := search.Request{
		Route: search.Stats, Filters: "timestamp between 2026-01-01 and 2026-01-02", Segment: "1d", GroupBy: "host",
	}
	take("old.example")
	if _, err := product.Search.Begin(t.Context(), question); err != nil { // keeps its answer
		t.Fatal(err)
	}
	if _, err := product.Search.Search(t.Context(), question); err != nil {
		t.Fatal(err)
	}
	if _, err := product.Store.Forget(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	take("new.example")
	answer, err := product.Search.Search(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Stats) == 0 || answer.Stats[0].Value != "new.example" {
		t.Errorf("got %+v, want the host new.example", answer.Stats)
	}
}
