//go:build !noparquet

package wire

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFoldersOfEndedProcessesAreRemoved(t *testing.T) {
	temp := t.TempDir()
	left := filepath.Join(temp, folderPrefix+"left", "work")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	mine, err := ownFolder(temp)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what an ended process left is still there: %v", err)
	}
	other, err := ownFolder(temp)
	if err != nil || other == mine {
		t.Fatalf("%s %s %v", mine, other, err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("the folder of a living process was removed: %v", err)
	}
}
