package runssqlite_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

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

// TestExistingFileIsRead: a file of an earlier version is read and continued.
func TestExistingFileIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	file, err := os.ReadFile("testdata/runs.db")
	if err == nil {
		err = os.WriteFile(path, file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	rendered := runstest.New("weekly", 1)
	rendered.State, rendered.Verdict, rendered.Revision = runs.Rendered, "calm", 1
	got, err := s.Run(t.Context(), rendered.ID)
	if diff := cmp.Diff(rendered, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	files, err := s.Files(t.Context(), rendered.ID)
	if err != nil || len(files) != 2 || files[1].Name != "b.csv" || string(files[1].Content) != "1,2" {
		t.Errorf("%v, %v", files, err)
	}
	if list, err := s.Unfinished(t.Context()); err != nil || len(list) != 3 {
		t.Errorf("%v, %v", list, err)
	}
	if at, err := s.Latest(t.Context(), "prod", "weekly"); err != nil || !at.Equal(runstest.At.AddDate(0, 0, 3).Add(time.Hour)) {
		t.Errorf("%v, %v", at, err)
	}
	rendered.State = runs.Delivered
	if err := s.Update(t.Context(), rendered); err != nil {
		t.Error(err)
	}
}
