package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
)

// TestRunProduct measures the product with little data, so that every test run compares its answers with the SQL.
func TestRunProduct(t *testing.T) {
	o := Options{
		Dir: t.TempDir(), Records: 2_000, Runs: 1, Days: 2, Week: 1, Clients: len(mix()), Duration: time.Millisecond,
		Filters: 8, Open: openProduct,
	}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	checkReport(t, r)
	if n := r.Neighbour; n.Filters != 8 || n.Answers < 4 || len(n.Statuses) == 0 || n.P99 < n.P50 || n.P50 <= 0 {
		t.Errorf("beside large filters: %+v", n)
	}
	if w := r.Week; w.Records != 2_000 || w.Bytes < 10_000 || w.Seconds <= 0 || w.Days != 2 || w.Timeline.Min <= 0 {
		t.Errorf("report about the week: %+v", w)
	}
	checkRolledUp(t, r.Week, 3)
	for _, c := range []Compacted{r.Import.Hour, r.Week.RollUp} {
		if c.Records < 1_000 || c.CPUSeconds <= 0 {
			t.Errorf("compaction and rollups: %+v", c)
		}
	}
	for _, a := range r.Tried {
		if a.Ms <= 0 || a.TopX <= 0 {
			t.Errorf("tried: %+v", a)
		}
	}
	if len(r.Tried) != len(triedRules) {
		t.Errorf("%d rules were tried, want %d", len(r.Tried), len(triedRules))
	}
	for _, a := range r.Week.Again {
		if a.First <= 0 || a.Later <= 0 {
			t.Errorf("asked again: %+v", a)
		}
	}
	if n := len(againQuestions) * len(againFilters); len(r.Week.Again) != n {
		t.Errorf("%d questions were asked again, want %d", len(r.Week.Again), n)
	}
	for _, q := range r.Questions {
		if q.BytesScanned == 0 || q.Engine.Min <= 0 || q.Overhead.Min <= 0 {
			t.Errorf("%s: %d bytes scanned, engine %v, overhead %v", q.Name, q.BytesScanned, q.Engine, q.Overhead)
		}
		if e := q.Estimated; e == nil || q.BytesScanned < e.Low || q.BytesScanned > e.High {
			t.Errorf("%s: %d bytes scanned, estimated %+v", q.Name, q.BytesScanned, e)
		}
	}
}

// TestYear: answers about the year are those about the week that it repeats, as many times.
func TestYear(t *testing.T) {
	o := Options{
		Dir: t.TempDir(), Records: 400, Runs: 1, Days: 8, Weeks: 3, Progress: io.Discard, Open: openProduct,
	}.withDefaults()
	if err := inTemporaryFolder(o, func(temp string) error {
		return makeFullDays(t.Context(), o, temp, &Import{})
	}); err != nil {
		t.Fatal(err)
	}
	w, err := measureFullDays(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	checkRolledUp(t, w, 4)
	if err := (Report{Week: w}).Err(); err != nil {
		t.Error(err)
	}
	for _, folder := range []string{"full/" + local.RollupsFolder, ".making-*"} {
		if left, err := filepath.Glob(filepath.Join(o.Dir, folder)); err != nil || len(left) > 0 {
			t.Errorf("left: %q, %v", left, err)
		}
	}
}

// checkRolledUp checks that the questions were asked about so many periods.
func checkRolledUp(t *testing.T, w WeekReport, periods int) {
	t.Helper()
	for _, q := range w.RolledUp {
		if q.Ms <= 0 || q.GoalMs <= 0 {
			t.Errorf("of rolled up days: %+v", q)
		}
	}
	if want := periods * len(rolledUpQuestions); len(w.RolledUp) != want {
		t.Errorf("%d questions were asked about rolled up days, want %d", len(w.RolledUp), want)
	}
}

// TestRunRemote asks about the full days as a function does. It reads few objects of days that are rolled up.
func TestRunRemote(t *testing.T) {
	o := Options{Dir: t.TempDir(), Records: 2_000, Runs: 1, Days: 2, Week: 1, Progress: io.Discard, Open: openProduct}
	var table strings.Builder
	if err := RunRemote(t.Context(), o, Network{BytesPerSecond: 1e12}, &table); err != nil {
		t.Fatal(err)
	}
	_, full, _ := strings.Cut(table.String(), "4000 records in 48 objects")
	for _, g := range rolledUpGoals {
		if !strings.Contains(full, g.name+" ") {
			t.Errorf("%s about the full days is missing:\n%s", g.name, &table)
		}
	}
	if _, stats, _ := strings.Cut(full, "stats "); !strings.Contains(stats, "(49, ") { // footers and columns of 24 objects, a rollup
		t.Errorf("stats did not read the objects of the last day alone:\n%s", &table)
	}
}

// exportBy exports by the answers of the API in CSV, page after page.
func exportBy(h http.Handler) func(ctx context.Context, filter string, w io.Writer) error {
	return func(ctx context.Context, filter string, w io.Writer) error {
		for cursor, page := "", 0; cursor != "" || page == 0; page++ {
			parameters := newRequest("logs", filter, "limit", "1500", "format", "csv").parameters
			if cursor != "" {
				parameters.Set("cursor", cursor)
			}
			answer := httptest.NewRecorder()
			target := "http://localhost/api/v4.0/data/logs?" + parameters.Encode()
			h.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, target, nil))
			if answer.Code != http.StatusOK {
				return fmt.Errorf("status %d: %s", answer.Code, answer.Body)
			}
			text := answer.Body.Bytes()
			if page > 0 {
				_, text, _ = bytes.Cut(text, []byte("\n"))
			}
			if _, err := w.Write(text); err != nil {
				return err
			}
			cursor = answer.Header().Get("X-Orrery-Next")
		}
		return nil
	}
}

// reportBy makes a report by the API.
func reportBy(dir string) func(ctx context.Context, filter string, w io.Writer) error {
	return func(ctx context.Context, filter string, w io.Writer) (err error) {
		p, err := local.Open(ctx, dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		handler, err := p.Handler(local.ServeOptions{Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		answer := httptest.NewRecorder()
		target := "http://localhost/api/v4.0/data/report?" + newRequest("report", filter).parameters.Encode()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, target, nil))
		if answer.Code != http.StatusOK {
			return fmt.Errorf("status %d: %.500s", answer.Code, answer.Body)
		}
		_, err = w.Write(answer.Body.Bytes())
		return err
	}
}

func openProduct(ctx context.Context, dir string) (Product, error) {
	p, err := local.Open(ctx, dir)
	if err != nil {
		return Product{}, err
	}
	handler, err := p.Handler(local.ServeOptions{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return Product{}, errors.Join(err, p.Close())
	}
	known, err := local.OpenKeys(ctx, dir)
	if err != nil {
		return Product{}, errors.Join(err, p.Close())
	}
	return Product{
		HandlerFor: func(key string) (http.Handler, error) {
			access := &local.Access{Address: "127.0.0.1:0", APIKey: key, Keys: known}
			return p.Handler(local.ServeOptions{Access: access, Log: slog.New(slog.DiscardHandler)})
		},
		Report: reportBy(dir),
		Import: func(ctx context.Context, name, format string, r io.Reader) error {
			_, err := p.Store.Import(ctx, name, r, ingest.Options{Format: format})
			return err
		},
		Compact: func(ctx context.Context) (int64, error) {
			report, err := p.Store.Compact(ctx, datadir.CompactOptions{})
			return report.Rows, err
		},
		Export:  exportBy(handler),
		Index:   p.Store.Index(),
		Handler: handler,
		Forget:  p.Forget,
		RollUp: func(ctx context.Context) (int64, error) {
			report, err := p.RollUp(ctx, nil)
			return report.Records, err
		},
		RollupsFolder: local.RollupsFolder,
		Close:         func() error { return errors.Join(known.Close(), p.Close()) },
	}, nil
}
