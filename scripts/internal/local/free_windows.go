package local

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// freeBytes returns how many bytes of the disk with a folder are free for this user.
func freeBytes(folder string) (int64, error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, fmt.Errorf("read the free space of %s: %w", folder, err)
	}
	return int64(free), nil
}
