package runssqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/runs/runssqlite"
	"github.com/orrery/orrery/shared/report/runs/runstest"
)

func open(t *testing.T, path string) *runssqlite.Store {
	t.Helper()
	s, err := runssqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	runstest.Run(t, func(t *testing.T) runs.Store { return open(t, filepath.Join(t.TempDir(), "runs.db")) })
}

func TestRunsAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	r := runstest.New("weekly", 0)
	if err := open(t, path).Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, path).Run(t.Context(), r.ID)
	if diff := cmp.Diff(r, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
