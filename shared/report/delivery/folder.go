package delivery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/wholefile"
)

const (
	folderTimeout = time.Minute
	// mostWriters is how many deliveries write to a folder at the same time. Those to a network folder whose server does
	// not answer never end.
	mostWriters = 8
)

// deliverFolder writes files into a folder.
func deliverFolder(ctx context.Context, folder string, files []runs.File) error {
	ctx, cancel := context.WithTimeout(ctx, folderTimeout)
	defer cancel()
	return writers.do(ctx, folder, func() error { return writeFolder(folder, files) })
}

// writers are the deliveries to folders of this process.
var writers = folderWriters{busy: map[string]int{}}

type folderWriters struct {
	mutex sync.Mutex
	busy  map[string]int // deliveries that have not ended
}

// do writes to a folder. If ctx ends, do returns, and the write goes on: a call to a file system cannot be cancelled.
func (w *folderWriters) do(ctx context.Context, folder string, write func() error) error {
	if !w.begin(folder) {
		return fmt.Errorf("the folder %s does not answer: %d deliveries to it have not ended", folder, mostWriters)
	}
	done := make(chan error, 1)
	go func() {
		defer w.end(folder)
		done <- write()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the folder %s does not answer: %w", folder, ctx.Err())
	}
}

func (w *folderWriters) begin(folder string) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.busy[folder] == mostWriters {
		return false
	}
	w.busy[folder]++
	return true
}

func (w *folderWriters) end(folder string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.busy[folder]--; w.busy[folder] == 0 {
		delete(w.busy, folder)
	}
}

// writeFolder writes files into a folder, each under a temporary name first. A file that is there already has the same
// contents, because its name has the run, and is replaced.
func writeFolder(folder string, files []runs.File) error {
	if err := makeFolder(folder); err != nil {
		return err
	}
	if err := removeLeftovers(folder, files); err != nil {
		return err
	}
	for _, f := range files {
		if err := wholefile.Replace(filepath.Join(folder, f.Name), f.Content); err != nil {
			return err
		}
	}
	return syncFolder(folder)
}

// makeFolder makes a folder and its parents durably.
func makeFolder(folder string) error {
	var made []string
	for path := filepath.Clean(folder); ; path = filepath.Dir(path) {
		_, err := os.Stat(path)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return err
		}
		made = append(made, path)
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	for _, path := range slices.Backward(made) {
		if err := syncFolder(filepath.Dir(path)); err != nil {
			return err
		}
	}
	return nil
}

// removeLeftovers removes the temporary files that an interrupted delivery of the same files left.
func removeLeftovers(folder string, files []runs.File) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		for _, f := range files {
			if !strings.HasPrefix(entry.Name(), wholefile.Prefix(f.Name)) || filepath.Ext(entry.Name()) != wholefile.Extension {
				continue
			}
			err := os.Remove(filepath.Join(folder, entry.Name()))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// syncFolder makes the names in a folder durable, unless its file system cannot do it for folders.
func syncFolder(folder string) error {
	if runtime.GOOS == "windows" {
		return nil // it journals renames
	}
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
