package api

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/record/recordtest"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/valuelist"
)

// largeRecords is an engine whose records have 32 kB each.
type largeRecords struct {
	oracle
	found []*lake.Row
}

func newLargeRecords(t testing.TB, count int) *largeRecords {
	t.Helper()
	e := &largeRecords{oracle: *newOracle(t), found: make([]*lake.Row, count)}
	decoder := record.NewDecoder()
	for i := range e.found {
		text := strings.Repeat(fmt.Sprint("&", i*7919), 32<<10/6)
		line := fmt.Sprintf(`{"timestamp":"2026-01-01T10:00:00Z","path":"/%d","query":"%s"}`, i, text)
		e.found[i] = &lake.Row{}
		if _, err := decoder.Decode([]byte(line), e.found[i]); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func (e *largeRecords) Run(context.Context, query.Query) (query.Answer, engine.Cost, error) {
	return query.Answer{Logs: e.found}, engine.Cost{}, nil
}

// discardWriter discards a response.
type discardWriter struct {
	header http.Header
	bytes  int
}

func (n *discardWriter) Header() http.Header { return n.header }
func (n *discardWriter) WriteHeader(int)     {}
func (n *discardWriter) Write(p []byte) (int, error) {
	n.bytes += len(p)
	return io.Discard.Write(p)
}

// TestLargeRecordsAreNotHeldTwice: an answer with 2,500 records of 32 kB, 80 MB, once allocated 660 MB, most of it for
// records that did not fit. Allocations must be bounded by the size of the answer.
func TestLargeRecordsAreNotHeldTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	searcher, err := search.New(newLargeRecords(t, 600), search.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	handler := newHandler(t, Config{
		Search: searcher, Planets: noPlanets{}, Documents: noFilters{}, Lists: noLists{}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Status: installed{},
	})
	for _, e := range []content.Coding{content.Identity, content.Gzip, content.Zstd} {
		ask := func() (allocated uint64, sent int) {
			const target = "http://localhost/api/v4.0/data/logs?limit=2500" +
				"&filters=timestamp%20between%202026-01-01%20and%202026-01-02"
			r := httptest.NewRequest("GET", target, nil)
			r.Header.Set("Accept-Encoding", string(e))
			w := &discardWriter{header: http.Header{}}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			handler.ServeHTTP(w, r)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc, w.bytes
		}
		const most = 8 * content.MaxAnswer // a buffer that grows leaves its earlier, smaller arrays behind
		allocated, sent := ask()
		for range 8 { // compressors are kept for the next answer, but not always with the race detector
			if allocated <= most {
				break
			}
			allocated, sent = ask()
		}
		if allocated > most || sent == 0 || sent > content.MaxAnswer {
			t.Errorf("%q: %d bytes allocated for %d sent", e, allocated, sent)
		}
	}
}

// BenchmarkLogsAnswer measures what an answer with a thousand ordinary records takes besides the engine.
func BenchmarkLogsAnswer(b *testing.B) {
	found := make([]*lake.Row, 1_000)
	decoder := record.NewDecoder()
	bytes := 0
	for i, line := range recordtest.Lines(len(found), time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC), time.Hour) {
		found[i] = &lake.Row{}
		if _, err := decoder.Decode(line, found[i]); err != nil {
			b.Fatal(err)
		}
		bytes += len(line)
	}
	searcher, err := search.New(&largeRecords{oracle: *newOracle(b), found: found}, search.Options{Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	handler := newHandler(b, Config{
		Search: searcher, Planets: noPlanets{}, Documents: noFilters{}, Lists: noLists{}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Status: installed{},
	})
	for _, format := range []string{"json", "csv"} {
		b.Run(format, func(b *testing.B) {
			b.SetBytes(int64(bytes))
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest("GET", "http://localhost"+logsPath+"&limit=1000&format="+format, nil)
				handler.ServeHTTP(&discardWriter{header: http.Header{}}, r)
			}
		})
	}
}

// noLists stores no lists of values.
type noLists struct{ valuelist.Objects }
