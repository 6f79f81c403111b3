package logs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/scripts/orrery/internal/target"
	"github.com/orrery/orrery/shared/ingest/datadir"
)

// WithStore calls use with the store of a folder.
func WithStore(ctx context.Context, data target.Folder, use func(*datadir.Store) error) error {
	product, err := local.Open(ctx, string(data))
	if err != nil {
		return err
	}
	return errors.Join(use(product.Store), product.Close())
}

// FindImport returns the id of the import that begins with a text.
func FindImport(ctx context.Context, store *datadir.Store, text string) (string, error) {
	sources, err := store.Imports(ctx)
	if err != nil {
		return "", err
	}
	var found []string
	for _, s := range sources {
		if s.ID == text {
			return s.ID, nil
		}
		if text != "" && strings.HasPrefix(s.ID, text) {
			found = append(found, s.ID)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("there is no import %q; orrery imports lists them", text)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("several imports begin with %q: %s", text, strings.Join(found, ", "))
}
