package local

import (
	"context"
	"os"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/planet"
)

// writable reports whether files can be created in a folder.
func writable(folder string) bool {
	f, err := os.CreateTemp(folder, ".writable-*")
	if err != nil {
		return false
	}
	return f.Close() == nil && os.Remove(f.Name()) == nil
}

// noPlanets is the store of planets of a read-only folder. Their database cannot be opened without writing; queries of
// traffic still work.
type noPlanets struct{}

var errReadOnly = fault.New(fault.Unavailable, "this data folder is read-only, so its planet settings cannot be opened")

func (noPlanets) Newest(context.Context, string) (planet.Version, error) {
	return planet.Version{}, errReadOnly
}

func (noPlanets) Version(context.Context, string, int) (planet.Version, error) {
	return planet.Version{}, errReadOnly
}

func (noPlanets) Versions(context.Context, string) ([]planet.Info, error) { return nil, errReadOnly }

func (noPlanets) Append(context.Context, string, planet.Version) error { return errReadOnly }

func (noPlanets) Close() error { return nil }
