package local_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/ingest"
)

// testDay is a filter for the day of the records of the tests.
const testDay = "timestamp between 2026-01-01 and 2026-01-02"

// openProduct opens a product, and closes it after the test.
func openProduct(t *testing.T, folder string) *local.Product {
	t.Helper()
	product, err := local.Open(t.Context(), folder)
	return closeAfter(t, product, err)
}

// closeAfter closes a product, which was opened with an error or nil, after the test.
func closeAfter(t *testing.T, product *local.Product, err error) *local.Product {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := product.Close(); err != nil {
			t.Error(err)
		}
	})
	return product
}

// importLog imports a text as the log with a name.
func importLog(t *testing.T, product *local.Product, name, text string) {
	t.Helper()
	options := ingest.Options{Format: "orrery"}
	if _, err := product.Store.Import(t.Context(), name, strings.NewReader(text), options); err != nil {
		t.Fatal(err)
	}
}

// asked sends a request to the API of a product.
func asked(t *testing.T, product *local.Product, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	return send(t, handlerOf(t, product), method, path, body)
}

// handlerOf returns the handler of a product, which remembers answers.
func handlerOf(t *testing.T, product *local.Product) http.Handler {
	t.Helper()
	handler, err := product.Handler(local.ServeOptions{Log: slog.New(slog.DiscardHandler), Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// send sends a request to the API of a handler.
func send(t *testing.T, handler http.Handler, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost/api/v4.0"+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

// askedData asks a data route about the records that match a filter. The parameters begin with "&".
func askedData(t *testing.T, product *local.Product, route, filter, parameters string) *httptest.ResponseRecorder {
	t.Helper()
	path := "/data/" + route + "?filters=" + url.QueryEscape(filter) + parameters
	if route == "effect" { // its period follows from other parameters
		path = "/data/" + route + "?" + strings.TrimPrefix(parameters, "&")
	}
	return asked(t, product, http.MethodGet, path, "")
}

// metaOf returns the members of the meta of an answer.
func metaOf(t *testing.T, body []byte) map[string]json.RawMessage {
	t.Helper()
	var answer struct{ Meta map[string]json.RawMessage }
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return answer.Meta
}
