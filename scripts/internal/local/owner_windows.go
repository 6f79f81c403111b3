package local

import "io/fs"

// owned returns false: the permissions of Windows are not those of Unix, and files inherit them from their folder.
func owned(fs.FileInfo) bool { return false }
