package local

import (
	"context"
	"testing"

	"github.com/orrery/orrery/shared/search/pending"
)

// Limiter limits the queries that run at the same time.
func (p *Product) Limiter() *pending.Limiter { return p.limiter }

// WarmedPeriods are the periods that Warm asks about.
var WarmedPeriods = warmedPeriods

// WarmBetween is Warm with other limits.
func (p *Product) WarmBetween(ctx context.Context, least, most int64) (Warmed, error) {
	return p.warm(ctx, least, most)
}

// OpenTestKeys opens the keys of a folder, and closes them after the test.
func OpenTestKeys(t *testing.T, data string) Keys {
	t.Helper()
	k, err := OpenKeys(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}
