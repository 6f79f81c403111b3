package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
)

// version is the version of the format of a backup.
const version = 1

// manifestName is the name of the manifest of a backup.
const manifestName = "backup.json"

// Manifest lists the files of a backup. It is written last: a backup without it is not complete.
type Manifest struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Program string    `json:"program"` // version of the program that has made the backup
	Records int64     `json:"records"`
	// First and Imports identify the data folder, see state.history.
	First   string `json:"first_import,omitempty"`
	Imports int    `json:"imports"`
	Files   []File `json:"files"`
}

// File is a file of a backup.
type File struct {
	Path     string    `json:"path"`             // in the data folder, with slashes
	Stored   string    `json:"stored,omitempty"` // in a backup folder, unless it is there as Path
	Bytes    int64     `json:"bytes"`
	SHA256   string    `json:"sha256"`
	Modified time.Time `json:"modified"`
}

// place returns the name of the file in a backup folder.
func (f File) place() string {
	if f.Stored != "" {
		return f.Stored
	}
	return f.Path
}

// parseManifest parses the manifest of the backup at a path.
func parseManifest(path string, raw []byte) (m Manifest, err error) {
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("%s: %s is unreadable, so this is no complete backup: %w", path, manifestName, err)
	}
	if m.Version != version {
		return m, fmt.Errorf("%s has version %d, but this program reads version %d: use the program that has made it (%s)",
			path, m.Version, version, m.Program)
	}
	for _, f := range m.Files {
		if err := allowed(f.Path); err != nil {
			return m, fmt.Errorf("%s: %w", path, err)
		}
		if !filepath.IsLocal(filepath.FromSlash(f.place())) {
			return m, fmt.Errorf("%s: %q is not in the backup", path, f.place())
		}
	}
	return m, nil
}

// allowed returns an error unless a backup may have a file with that name.
func allowed(name string) error {
	top, _, _ := strings.Cut(name, "/")
	if !filepath.IsLocal(filepath.FromSlash(name)) || !slices.Contains(restored(), top) {
		return fmt.Errorf("%q is no file of a data folder", name)
	}
	return nil
}

// restored returns the names in a data folder that a backup may have.
func restored() []string {
	return slices.Concat([]string{"lake", local.Settings}, local.Folders, local.Databases)
}

// write writes a new file and its time to the disk, and returns its size and digest.
func write(ctx context.Context, path string, from io.Reader, modified time.Time) (f File, err error) {
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if f, err = copyTo(ctx, to, from); err != nil {
		return f, err
	}
	f.Modified = modified.UTC()
	if err := os.Chtimes(path, modified, modified); err != nil {
		return f, err
	}
	return f, to.Sync()
}

// copyTo copies all of a reader, and returns the size and the digest.
func copyTo(ctx context.Context, to io.Writer, from io.Reader) (f File, err error) {
	sum := sha256.New()
	f.Bytes, err = io.Copy(io.MultiWriter(to, sum), interruptible{ctx, from})
	f.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return f, err
}

// digest returns the size and the digest of a file.
func digest(ctx context.Context, path string) (f File, err error) {
	from, err := os.Open(path)
	if err != nil {
		return f, err
	}
	defer func() { _ = from.Close() }() // it was only read
	return copyTo(ctx, io.Discard, from)
}
