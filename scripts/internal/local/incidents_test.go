package local_test

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/gen"
)

// TestIncidentsAreKept: the same question about the same records reads nothing, and one after further records were
// imported counts them.
func TestIncidentsAreKept(t *testing.T) {
	product := openProduct(t, t.TempDir())
	handler := handlerOf(t, product)
	ask := func() (results, objects string) {
		t.Helper()
		const day = "timestamp between 2026-01-01 and 2026-01-01 23:59:59.999"
		w := send(t, handler, http.MethodGet, "/data/incidents?filters="+url.QueryEscape(day), "")
		if w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		data, _, _ := bytes.Cut(w.Body.Bytes(), []byte(`,"meta":`))
		return string(data), string(metaOf(t, w.Body.Bytes())["objects"])
	}
	put := func(name string, seed uint64) {
		t.Helper()
		from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		text, err := io.ReadAll(gen.New(gen.Options{Records: 3000, Seed: seed, From: from, To: from.AddDate(0, 0, 1)}))
		if err != nil {
			t.Fatal(err)
		}
		importLog(t, product, name, string(text))
	}
	put("first", 1)
	first, objects := ask()
	if !strings.Contains(first, `"kind":"`) || objects == "0" {
		t.Fatalf("%s objects: %s", objects, first)
	}
	if again, objects := ask(); again != first || objects != "0" {
		t.Errorf("again: %s objects: %s", objects, again)
	}
	put("second", 2)
	if more, objects := ask(); more == first || objects == "0" {
		t.Errorf("with further records: %s objects: %s", objects, more)
	}
}
