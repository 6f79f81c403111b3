package bench

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
)

// TestRunProduct measures the product with little data, so that every test run compares its answers with the SQL.
func TestRunProduct(t *testing.T) {
	r, err := Run(t.Context(), Options{
		Dir: t.TempDir(), Records: 2_000, Runs: 1, Clients: len(mix()), Duration: time.Millisecond, Open: openProduct,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	checkReport(t, r)
	for _, q := range r.Questions {
		if q.BytesScanned == 0 || q.Engine.Min <= 0 || q.Overhead.Min <= 0 {
			t.Errorf("%s: %d bytes scanned, engine %v, overhead %v", q.Name, q.BytesScanned, q.Engine, q.Overhead)
		}
		if q.Name == "values" {
			continue // they have no estimate
		}
		if e := q.Estimated; e == nil || q.BytesScanned < e.Low || q.BytesScanned > e.High {
			t.Errorf("%s: %d bytes scanned, estimated %+v", q.Name, q.BytesScanned, e)
		}
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
	return Product{
		Import: func(ctx context.Context, name string, r io.Reader) error {
			_, err := p.Store.Import(ctx, name, r, ingest.Options{Format: "orrery"})
			return err
		},
		Compact: func(ctx context.Context) error {
			_, err := p.Store.Compact(ctx, datadir.CompactOptions{})
			return err
		},
		Index:   p.Store.Index(),
		Handler: handler,
		Close:   p.Close,
	}, nil
}
