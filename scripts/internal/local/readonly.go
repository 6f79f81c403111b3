package local

import (
	"context"
	"os"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
)

// writable reports whether files can be created in a folder.
func writable(folder string) bool {
	f, err := os.CreateTemp(folder, ".writable-*")
	if err != nil {
		return false
	}
	return f.Close() == nil && os.Remove(f.Name()) == nil
}

// noDocuments is the store of documents of a read-only folder. A database cannot be opened without writing; queries of
// traffic still work.
type noDocuments struct{ err error }

var (
	noPlanets = noDocuments{fault.New(fault.Unavailable,
		"this data folder is read-only, so its planet settings cannot be opened")}
	noFilters = noDocuments{fault.New(fault.Unavailable,
		"this data folder is read-only, so its saved filters cannot be opened")}
)

func (n noDocuments) Newest(context.Context, document.ID) (document.Version, error) {
	return document.Version{}, n.err
}

func (n noDocuments) Version(context.Context, document.ID, int) (document.Version, error) {
	return document.Version{}, n.err
}

func (n noDocuments) Versions(context.Context, document.ID) ([]document.Info, error) {
	return nil, n.err
}

func (n noDocuments) Append(context.Context, document.ID, document.Version) error { return n.err }

func (n noDocuments) List(context.Context, document.Kind, string) ([]document.Named, error) {
	return nil, n.err
}
