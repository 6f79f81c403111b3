package writing

import (
	"os"
	"runtime"
	"testing"
)

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

func own(t *testing.T, temp string) string {
	t.Helper()
	folder, err := ownFolder(temp)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}
