package filelock

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOwnFolderRemovesFoldersOfEndedProcesses(t *testing.T) {
	all := t.TempDir()
	left := filepath.Join(all, "1")
	write(t, filepath.Join(left, markFile))
	write(t, filepath.Join(left, workFolder, "import-1", "spool"))
	mine := own(t, all)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the folder of an ended process still exists: %v", err)
	}
	if other := own(t, all); other.Path == mine.Path {
		t.Fatalf("two processes have the same folder %s", mine.Path)
	}
	if _, err := os.Stat(mine.Path); err != nil {
		t.Errorf("the folder of a running process was removed: %v", err)
	}
}

func TestRemoveLeavesTheFoldersOfOthers(t *testing.T) {
	all := filepath.Join(t.TempDir(), "all")
	mine, other := own(t, all), own(t, all)
	write(t, filepath.Join(mine.Path, "1", "spool"))
	if err := mine.Remove(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(all)
	if err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(other.whole) {
		t.Errorf("%v, %v are left", entries, err)
	}
}

func TestOwnFolderKeepsOtherFiles(t *testing.T) {
	all, elsewhere := t.TempDir(), t.TempDir()
	files := []string{
		filepath.Join(all, "notes.txt"),
		filepath.Join(all, "unmarked", "planets.db"),
		filepath.Join(all, "unmarked", workFolder, "planets.db"),
		filepath.Join(all, "a folder as mark", markFile, "planets.db"),
		filepath.Join(all, "a link as mark", "planets.db"),
		filepath.Join(elsewhere, markFile),
		filepath.Join(elsewhere, workFolder, "planets.db"),
	}
	for _, file := range files {
		write(t, file)
	}
	links := map[string]string{
		filepath.Join(all, "a link"):                   elsewhere,
		filepath.Join(all, "a link as mark", markFile): filepath.Join(elsewhere, markFile),
	}
	for link, target := range links {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	left := filepath.Join(all, "left")
	write(t, filepath.Join(left, markFile))
	if err := os.Symlink(elsewhere, filepath.Join(left, workFolder)); err != nil {
		t.Fatal(err)
	}
	own(t, all)
	for _, file := range files {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(left); !os.IsNotExist(err) {
		t.Errorf("the folder of an ended process still exists: %v", err)
	}
}

func TestOwnFolderRefusesSymbolicLink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if folder, err := OwnFolder(link); err == nil {
		t.Errorf("OwnFolder followed the link to %s", folder.Path)
	}
}

// own creates a folder with OwnFolder, and keeps it locked until the test ends.
func own(t *testing.T, all string) *Folder {
	t.Helper()
	folder, err := OwnFolder(all)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.lock.Release() }) // it may be released already
	return folder
}

// write creates an empty file and its folders.
func write(t *testing.T, file string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
