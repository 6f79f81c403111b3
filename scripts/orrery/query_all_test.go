package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/answers"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
)

// interrupting is a writer that cancels a context at the first write.
type interrupting struct {
	bytes.Buffer
	cancel context.CancelFunc
}

func (w *interrupting) Write(b []byte) (int, error) {
	w.cancel()
	return w.Buffer.Write(b)
}

func TestQueryAllPrintsEveryRecord(t *testing.T) {
	const records = 6_000 // three pages
	data := filepath.Join(t.TempDir(), "data")
	command := func(ctx context.Context, args ...string) (stdout, stderr string, code int) {
		t.Helper()
		var out, errs bytes.Buffer
		code = run(ctx, args, terminal.Console{In: strings.NewReader(""), Out: &out, Err: &errs})
		return out.String(), errs.String(), code
	}
	_, stderr, code := command(t.Context(), "generate", "--records", "6000", "--data", data,
		"--from", "2026-01-01", "--to", "2026-01-02")
	if code != exit.Done {
		t.Fatal(stderr)
	}
	query := []string{"query", "logs", tourDay, "--data", data, "--fields", "timestamp,request_id"}
	all := append(slices.Clone(query), "--all")
	lines, stderr, code := command(t.Context(), append(all, "--format", "ndjson")...)
	if code != exit.Done || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	list := strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
	t.Run("each once, newest first", func(t *testing.T) {
		if !slices.IsSortedFunc(list, func(a, b string) int { return strings.Compare(b[:30], a[:30]) }) {
			t.Error("the records are not in the order of time")
		}
		slices.Sort(list)
		if n := len(slices.Compact(list)); n != records {
			t.Errorf("%d different records are printed, want %d", n, records)
		}
	})
	t.Run("as one answer of the API", func(t *testing.T) {
		stdout, _, _ := command(t.Context(), append(all, "--format", "json")...)
		var got answers.Answer
		if err := json.Unmarshal([]byte(stdout), &got); err != nil {
			t.Fatal(err)
		}
		var printed strings.Builder
		for _, record := range got.Data.Results {
			printed.Write(append(record, '\n'))
		}
		if printed.String() != lines || got.Meta.Next != nil || got.Meta.Period.From == "" {
			t.Errorf("%d records, meta %+v", len(got.Data.Results), got.Meta)
		}
	})
	t.Run("as the pages of the API, byte by byte", func(t *testing.T) {
		pages, server := recordsOfAPI(t, data)
		for _, target := range [][]string{{"--data", data}, {"--url", server}} {
			args := append([]string{"query", "logs", tourDay, "--all", "--format", "csv"}, target...)
			if got, stderr, code := command(t.Context(), args...); code != exit.Done || got != pages {
				t.Errorf("%s: exit code %d, %d bytes, the pages have %d: %s", target[0], code, len(got), len(pages), stderr)
			}
		}
	})
	t.Run("as an empty answer if none match", func(t *testing.T) {
		args := []string{"query", "logs", tourDay + ", status=999", "--data", data, "--all", "--format", "json"}
		stdout, stderr, code := command(t.Context(), args...)
		if code != exit.Done || !strings.HasPrefix(stdout, `{"data":{"results":[]},"meta":{`) {
			t.Errorf("exit code %d: %s%s", code, stdout, stderr)
		}
	})
	t.Run("in two parts after an interruption", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		first, errs := &interrupting{cancel: cancel}, bytes.Buffer{}
		code := run(ctx, all, terminal.Console{In: strings.NewReader(""), Out: first, Err: &errs})
		token := regexp.MustCompile(`interrupted; (\d+) records are printed; .* --cursor (\S+) `)
		found := token.FindStringSubmatch(errs.String())
		if code != exit.Interrupted || found == nil {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
		rest, stderr, code := command(t.Context(), append(all, "--cursor", found[2])...)
		if code != exit.Done || first.Len() == 0 || first.String()+rest != lines {
			t.Errorf("exit code %d: %d and %d of %d bytes: %s", code, first.Len(), len(rest), len(lines), stderr)
		}
	})
	t.Run("not in forms that need all at once", func(t *testing.T) {
		for _, wrong := range [][]string{
			append(slices.Clone(all), "--format", "table"),
			append(slices.Clone(all), "--limit", "5"),
			{"query", "stats", tourDay, "--data", data, "--all"},
		} {
			if _, stderr, code := command(t.Context(), wrong...); code != exit.Usage || !strings.Contains(stderr, "--all") {
				t.Errorf("%q: exit code %d: %s", wrong, code, stderr)
			}
		}
	})
	t.Run("a mistake of the filter is drawn", func(t *testing.T) {
		_, stderr, code := command(t.Context(), "query", "logs", "hots=1, "+tourDay, "--data", data, "--all")
		if code != exit.Failed || !strings.Contains(stderr, "corrected: host=1") {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	})
}

// served serves a folder until the test ends.
func served(t *testing.T, data string) (*local.Product, *httptest.Server) {
	t.Helper()
	product, err := local.Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := product.Close(); err != nil {
			t.Error(err)
		}
	})
	handler, err := product.Handler(local.ServeOptions{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close) // before the product is closed
	return product, server
}

// recordsOfAPI serves a folder, and returns all pages of its records of a day in CSV, without the heads of the later
// ones, and the URL of the server.
func recordsOfAPI(t *testing.T, data string) (pages, address string) {
	t.Helper()
	_, server := served(t, data)
	for cursor := ""; ; {
		response, err := http.Get(server.URL + "/api/v4.0/data/logs?format=csv&limit=700&filters=" +
			url.QueryEscape(tourDay) + cursor)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s %v %s", response.Status, err, page)
		}
		head, rows, _ := strings.Cut(string(page), "\r\n")
		if pages == "" {
			pages = head + "\r\n"
		}
		pages += rows
		next := response.Header.Get("X-Orrery-Next")
		if next == "" {
			return pages, server.URL
		}
		cursor = "&cursor=" + url.QueryEscape(next)
	}
}
