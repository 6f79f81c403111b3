package watch

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/ingest"
)

// TestTidierAsksBeforeLargeRemovals: a server removes a large part of the records only after a user has confirmed it,
// and asks once.
func TestTidierAsksBeforeLargeRemovals(t *testing.T) {
	product, err := local.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := product.Close(); err != nil {
			t.Error(err)
		}
	})
	var text strings.Builder
	for _, days := range []int{50, 40, 2, 1} {
		at := time.Now().UTC().AddDate(0, 0, -days).Format(time.RFC3339)
		fmt.Fprintf(&text, `{"processing_stage":6,"timestamp":%q,"host":"shop.example","path":"/"}`+"\n", at)
	}
	log := strings.NewReader(text.String())
	if _, err := product.Store.Import(t.Context(), "a.log", log, ingest.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := product.RollUp(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	keep := 30 * 24 * time.Hour
	var out bytes.Buffer
	tidier := NewTidier(product, &keep, slog.New(slog.NewJSONHandler(&out, nil)))
	runs := func(records int64, want string) {
		t.Helper()
		out.Reset()
		tidier.expire(t.Context())
		extent, err := product.Store.Index().Extent(t.Context())
		if err != nil || extent.Rows != records || !strings.Contains(out.String(), want) || want == "" && out.Len() > 0 {
			t.Errorf("%d records, %v, logged %q", extent.Rows, err, out.String())
		}
	}
	runs(4, `"keep":"30d","hours":2,"records":2,"of":4,`)
	runs(4, "")
	if _, err := product.Store.Expire(t.Context(), 45*24*time.Hour, true); err != nil {
		t.Fatal(err)
	}
	runs(3, "")
	if _, err := product.Store.Expire(t.Context(), keep, true); err != nil {
		t.Fatal(err)
	}
	runs(2, "")
	NewTidier(product, nil, slog.New(slog.NewJSONHandler(&out, nil))).expire(t.Context())
	if out.Len() > 0 {
		t.Errorf("without retention: %s", out.String())
	}
}
