package writing

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestOwnFolderRemovesFoldersOfEndedProcesses(t *testing.T) {
	temp := t.TempDir()
	left := filepath.Join(temp, workFolders, "1")
	write(t, filepath.Join(left, markFile))
	write(t, filepath.Join(left, workFolder, "import-1", "spool"))
	mine := own(t, temp)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the folder of an ended process still exists: %v", err)
	}
	if other := own(t, temp); other == mine {
		t.Fatalf("two processes have the same folder %s", mine)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("the folder of a running process was removed: %v", err)
	}
}

func TestOwnFolderStaysLockedAfterGarbageCollection(t *testing.T) {
	temp := t.TempDir()
	mine := own(t, temp)
	for range 2 { // the first collection queues the cleanup of unreachable files, which the second waits for
		runtime.GC()
	}
	own(t, temp)
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("the folder of a running process was removed: %v", err)
	}
}

func TestOwnFolderKeepsOtherFiles(t *testing.T) {
	temp, elsewhere := t.TempDir(), t.TempDir()
	files := []string{
		filepath.Join(temp, "orrery-notes.txt"),
		filepath.Join(temp, "orrery-mydata", "planets.db"),
		filepath.Join(temp, "orrery-marked", markFile), // not in our folder
		filepath.Join(temp, workFolders, "notes.txt"),
		filepath.Join(temp, workFolders, "unmarked", "planets.db"),
		filepath.Join(temp, workFolders, "unmarked", workFolder, "planets.db"),
		filepath.Join(temp, workFolders, "a folder as mark", markFile, "planets.db"),
		filepath.Join(temp, workFolders, "a link as mark", "planets.db"),
		filepath.Join(elsewhere, markFile),
		filepath.Join(elsewhere, workFolder, "planets.db"),
	}
	for _, file := range files {
		write(t, file)
	}
	links := map[string]string{
		filepath.Join(temp, workFolders, "a link"):                   elsewhere,
		filepath.Join(temp, workFolders, "a link as mark", markFile): filepath.Join(elsewhere, markFile),
	}
	for link, target := range links {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	left := filepath.Join(temp, workFolders, "left")
	write(t, filepath.Join(left, markFile))
	if err := os.Symlink(elsewhere, filepath.Join(left, workFolder)); err != nil {
		t.Fatal(err)
	}
	own(t, temp)
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
	temp, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(temp, workFolders)); err != nil {
		t.Fatal(err)
	}
	if folder, err := ownFolder(temp); err == nil {
		t.Errorf("ownFolder followed the link to %s", folder)
	}
}

func own(t *testing.T, temp string) string {
	t.Helper()
	folder, err := ownFolder(temp)
	if err != nil {
		t.Fatal(err)
	}
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
