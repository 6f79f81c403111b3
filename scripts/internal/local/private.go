package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// others are the permissions of all users but the owner.
const others = 0o077

// watchedFolder has the files of the user, who decides about their permissions.
const watchedFolder = "raw"

// makePrivate takes all permissions on a data folder and its files from other users, because logs have cookies and
// sessions. Everything that this program creates is private. Earlier versions created folders that every user could
// read, so makePrivate changes what is in such a folder, and then the folder itself: it is the mark that all is done.
//
// Files of another owner, those of the watched folder and those that this program does not know are left as they are.
func makePrivate(folder string) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&others == 0 || !owned(info) {
		return nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !known(e.Name()) {
			continue
		}
		err := filepath.WalkDir(filepath.Join(folder, e.Name()), func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type()&fs.ModeSymlink == 0 {
				err = takeFromOthers(path)
			}
			if errors.Is(err, fs.ErrNotExist) { // another process has removed it
				return nil
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("make %s private: %w", folder, err)
		}
	}
	return takeFromOthers(folder)
}

// takeFromOthers takes the permissions of other users from a file or a folder that this user owns. A file system that
// is mounted read-only stays as it is.
func takeFromOthers(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&others == 0 || !owned(info) {
		return err
	}
	if err := os.Chmod(path, info.Mode().Perm()&^others); !errors.Is(err, syscall.EROFS) {
		return err
	}
	return nil
}

// known reports whether a name in a data folder is one that this program uses, except for the watched folder.
func known(name string) bool {
	if slices.Contains(neutral, name) {
		return name != watchedFolder
	}
	for _, mark := range marks {
		if strings.HasPrefix(name, mark) { // a database and its write-ahead log
			return true
		}
	}
	return false
}
