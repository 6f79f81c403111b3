package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/ingest/source"
)

// unreadableFolder makes a folder that cannot be read by any user, because its path is too long.
func unreadableFolder(t *testing.T, inside string) {
	t.Helper()
	root, err := os.OpenRoot(inside)
	if err == nil {
		long := strings.TrimSuffix(strings.Repeat(strings.Repeat("x", 250)+"/", 20), "/")
		err = errors.Join(root.MkdirAll(long, 0o755), root.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestPollReportsUnreadableFoldersOnce: the other files are imported, in every set of files.
func TestPollReportsUnreadableFoldersOnce(t *testing.T) {
	s, set := clocked(t, t.TempDir())
	set(60)
	w := newWatcherTest(t, s)
	other := filepath.Join(t.TempDir(), "b.log")
	listing := errors.Join(&source.UnreadableError{Path: filepath.Join(w.w.dir, "denied"), Err: fs.ErrPermission})
	w.w.Watch(Watched{List: func() ([]string, error) { return []string{other}, listing }})
	w.write("z.log", lines(0, 2))
	unreadableFolder(t, w.w.dir)
	if err := os.WriteFile(other, []byte(lines(5, 3)), 0o644); err != nil {
		t.Fatal(err)
	}
	name, err := filepath.Rel(w.w.dir, other)
	if err != nil {
		t.Fatal(err)
	}
	failed := w.after(0)
	if len(failed) != 2 || failed["denied"] != -1 {
		t.Errorf("reported %v", failed)
	}
	w.expect(SettleTime, map[string]int64{"z.log": 2, name: 3})
	if got := through(t, s); got != -1 { // nobody knows what the folders have
		t.Errorf("complete through %v", got)
	}
	listing = nil
	w.expect(time.Minute, map[string]int64{})
	listing = &source.UnreadableError{Path: filepath.Join(w.w.dir, "denied"), Err: fs.ErrPermission}
	w.expect(time.Minute, map[string]int64{"denied": -1}) // once more, because it could be read meanwhile
}

// TestPollReportsAMissingFolder: the raw directory may be removed while it is watched.
func TestPollReportsAMissingFolder(t *testing.T) {
	w := newWatcherTest(t, openStore(t, t.TempDir()))
	w.expect(0, map[string]int64{})
	if err := os.Remove(w.w.dir); err != nil {
		t.Fatal(err)
	}
	w.expect(time.Second, map[string]int64{".": -1})
	w.expect(time.Second, map[string]int64{})
	w.write("a.log", lines(0, 2)) // it is there again
	w.expect(time.Second, map[string]int64{})
	w.expect(SettleTime, map[string]int64{"a.log": 2})
	if err := os.RemoveAll(w.w.dir); err != nil {
		t.Fatal(err)
	}
	w.expect(time.Second, map[string]int64{".": -1})
}

func TestPollFollowsALinkToTheFolder(t *testing.T) {
	s, elsewhere := openStore(t, t.TempDir()), t.TempDir()
	if err := os.Symlink(elsewhere, s.RawDir()); err != nil {
		t.Skip(err)
	}
	w := newWatcherTest(t, s)
	w.write("web1/a.log", lines(0, 2))
	w.expect(0, map[string]int64{})
	want := map[string]int64{"web1/a.log": 2}
	if diff := cmp.Diff(want, w.after(SettleTime)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
