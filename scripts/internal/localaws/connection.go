package localaws

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/wholefile"
)

// Connection describes how other commands reach a running deployment. A usable deployment keeps it in a file of its
// folder.
type Connection struct {
	URL         string            `json:"url"`          // of the API, before /api/v4.0/…
	Key         string            `json:"key"`          // for the API
	AWSEndpoint string            `json:"aws_endpoint"` // of all AWS services but Athena; any credentials do
	Region      string            `json:"region"`
	Outputs     map[string]string `json:"outputs"` // of all stacks, by name, such as RawBucketName
}

// ErrNotRunning means that no usable deployment is running in a folder.
var ErrNotRunning = errors.New("no deployment is running in this folder")

// ReadConnection returns the connection of the deployment that is running in a folder. It returns ErrNotRunning if
// no deployment is running, even if one that was killed has left its file.
func ReadConnection(dir string) (Connection, error) {
	text, err := os.ReadFile(connectionFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return Connection{}, fmt.Errorf("%s: %w", dir, ErrNotRunning)
	}
	if err != nil {
		return Connection{}, fmt.Errorf("read the connection of a deployment: %w", err)
	}
	if !isLocked(dir) {
		return Connection{}, fmt.Errorf("%s: %w", dir, ErrNotRunning)
	}
	var c Connection
	if err := json.Unmarshal(text, &c); err != nil {
		return Connection{}, fmt.Errorf("read the connection in %s: %w", connectionFile(dir), err)
	}
	return c, nil
}

// isLocked reports whether a deployment has the folder.
func isLocked(dir string) bool {
	lock, err := filelock.TryAcquireExisting(lockFile(dir))
	if err != nil {
		return errors.Is(err, filelock.ErrLocked)
	}
	_ = lock.Release() // nothing was written under it
	return false
}

// writeConnection replaces the connection in the folder of a deployment. Only the user can read it.
func writeConnection(dir string, c Connection) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return wholefile.Replace(connectionFile(dir), append(text, '\n'))
}

// removeConnection removes the connection of a deployment that is ending or was killed.
func removeConnection(dir string) error {
	if err := os.Remove(connectionFile(dir)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func connectionFile(dir string) string { return filepath.Join(dir, "deployment.json") }

func lockFile(dir string) string { return filepath.Join(dir, "lock") }
