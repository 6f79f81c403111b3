package target

import (
	"errors"
	"fmt"

	"github.com/orrery/orrery/scripts/internal/local"
)

// Folder is the name of a folder of data, from a flag or ORRERY_DATA. An empty name means the default, never the
// working directory itself.
type Folder string

const DefaultFolder Folder = ".orrery"

// UnmarshalText implements encoding.TextUnmarshaler, for the parser of the command line.
func (f *Folder) UnmarshalText(text []byte) error {
	*f = Folder(text)
	if *f == "" {
		*f = DefaultFolder
	}
	return nil
}

// MustExist returns an error for a folder without data, because a query must not create it.
func (f Folder) MustExist() error {
	err := local.HoldsData(string(f))
	if errors.Is(err, local.ErrNoData) {
		return fmt.Errorf("there is no data in %s: import a log, generate records or set --data to another folder", f)
	}
	return err
}
