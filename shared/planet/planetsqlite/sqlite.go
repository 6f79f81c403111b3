// Package planetsqlite stores planets in a SQLite file, as package documentsqlite does.
package planetsqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/document/documentsqlite"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/sqlitefile"
)

// schemaVersion is the version of the file's format.
const schemaVersion = 1

// table is older than the table of documents. Its key is the configuration.
var table = documentsqlite.Table{
	Name: "planet_versions", Key: "config", Text: "settings",
	KeyOf: func(id document.ID) string { return id.Config },
}

// Open opens the file at path, whose directory must exist. If the file does not exist, Open creates it with the default
// planet in configuration planet.FirstConfig, written at the time now.
func Open(ctx context.Context, path string, now time.Time) (*documentsqlite.Store, error) {
	create := func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, table.Create()); err != nil {
			return err
		}
		return table.Insert(ctx, tx, planet.DocumentOf(planet.FirstConfig), planet.First(now))
	}
	file, err := sqlitefile.OpenPrepared(ctx, path, documentsqlite.Options, schemaVersion, create)
	if err != nil {
		return nil, fmt.Errorf("open planets %s: %w", path, err)
	}
	return documentsqlite.Over(file, table), nil
}

// OpenReadOnly opens an existing file without writing to it. Its error is fs.ErrNotExist if there is none.
func OpenReadOnly(ctx context.Context, path string) (*documentsqlite.Store, error) {
	file, err := sqlitefile.OpenReadOnly(ctx, path, schemaVersion)
	if err != nil {
		return nil, fmt.Errorf("open planets %s: %w", path, err)
	}
	return documentsqlite.Over(file, table), nil
}
