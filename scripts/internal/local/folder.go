package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/ingest/source"
)

const (
	planetsFile   = "planets.db"
	documentsFile = "documents.db" // documents of all other kinds
	runsFile      = "reports.db"   // runs of scheduled reports
)

// RollupsFolder is the folder of the figures of whole days in a data folder.
const RollupsFolder = "rollups"

// listsFolder is the folder of the values of lists.
const listsFolder = "lists"

// What a backup holds of a data folder, besides the objects of the lake.
var (
	Databases = []string{"ledger.db", planetsFile, documentsFile, runsFile, keysFile}
	Folders   = []string{"quarantine", listsFolder}
	Settings  = source.FileName
)

// Entries of a data folder. A folder with one of marks is a data folder. The names in neutral also occur in other
// folders and in a data folder that has no data yet, so they decide nothing. A backup has nothing of those in derived:
// the files are made again or belong to the user.
var (
	marks   = append(slices.Clone(Databases), filepath.Join("lake", "manifests"))
	derived = []string{"raw", "locks", "spill", "bench", "demo", RollupsFolder}
	neutral = slices.Concat([]string{"lake", Settings}, Folders, derived)
)

// RestoringMark is the name of the file that a data folder has until a backup is restored completely.
const RestoringMark = ".orrery-restoring"

// ErrNoData is the error of HoldsData for a folder that can become a data folder: it does not exist or has no contents.
var ErrNoData = errors.New("no data")

// HoldsData returns nil for a data folder, ErrNoData for a folder that can become one, and another error otherwise: for
// a folder with other contents, a file, a folder that cannot be read, or one into which a backup is being restored.
// Other hidden files do not count.
func HoldsData(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoData
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == RestoringMark }) {
		return fmt.Errorf("a backup is being restored into %s; if that was interrupted, run orrery restore again", folder)
	}
	for _, mark := range marks {
		if _, err := os.Stat(filepath.Join(folder, mark)); err == nil {
			return nil
		}
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(neutral, e.Name()) {
			return fmt.Errorf("%s is not a data folder: it holds other things, such as %s; name a data folder or a new one",
				folder, e.Name())
		}
	}
	return ErrNoData
}

// makeFolder creates a data folder if there is none, and makes it private.
func makeFolder(folder string) error {
	err := HoldsData(folder)
	if errors.Is(err, ErrNoData) {
		err = os.MkdirAll(folder, 0o700)
	}
	if err != nil {
		return err
	}
	return makePrivate(folder)
}
