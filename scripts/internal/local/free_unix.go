//go:build unix

package local

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// freeBytes returns how many bytes of the disk with a folder are free for this user.
func freeBytes(folder string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, fmt.Errorf("read the free space of %s: %w", folder, err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // their types differ between systems
}
