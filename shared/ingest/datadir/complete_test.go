package datadir

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/source"
)

// through returns the time to which the data is complete, in seconds after testTime, or -1 if it is not known.
func through(t *testing.T, s *Store) float64 {
	t.Helper()
	at, err := s.CompleteThrough(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if at.IsZero() {
		return -1
	}
	return at.Sub(testTime).Seconds()
}

// clocked opens a data directory with a clock that the test sets, in seconds after testTime.
func clocked(t *testing.T, dir string) (s *Store, set func(seconds int)) {
	t.Helper()
	s = openStore(t, dir)
	set = func(seconds int) {
		now := testTime.Add(time.Duration(seconds) * time.Second)
		s.now = func() time.Time { return now }
	}
	set(0)
	return s, set
}

func TestCompleteThroughOfImports(t *testing.T) {
	t.Run("without imports it is now", func(t *testing.T) {
		s, set := clocked(t, t.TempDir())
		set(7)
		if got := through(t, s); got != 7 {
			t.Errorf("complete through %v", got)
		}
	})
	t.Run("it is not after the beginning of a running import of any process", func(t *testing.T) {
		dir := t.TempDir()
		importing, _ := clocked(t, dir)
		serving, set := clocked(t, dir)
		set(60)
		read, write := io.Pipe()
		ended := make(chan error)
		go func() {
			_, err := importing.Import(t.Context(), "pipe", read, ingest.Options{})
			ended <- err
		}()
		line := `{"processing_stage":6,"timestamp":"2026-01-02T12:00:00Z"}` + "\n"
		if _, err := io.WriteString(write, line); err != nil { // returns when the import has begun to read
			t.Fatal(err)
		}
		if got := through(t, serving); got != 0 {
			t.Errorf("during the import: complete through %v", got)
		}
		if err := write.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if got := through(t, serving); got != 60 {
			t.Errorf("after the import: complete through %v", got)
		}
		if left, err := os.ReadDir(serving.runningDir()); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
	t.Run("an import that fails does not count", func(t *testing.T) {
		s, set := clocked(t, t.TempDir())
		if _, err := s.Import(t.Context(), "a", strings.NewReader("no log at all\n"), ingest.Options{}); err == nil {
			t.Fatal("the import succeeds")
		}
		set(60)
		if got := through(t, s); got != 60 {
			t.Errorf("complete through %v", got)
		}
	})
	t.Run("an import of a dead process does not count, and the next Open removes its lock", func(t *testing.T) {
		dir := t.TempDir()
		s, set := clocked(t, dir)
		end, err := s.announce(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		set(60)
		if got := through(t, s); got != 0 {
			t.Errorf("while it runs: complete through %v", got)
		}
		openStore(t, dir)
		if got := through(t, s); got != 0 {
			t.Errorf("after another Open: complete through %v", got)
		}
		left, err := os.ReadDir(s.runningDir())
		if err != nil || len(left) != 1 {
			t.Fatal(left, err)
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		lock, err := filelock.TryAcquire(filepath.Join(s.runningDir(), left[0].Name())) // as a dead process leaves it
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
		if got := through(t, s); got != 60 {
			t.Errorf("after its end: complete through %v", got)
		}
		openStore(t, dir)
		if left, err := os.ReadDir(s.runningDir()); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
}

func TestCompleteThroughOfAWatchedFolder(t *testing.T) {
	type step struct {
		name  string
		write string // content of the file that is written before the poll; "": none
		wait  int    // seconds until the poll
		want  float64
	}
	const line, more = `{"processing_stage":6,"timestamp":"2026-01-02T12:00:00Z"}` +
		"\n", `{"processing_stage":6,"timestamp":"2026-01-02T12:00:01Z"}` + "\n"
	run := func(t *testing.T, steps []step) {
		t.Helper()
		s, set := clocked(t, t.TempDir())
		w := newWatcherTest(t, s)
		set(1000)
		if got := through(t, s); got != -1 {
			t.Errorf("before the first poll: complete through %v", got)
		}
		for _, step := range steps {
			if step.write != "" {
				w.write("a.log", step.write)
			}
			w.after(time.Duration(step.wait) * time.Second)
			if got := through(t, s); got != step.want {
				t.Errorf("%s: complete through %v, want %v", step.name, got, step.want)
			}
		}
	}
	t.Run("a new file holds it back until it is imported", func(t *testing.T) {
		run(t, []step{
			{"an empty folder", "", 10, 10},
			{"a file that the latest poll has not seen", line, 1, 10},
			{"it settles", "", 1, 10},
			{"it is imported", "", 1, 13},
			{"nothing new", "", 5, 18},
		})
	})
	t.Run("a growing file holds it back from the first change on", func(t *testing.T) {
		run(t, []step{
			{"an empty folder", "", 10, 10},
			{"a file", line, 1, 10},
			{"the file has grown", line + more, 1, 10},
			{"it settles", "", 1, 10},
			{"it is imported", "", 1, 14},
		})
	})
	t.Run("a file from before the first poll counts from its last change on", func(t *testing.T) {
		run(t, []step{
			{"a file", line, 5, 0},
			{"it is imported", "", 2, 7},
		})
	})
	t.Run("a refused file does not count", func(t *testing.T) {
		run(t, []step{
			{"an empty folder", "", 10, 10},
			{"a file", "no log at all\n", 1, 10},
			{"it is refused", "", 2, 13},
		})
	})
}

// TestCompleteThroughOfAnUnreadableFolder: while a watched folder cannot be read, nobody knows of the logs that are put
// there.
func TestCompleteThroughOfAnUnreadableFolder(t *testing.T) {
	s, set := clocked(t, t.TempDir())
	set(1000)
	w := newWatcherTest(t, s)
	var unreadable error
	w.w.Watch(Watched{List: func() ([]string, error) { return nil, unreadable }})
	denied := &source.UnreadableError{Path: filepath.Join(w.w.dir, "logs"), Err: fs.ErrPermission}
	for _, step := range []struct {
		unreadable error
		want       float64
	}{{denied, -1}, {nil, 2}, {nil, 3}, {denied, 3}, {denied, 3}, {nil, 6}} {
		unreadable = step.unreadable
		w.after(time.Second)
		if got := through(t, s); got != step.want {
			t.Errorf("after %v: complete through %v, want %v", w.now.Sub(testTime), got, step.want)
		}
	}
}
