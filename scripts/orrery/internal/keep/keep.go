// Package keep has how long the records of a data folder are kept.
package keep

import (
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/ingest/source"
)

// Age is the value of a flag, such as 90d.
type Age time.Duration

// UnmarshalText parses the value.
func (a *Age) UnmarshalText(text []byte) error {
	keep, err := source.ParseKeep(string(text))
	*a = Age(keep)
	return err
}

// Of returns how long the records of a folder are kept: by a flag, or else by orrery.toml; 0 for ever. It returns nil
// if neither says so.
func Of(flag *Age, data target.Folder) (*time.Duration, error) {
	if flag != nil {
		return new(time.Duration(*flag)), nil
	}
	keep, err := source.Keep(string(data))
	if err != nil {
		return nil, exit.With(exit.Usage, err.Error())
	}
	return keep, nil
}

// Apply makes the imports of a store leave out records that are older than what is kept, as Of returns it. It returns the
// same.
func Apply(store *datadir.Store, flag *Age, data target.Folder) (*time.Duration, error) {
	keep, err := Of(flag, data)
	if err == nil && keep != nil {
		store.SetKeep(*keep)
	}
	return keep, err
}
