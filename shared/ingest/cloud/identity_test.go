package cloud_test

import (
	"testing"

	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/ingesttest"
)

// testLake is a world as a lake of package ingesttest.
type testLake struct {
	*world
	store *cloud.Store
}

func (l testLake) Import(t *testing.T, path string, content []byte) {
	t.Helper()
	l.put(path, string(content))
	if _, err := l.store.Import(t.Context(), cloud.Log{Key: path}); err != nil {
		t.Fatal(err)
	}
}

func (l testLake) Rows(*testing.T) map[string]int { return l.rows(l.state()) }

func TestIdentityOfLogs(t *testing.T) {
	ingesttest.Test(t, func(t *testing.T) ingesttest.Lake {
		w := newWorld(t)
		return testLake{w, w.cloud()}
	})
}
