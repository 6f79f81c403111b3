package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const planetsFile = "planets.db"

// Entries of a data folder. The databases and the manifests mark one. The other names are also those of ordinary
// folders, or of a data folder that has only been prepared: they neither mark a data folder nor rule one out.
var (
	marks    = []string{"ledger.db", planetsFile, keysFile, filepath.Join("lake", "manifests")}
	unmarked = []string{"lake", "raw", "locks", "quarantine", "spill", "bench"}
)

// ErrNoData is the failure of HoldsData for a folder that can become a data folder: it is absent, or as good as empty.
var ErrNoData = errors.New("no data")

// HoldsData returns nil for a data folder, ErrNoData for one that can become one, and another error for anything else:
// a folder of other things, a file, a folder that cannot be read. Hidden files do not count.
func HoldsData(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoData
	}
	if err != nil {
		return err
	}
	for _, mark := range marks {
		if _, err := os.Stat(filepath.Join(folder, mark)); err == nil {
			return nil
		}
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(unmarked, e.Name()) {
			return fmt.Errorf("%s is not a data folder: it holds other things, such as %s; name a data folder or a new one", folder, e.Name())
		}
	}
	return ErrNoData
}

// makeFolder makes a data folder where there is none.
func makeFolder(folder string) error {
	if err := HoldsData(folder); !errors.Is(err, ErrNoData) {
		return err
	}
	return os.MkdirAll(folder, 0o755)
}
