package local

import (
	"context"
	"os"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/planet"
)

// writable tells whether files can be made in a folder.
func writable(folder string) bool {
	f, err := os.CreateTemp(folder, ".writable-*")
	if err != nil {
		return false
	}
	return f.Close() == nil && os.Remove(f.Name()) == nil
}

// noPlanets stands for the planets of a folder that can only be read: their database cannot be opened there without
// writing. Traffic can still be asked about.
type noPlanets struct{}

var errReadOnly = fault.New(fault.Unavailable, "this data folder can only be read, so its planet settings cannot be opened")

func (noPlanets) Newest(context.Context, string) (planet.Version, error) {
	return planet.Version{}, errReadOnly
}

func (noPlanets) Version(context.Context, string, int) (planet.Version, error) {
	return planet.Version{}, errReadOnly
}

func (noPlanets) Versions(context.Context, string) ([]planet.Info, error) { return nil, errReadOnly }

func (noPlanets) Append(context.Context, string, planet.Version) error { return errReadOnly }

func (noPlanets) Close() error { return nil }
