package local

import (
	"testing"

	"github.com/orrery/orrery/shared/search/pending"
)

// Limiter limits the queries that run at the same time.
func (p *Product) Limiter() *pending.Limiter { return p.limiter }

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
