package writing

import (
	"path/filepath"

	"github.com/orrery/orrery/shared/filelock"
)

// workFolders is in the temporary folder: it holds one folder per process.
const workFolders = "orrery-functions"

// ownFolders holds the folders of this process until it ends. Without a reference the garbage collector would release
// their locks, and the next process would remove the folders.
var ownFolders []*filelock.Folder

// ownFolder creates a folder below temp for this process alone, and removes those of processes that have ended.
func ownFolder(temp string) (string, error) {
	folder, err := filelock.OwnFolder(filepath.Join(temp, workFolders))
	if err != nil {
		return "", err
	}
	ownFolders = append(ownFolders, folder)
	return folder.Path, nil
}
